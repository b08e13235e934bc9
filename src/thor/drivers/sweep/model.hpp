#pragma once
#include <mutex>
#include <set>

#include "thor/drivers/mcrt/alone.hpp"
#include "thor/drivers/sweep/config.hpp"
#include "thor/drivers/sweep/journal.hpp"
#include "thor/drivers/sweep/photons.hpp"

/// One model of a sweep, and the numbers that are kept of it.
namespace thor::sweep {

/// Numbers beside the spectra.
enum class Scalar : std::size_t {
  seconds,                ///< of transport
  photons,                ///< number
  lost,                   ///< share of them
  luminosity,             ///< emitted [erg/s]
  escape_fraction,        ///< of the luminosity
  escape_fraction_error,  ///< its Monte Carlo error
  scatterings,            ///< mean per photon
  count
};

/// A configuration and what is built from it.
struct Built {
  config::Config config;
  Setup setup;
};
/// Throws Error(usage) or Error(input) if a model is impossible.
Built build(config::Document document);

/// What all models of a sweep write alike.
class Layout {
 public:
  /// Refuses outputs that a sweep does not keep.
  Layout(const Built& first, std::string result);

  const std::vector<SpectrumOutput>& spectra() const { return spectra_; }
  const KeptPhotons& photons() const { return photons_; }
  std::size_t numbers() const;  ///< of a record
  /// The first number of a spectrum: its light per unit of the axis, behind it the errors, and the wavelength [cm] that
  /// velocities are relative to.
  std::size_t first(std::size_t spectrum) const;

  /// Runs a model. What makes it impossible is in the record; other errors are thrown.
  Record run(std::uint64_t model, config::Document document, const Compute& compute, Control& control) const;

 private:
  Built build_model(config::Document document) const;
  void require_alike(const Built& model) const;
  std::vector<SpectrumPlan> plans_of(const Built& model) const;

  std::string result_;
  std::vector<AnyOutput> outputs_;
  std::vector<config::Observer> observers_;
  std::optional<PhotonsOutput> photons_output_;
  KeptPhotons photons_;
  std::vector<SpectrumScale> scales_{};
  std::vector<double> stretches_{};  ///< of wavelengths, for the observer of each spectrum
  std::vector<SpectrumOutput> spectra_;
  mutable std::mutex mutex_;
  mutable std::set<std::shared_ptr<const JumpTables>> tables_;  ///< read once for all models
};

}  // namespace thor::sweep
