#include "thor/drivers/rays/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "thor/config/nearest.hpp"

namespace thor {

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
    parts_.push_back({0, open_scene(config.dataset, line, options.cpu.threads), nullptr});
    return;
  }
  const comm::World& world = options.world();
  const std::unique_ptr<RayScene> whole = open_scene(config.dataset, line, options.cpu.threads);
  const GridShape& grid = whole->outline().grid;
  if (!whole->part(grid.box())) {
    throw Error(ExitCode::usage,
                "--domains: the raytrace driver cuts datasets of type uniform_grid alone; leave the option out");
  }
  if (options.domains.count < world.ranks()) {  // said by all ranks, before the first one begins a file
    throw Error(ExitCode::usage, fmt::format("--domains {}: expected at least one for each of the {} ranks",
                                             options.domains.count, world.ranks()));
  }
  domains_ = std::make_unique<Domains>(grid.count, false, options.domains.count, 0);
  for (int d = 0; d < domains_->count(); ++d) {
    if (holders_of(d, domains_->count(), world.ranks()).front() != world.rank()) continue;
    parts_.push_back({d, whole->part(domains_->box(d)), nullptr});
  }
}

RayParts::~RayParts() = default;

void RayParts::prepare() {
  device_ = choose_device(options_);
  device_name_ = describe(device_.get(), options_.cpu);
  for (Part& part : parts_) part.engine = engine_of(*part.scene, config_.precision, options_.cpu, device_.get());
}

std::unique_ptr<RayEngine> engine_of(const RayScene& scene, config::Precision precision, const cpu::Options& options,
                                     device::Device* device) {
  const auto make = [&]<class Real>(const AnyScene<Real>& any) {
    return device ? make_ray_engine(any, options, *device) : make_ray_engine(any, options);
  };
  const bool single = precision == config::Precision::single_ && scene.has_single_places();
  return single ? make(scene.single_scene()) : make(scene.double_scene());
}

}  // namespace thor
