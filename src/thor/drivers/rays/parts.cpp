#include "thor/drivers/rays/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "thor/config/nearest.hpp"

namespace thor {

std::vector<double> at_first(const comm::World& world, const std::vector<double>& own) {
  std::vector<std::uint64_t> words(own.size());
  std::ranges::transform(own, words.begin(), [](double v) { return std::bit_cast<std::uint64_t>(v); });
  words = world.at_first(words);
  std::vector<double> all(words.size());
  std::ranges::transform(words, all.begin(), [](std::uint64_t w) { return std::bit_cast<double>(w); });
  return all;
}

std::vector<double> everywhere(const comm::World& world, const std::vector<double>& own) {
  const std::vector<double> all = at_first(world, own);
  std::vector<std::uint64_t> words(all.size());
  std::ranges::transform(all, words.begin(), [](double v) { return std::bit_cast<std::uint64_t>(v); });
  words = world.from_first(words);
  std::vector<double> out(words.size());
  std::ranges::transform(words, out.begin(), [](std::uint64_t w) { return std::bit_cast<double>(w); });
  return out;
}

Line line_of_rays(const config::Raytrace& config, const std::string& name, const std::string& key) {
  const std::vector<Line> list = config.line_list.empty() ? lines() : read_lines(config.line_list);
  if (const Line* found = find_line(list, name)) return *found;
  std::vector<std::string> names;
  for (const Line& line : list) names.push_back(line.name);
  throw Error(ExitCode::usage, fmt::format("{}: expected a line of the line list, got \"{}\"{} (lines: {})", key, name,
                                           config::suggestion(name, names), fmt::join(names, ", ")));
}

RayParts::RayParts(const config::Raytrace& config, const RunOptions& options) : config_(config), options_(options) {
  const Line line = line_of_rays(config, config.line, "line");
  if (options.domains.count <= 1) {
    parts_.push_back({0, RayScene(config.dataset, line, options.cpu.threads), nullptr});
    return;
  }
  const comm::World& world = options.world();
  const RayScene whole(config.dataset, line, options.cpu.threads);
  if (!whole.is_grid() || config.dataset.path.empty()) {
    throw Error(ExitCode::usage, "--domains: needs a dataset of type uniform_grid");
  }
  if (options.domains.count < world.ranks()) {  // said by all ranks, before the first one begins a file
    throw Error(ExitCode::usage, fmt::format("--domains {}: expected at least one for each of the {} ranks",
                                             options.domains.count, world.ranks()));
  }
  domains_ = std::make_unique<Domains>(whole.shape().count, false, options.domains.count, 0);
  for (int d = 0; d < domains_->count(); ++d) {
    if (domains_->holders(d, world.ranks()).front() != world.rank()) continue;
    parts_.push_back({d, whole, nullptr});
    parts_.back().scene.set_part(domains_->box(d));
  }
}

RayParts::~RayParts() = default;

void RayParts::prepare() {
  device_ = choose_device(options_);
  device_name_ = describe(device_.get(), options_.cpu);
  const auto make = [&]<class Real>(const AnyScene<Real>& scene) {
    return device_ ? make_tracer(scene, options_.cpu, *device_) : make_tracer(scene, options_.cpu);
  };
  for (Part& part : parts_) {
    const bool single = config_.precision == config::Precision::single_ && part.scene.has_single_places();
    part.tracer = single ? make(part.scene.scene<float>()) : make(part.scene.scene<double>());
  }
}

}  // namespace thor
