#include "thor/drivers/sweep/model.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "thor/core/error.hpp"
#include "thor/drivers/mcrt/caveats.hpp"
#include "thor/drivers/run.hpp"

namespace thor::sweep {
namespace {

void require_fixed_photons(const config::Config& config) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ExitCode::usage, fmt::format("{}: {}", config.path, what));
  };
  if (config.until) refuse("until: not possible in a sweep, whose models have fixed numbers of photons: remove it");
  if (config.peeled) refuse("outputs: a sweep keeps no light that is peeled off: remove `of: peel`");
  for (const AnyOutput& output : config.outputs) {
    if (!std::holds_alternative<SpectrumOutput>(output)) {
      refuse("outputs: a sweep keeps spectra alone: remove the other outputs");
    }
  }
}

/// Of the escaped luminosity [erg/s]: of each generator, a share f of photons whose number is fixed.
double escape_error(const Tally& tally, const Emitter<double>& emitter) {
  double variance = 0;
  for (std::size_t g = 0; g < emitter.light.size(); ++g) {
    const double all = tally.light(int(g), GeneratorCounter::light_emitted);
    const double f = all > 0 ? tally.light(int(g), GeneratorCounter::light_escaped) / all : 0;
    variance += emitter.light[g].squares * std::max(f * (1 - f), 0.);
  }
  return std::sqrt(variance);
}

}  // namespace

Built build(config::Document document) {
  auto [config, outline] = config::check(std::move(document));
  Setup setup = build_setup(config, std::move(outline), 1);
  return {std::move(config), std::move(setup)};
}

Layout::Layout(const Built& first, std::string result)
    : result_(std::move(result)),
      outputs_(first.config.outputs),
      observers_(first.config.observers),
      photons_output_(first.config.photons),
      photons_(photons_output_),
      tables_{first.setup.jumps} {
  require_fixed_photons(first.config);
  for (const AnyOutput& output : outputs_) spectra_.push_back(std::get<SpectrumOutput>(output));
  const std::vector<SpectrumPlan> plans = plans_of(first);
  for (std::size_t k = 0; k < spectra_.size(); ++k) {
    scales_.push_back(spectra_[k].scale(plans[k])), stretches_.push_back(plans[k].sky.distances.stretch());
  }
}

std::vector<SpectrumPlan> Layout::plans_of(const Built& model) const {
  const OutputContext context = output_context(model.config, model.setup);
  std::vector<SpectrumPlan> plans;
  for (const SpectrumOutput& spectrum : spectra_) plans.push_back(spectrum.plan(context));
  return plans;
}

/// Rows of a file have one axis and one unit.
void Layout::require_alike(const Built& model) const {
  const auto refuse = [](const char* what) { throw Error(ExitCode::usage, what); };
  if (model.config.outputs != outputs_ || model.config.photons != photons_output_) {
    refuse("outputs: differ from those of other models, or by their keys (as an aperture in arcsec by sky.redshift)");
  }
  if (model.config.observers != observers_) {
    refuse("observers: differ from those of other models; of random ones, give the directions");
  }
  const std::vector<SpectrumPlan> plans = plans_of(model);
  for (std::size_t k = 0; k < spectra_.size(); ++k) {
    const SpectrumScale scale = spectra_[k].scale(plans[k]);
    if (scale.unit != scales_[k].unit || scale.meaning != scales_[k].meaning ||
        plans[k].sky.distances.stretch() != stretches_[k]) {
      refuse(
          "sky: its spectra have other units or another redshift than those of other models: leave it out of the keys");
    }
  }
}

std::size_t Layout::first(std::size_t spectrum) const {
  auto at = std::size_t(Scalar::count);
  for (std::size_t i = 0; i < spectrum; ++i) at += 2 * spectra_[i].bins + 1;
  return at;
}

std::size_t Layout::numbers() const { return first(spectra_.size()); }

Built Layout::build_model(config::Document document) const {
  Built built = build(std::move(document));
  require_apart(result_, built.config, built.config.input_files());
  require_fixed_photons(built.config);
  require_alike(built);
  const std::lock_guard lock(mutex_);
  tables_.insert(built.setup.jumps);
  return built;
}

Record Layout::run(std::uint64_t model, config::Document document, const Compute& compute, Control& control) const {
  Record record{.model = model, .status = Status::failed, .numbers = std::vector<double>(numbers(), std::nan(""))};
  std::optional<Built> built;
  try {
    built.emplace(build_model(std::move(document)));
  } catch (const Error& e) {
    if (e.code() != ExitCode::usage && e.code() != ExitCode::input) throw;
    record.message = e.what();
    return record;
  }
  const auto start = std::chrono::steady_clock::now();
  std::vector<Photon> photons;
  Sink sink;
  if (photons_) {
    sink = Sink([&](std::span<const Photon> batch) { photons.insert(photons.end(), batch.begin(), batch.end()); });
  }
  const Tally tally = run_alone(built->config, built->setup, compute, control, sink);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!control.abort && !tally.conserves()) {
    throw Error(ExitCode::internal, fmt::format("model {}: photons are not conserved. Please report this", model));
  }
  const Emitter<double>& emitter = built->setup.emitter;
  const double emitted = tally.light(Counter::light_emitted), f = tally.light(Counter::light_escaped) / emitted;
  const double count = double(emitter.count());
  const auto set = [&](Scalar scalar, double value) { record.numbers[std::size_t(scalar)] = value; };
  set(Scalar::seconds, seconds.count()), set(Scalar::photons, count);
  set(Scalar::lost, double(tally[Counter::lost]) / std::max(count, 1.)), set(Scalar::luminosity, emitted);
  set(Scalar::escape_fraction, f), set(Scalar::escape_fraction_error, escape_error(tally, emitter) / emitted);
  set(Scalar::scatterings, double(tally[Counter::scatterings]) / std::max(count, 1.));
  const std::vector<SpectrumPlan> plans = plans_of(*built);
  for (std::size_t k = 0; k < spectra_.size(); ++k) {
    const SpectrumOutput& spectrum = spectra_[k];
    const BinnedLight light = tally.binned(k);
    const double per = spectrum.scale(plans[k]).light;
    record.numbers[first(k) + 2 * spectrum.bins] = plans[k].frequency.wavelength;
    for (std::size_t i = 0; i < spectrum.bins; ++i) {
      const double flux = light.light[i] / per;
      record.numbers[first(k) + i] = flux;
      if (light.has_errors()) record.numbers[first(k) + spectrum.bins + i] = flux * double(light.relative_error[i]);
    }
  }
  if (photons_) {
    record.photons = photons_.rows(std::move(photons), frequency_axis(built->setup), built->setup.medium.cross_section);
  }
  record.status = is_reliable(tally) ? Status::done : Status::unreliable;
  return record;
}

}  // namespace thor::sweep
