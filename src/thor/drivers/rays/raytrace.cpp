#include "thor/drivers/rays/raytrace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "thor/core/interrupt.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/previous.hpp"
#include "thor/drivers/rays/products.hpp"
#include "thor/drivers/run.hpp"

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

/// A run, by its stages: validate, open, trace, write, report.
class RaytraceRun {
 public:
  RaytraceRun(const config::Raytrace& config, const RunOptions& options) : work_(config, options) {}
  ExitCode run();

 private:
  void validate() const;
  void open();
  void trace();
  void write();
  void say() const;

  RayWork work_;
  Products products_;
  std::optional<io::ArrayOutput> file_;  ///< on the first rank
  double rays_ = 0, seconds_ = 0;
};

ExitCode RaytraceRun::run() {
  validate();
  open();
  trace();
  if (!work_.world.is_first()) return ExitCode::done;
  write();
  say();
  forget_warnings();
  return ExitCode::done;
}

/// Says early where a result cannot be.
void RaytraceRun::validate() const {
  if (!work_.world.is_first()) return;
  const io::ArrayOutput trial(work_.options.output, work_.options.overwrite);
  require_no_previous(work_.options.output, work_.options.overwrite);
}

/// The gas on its device, and the files of the first rank.
void RaytraceRun::open() {
  if (!work_.options.quiet) say_reading(work_.config);
  products_ = make_products(work_);
  work_.parts.prepare();
  if (!work_.world.is_first()) return;
  double bytes = 0;
  for (const auto& product : products_) product->open(), bytes += product->written();
  file_.emplace(work_.options.output, work_.options.overwrite);
  file_->reserve(std::uint64_t(bytes));
}

void RaytraceRun::trace() {
  work_.begin(rays_of(products_));
  for (std::size_t i = 0; i < products_.size(); ++i) {
    work_.require_memory(work_.key(i), products_[i]->bytes());
    products_[i]->write(file_ ? &*file_ : nullptr);
  }
  seconds_ = work_.seconds(), rays_ = rays_of(products_);
  work_.end();
}

void RaytraceRun::write() {
  const config::Raytrace& config = work_.config;
  write_provenance(*file_, config, work_.parts.device());
  file_->attribute("/", "driver", std::string("raytrace"));
  write_inputs(*file_, config, fingerprints(config.input_files()), work_.options.output);
  file_->attribute("/summary", "complete", true);
  file_->attribute("/summary", "rays", std::uint64_t(rays_));
  write_effort(*file_, seconds_, work_.options);
  write_doubts(*file_, {});
  file_->commit(work_.options.overwrite);
}

void RaytraceRun::say() const {
  if (work_.options.quiet) return;
  message("thor: {:.4g} rays, {:.3g} a second in {:.3g} s on {}; wrote {}\n", rays_, rays_ / std::max(seconds_, 1e-9),
          seconds_, work_.parts.device(), work_.options.output);
}

}  // namespace

RayWork::RayWork(const config::Raytrace& c, const RunOptions& o)
    : config(c), options(o), alone(comm::World::Alone{}), world(o.world()), parts(c, o) {}

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
  progress_ = std::make_unique<Progress>(options.shown(), std::uint64_t(rays), "rays");
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
  require_apart(options.output, config, config.input_files());
  return RaytraceRun(config, options).run();
}

}  // namespace thor
