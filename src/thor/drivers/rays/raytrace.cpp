#include "thor/drivers/rays/raytrace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "thor/core/interrupt.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/previous.hpp"
#include "thor/drivers/rays/products.hpp"
#include "thor/drivers/run.hpp"

namespace thor {
namespace {

using Products = std::vector<std::unique_ptr<RayProduct>>;

Products make_products(RaytraceWork& work) {
  Products products;
  for (std::size_t i = 0; i < work.config.operators.size(); ++i) {
    const config::Operator& op = work.config.operators[i];
    try {
      products.push_back(op->camera() ? make_image(work, i) : op->product(work, i));
    } catch (const Error& e) {  // such as a field that is not there
      const std::string what = e.what();
      if (what.starts_with("operators") || what.starts_with("camera")) throw;
      throw Error(e.code(), fmt::format("{}: {}", RayWork::key(i), what));
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

  RaytraceWork work_;
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
  work_.ray_parts.prepare();
  if (!work_.world.is_first()) return;
  double bytes = 0;
  for (const auto& product : products_) product->open(), bytes += product->written();
  file_.emplace(work_.options.output, work_.options.overwrite);
  file_->reserve(std::uint64_t(bytes));
}

void RaytraceRun::trace() {
  work_.begin(rays_of(products_));
  for (std::size_t i = 0; i < products_.size(); ++i) {
    work_.require_memory(RayWork::key(i), products_[i]->bytes());
    products_[i]->write(file_ ? &*file_ : nullptr);
  }
  seconds_ = work_.seconds(), rays_ = rays_of(products_);
  work_.end();
}

void RaytraceRun::write() {
  const config::Raytrace& config = work_.config;
  write_provenance(*file_, config, work_.ray_parts.device());
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
          seconds_, work_.ray_parts.device(), work_.options.output);
}

}  // namespace

RaytraceWork::RaytraceWork(const config::Raytrace& c, const RunOptions& o)
    : RayWork(o.world(), c.seed, o.cpu.threads), config(c), options(o), ray_parts(c, o) {}

void RaytraceWork::begin(double rays) {
  progress_ = std::make_unique<Progress>(options.shown(), std::uint64_t(rays), "rays");
}

void RaytraceWork::progress(double rays) {
  done_ += rays;
  progress_->update(std::uint64_t(done_));
  stop_if_due();
}

void RaytraceWork::stop_if_due() const {
  stop_if_interrupted();
  if (options.max_walltime > 0 && progress_->seconds() > options.max_walltime) {
    throw Error(ExitCode::stopped, "stopped by --max-walltime before the rays had ended; nothing was written");
  }
}

RaysCost check_rays(const config::Raytrace& config, int threads) {
  RunOptions options;
  options.cpu.threads = threads;
  RaytraceWork work(config, options);
  const Products products = make_products(work);
  const RayScene& scene = work.gas(0);
  double largest = 0, sightlines = 0;
  for (const auto& product : products) largest = std::max(largest, product->bytes());
  for (const config::Operator& op : config.operators) {
    if (op->sightlines()) sightlines += bytes_of_sightlines(*op->sightlines(), scene.outline());
  }
  return {rays_of(products), scene.bytes() + sightlines + largest, scene.names()};
}

ExitCode run_raytrace(const config::Raytrace& config, const RunOptions& options) {
  require_apart(options.output, config, config.input_files());
  return RaytraceRun(config, options).run();
}

}  // namespace thor
