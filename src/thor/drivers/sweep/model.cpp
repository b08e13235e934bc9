#include "thor/drivers/sweep/model.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <mutex>

#include "thor/core/error.hpp"
#include "thor/drivers/mcrt/caveats.hpp"

namespace thor::sweep {
namespace {

std::mutex reading;  ///< of files, and of the tables that models share

void require_fixed_photons(const config::Config& config) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ExitCode::usage, fmt::format("{}: {}", config.path, what));
  };
  if (config.until) refuse("until: not possible in a sweep, whose models have fixed numbers of photons: remove it");
  if (config.has_raw_photons()) refuse("outputs: a sweep keeps no raw photons: remove the output of type photons");
  for (const AnyOutput& output : config.outputs) {
    if (!std::holds_alternative<SpectrumOutput>(output)) {
      refuse("outputs: a sweep keeps spectra alone: remove the other outputs");
    }
  }
}

}  // namespace

Built build(config::Document document) {
  auto [config, outline] = config::check(std::move(document));
  Setup setup = build_setup(config, std::move(outline), 1);
  return {std::move(config), std::move(setup)};
}

Layout::Layout(const Built& first) : outputs_(first.config.outputs), tables_{first.setup.jumps} {
  require_fixed_photons(first.config);
  for (const AnyOutput& output : outputs_) spectra_.push_back(std::get<SpectrumOutput>(output));
}

std::size_t Layout::first(std::size_t spectrum) const {
  auto at = std::size_t(Scalar::count);
  for (std::size_t i = 0; i < spectrum; ++i) at += 2 * spectra_[i].bins;
  return at;
}

std::size_t Layout::numbers() const { return first(spectra_.size()); }

Built Layout::build_model(config::Document document) const {
  const std::lock_guard lock(reading);
  Built built = build(std::move(document));
  require_fixed_photons(built.config);
  if (built.config.outputs != outputs_) {
    throw Error(ExitCode::usage, "outputs: differ from those of other models: leave them out of the keys");
  }
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
  const Tally tally = run_alone(built->config, built->setup, compute, control);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!control.abort && !tally.conserves()) {
    throw Error(ExitCode::internal, fmt::format("model {}: photons are not conserved. Please report this", model));
  }
  const Emitter<double>& emitter = built->setup.emitter;
  const double emitted = tally.light(Counter::light_emitted), f = tally.light(Counter::light_escaped) / emitted;
  const double photons = double(emitter.count()),
               alike = std::pow(emitter.luminosity(), 2) / emitter.luminosity_squared();
  const auto set = [&](Scalar scalar, double value) { record.numbers[std::size_t(scalar)] = value; };
  set(Scalar::seconds, seconds.count()), set(Scalar::photons, photons);
  set(Scalar::lost, double(tally[Counter::lost]) / std::max(photons, 1.)), set(Scalar::luminosity, emitted);
  set(Scalar::escape_fraction, f), set(Scalar::escape_fraction_error, std::sqrt(std::max(f * (1 - f), 0.) / alike));
  set(Scalar::scatterings, double(tally[Counter::scatterings]) / std::max(photons, 1.));
  const OutputContext context = output_context(built->config, built->setup);
  for (std::size_t k = 0; k < spectra_.size(); ++k) {
    const SpectrumOutput& spectrum = spectra_[k];
    const BinnedLight light = tally.binned(k);
    const double per = spectrum.scale(spectrum.plan(context)).light;
    for (std::size_t i = 0; i < spectrum.bins; ++i) {
      const double flux = light.light[i] / per;
      record.numbers[first(k) + i] = flux;
      if (light.has_errors()) record.numbers[first(k) + spectrum.bins + i] = flux * double(light.relative_error[i]);
    }
  }
  record.status = is_reliable(tally) ? Status::done : Status::unreliable;
  return record;
}

}  // namespace thor::sweep
