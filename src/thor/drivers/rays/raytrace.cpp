#include "thor/drivers/rays/raytrace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "thor/core/interrupt.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/mcrt/earlier.hpp"
#include "thor/drivers/provenance.hpp"
#include "thor/drivers/rays/products.hpp"
#include "thor/io/fingerprint.hpp"
#include "thor/io/partial.hpp"

namespace thor {
namespace {

using Products = std::vector<std::unique_ptr<RayProduct>>;

Products make_products(RayWork& work) {
  Products products;
  for (std::size_t i = 0; i < work.config.operators.size(); ++i) {
    const auto make = [&]<class T>(const T&) {
      if constexpr (requires(T op) { op.camera; }) return make_image(work, i);
      if constexpr (std::is_same_v<T, config::AbsorptionOperator>) return make_spectra(work, i);
      if constexpr (std::is_same_v<T, config::TracerOperator>) return make_traces(work, i);
    };
    try {
      products.push_back(std::visit(make, work.config.operators[i]));
    } catch (const Error& e) {  // such as a field that is not there
      const std::string what = e.what();
      if (what.starts_with("operators") || what.starts_with("camera")) throw;
      throw Error(e.code(), fmt::format("{}: {}", work.key(i), what));
    }
  }
  return products;
}

double rays_of(const Products& products) {
  double rays = 0;
  for (const auto& product : products) rays += product->rays();
  return rays;
}

}  // namespace

RayWork::RayWork(const config::Raytrace& c, const RunOptions& o)
    : config(c), options(o), alone(comm::World::Alone{}), world(o.world ? *o.world : alone), parts(c, o) {}

void RayWork::require_memory(const std::string& key, double bytes) const {
  const double available = available_memory();
  if (bytes <= available) return;
  throw Error(
      ExitCode::device,
      fmt::format("{}: needs {} of memory, but {} are free: use fewer pixels or bins, or fewer or shorter sightlines",
                  key, size_text(bytes), size_text(available)));
}

SightlineList RayWork::sightlines(std::size_t op, const config::Sightlines& keys) {
  const std::string where = key(op) + ".sightlines";
  require_memory(where, bytes_of_sightlines(keys, parts.scene()));
  SightlineList list = build_sightlines(keys, parts.scene(), config.seed, where);
  if (list.missed > 0) {
    warning("{}: {} of {} sightlines miss the gas and are empty. Check their positions and directions.", key(op),
            list.missed, list.begins.size());
  }
  return list;
}

void RayWork::begin(double rays) {
  progress_ =
      std::make_unique<Progress>(options.quiet ? ProgressMode::never : options.progress, std::uint64_t(rays), "rays");
}

void RayWork::progress(double rays) {
  done_ += rays;
  progress_->update(std::uint64_t(done_));
  stop_if_due();
}

void RayWork::stop_if_due() const {
  stop_if_interrupted();
  if (options.max_walltime > 0 && progress_->seconds() > options.max_walltime) {
    throw Error(ExitCode::stopped, "stopped by --max-walltime before the rays had ended; nothing was written");
  }
}

RaysCost check_rays(const config::Raytrace& config, int threads) {
  RunOptions options;
  options.cpu.threads = threads;
  RayWork work(config, options);
  const Products products = make_products(work);
  const RayScene& scene = work.parts.scene();
  double largest = 0, sightlines = 0;
  for (const auto& product : products) largest = std::max(largest, product->bytes());
  for (const config::Operator& op : config.operators) {
    const auto add = [&](const auto& keys) {
      if constexpr (requires { keys.sightlines; }) sightlines += bytes_of_sightlines(keys.sightlines, scene);
    };
    std::visit(add, op);
  }
  return {rays_of(products), scene.bytes() + sightlines + largest, scene.names()};
}

ExitCode run_raytrace(const config::Raytrace& config, const RunOptions& options) {
  for (const std::string& input : {config.path, config.dataset.path, config.line_list}) {
    if (!input.empty()) io::detail::require_apart(options.output, input);
  }
  RayWork work(config, options);
  if (work.world.is_first()) {  // says so early where it cannot be
    const io::ArrayOutput trial(options.output, options.overwrite);
    require_no_previous(options.output, options.overwrite);
  }
  if (!options.quiet && !config.dataset.path.empty()) message("thor: reading {}\n", config.dataset.path);
  const Products products = make_products(work);
  work.parts.prepare();
  std::optional<io::ArrayOutput> file;
  if (work.world.is_first()) {
    double bytes = 0;
    for (const auto& product : products) product->open(), bytes += product->written();
    file.emplace(options.output, options.overwrite);
    file->reserve(std::uint64_t(bytes));
  }
  work.begin(rays_of(products));
  for (std::size_t i = 0; i < products.size(); ++i) {
    work.require_memory(work.key(i), products[i]->bytes());
    products[i]->write(file ? &*file : nullptr);
  }
  const double seconds = work.seconds(), rays = rays_of(products);
  work.end();
  if (!work.world.is_first()) return ExitCode::done;
  write_provenance(*file, {config.resolved, config.seed, config.precision, work.parts.device()});
  file->attribute("/", "driver", std::string("raytrace"));
  if (!config.dataset.path.empty()) {
    const io::Fingerprint print = io::fingerprint(config.dataset.path);
    file->attribute("/inputs/0", "path", config.dataset.path);
    file->attribute("/inputs/0", "bytes", print.bytes);
    file->attribute("/inputs/0", "hash", fmt::format("{:016x}", print.hash));
  }
  const auto set = [&](const char* name, const auto& value) { file->attribute("/summary", name, value); };
  set("complete", true);
  set("rays", std::uint64_t(rays));
  set("transport_seconds", seconds);
  set("threads", std::int64_t(options.cpu.threads));
  set("ranks", std::int64_t(work.world.ranks()));
  set("caveats", std::string());
  set("warnings", fmt::format("{}", fmt::join(warnings_said(), "\n")));
  file->commit(options.overwrite);
  if (!options.quiet) {
    message("thor: {:.4g} rays, {:.3g} a second in {:.3g} s on {}; wrote {}\n", rays, rays / std::max(seconds, 1e-9),
            seconds, work.parts.device(), options.output);
  }
  forget_warnings();
  return ExitCode::done;
}

}  // namespace thor
