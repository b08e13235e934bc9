#pragma once
#include <optional>

#include "thor/drivers/config.hpp"
#include "thor/drivers/mcrt/parameters.hpp"
#include "thor/generators/parameters.hpp"
#include "thor/interactors/parameters.hpp"
#include "thor/outputs/parameters.hpp"
#include "thor/transport/parameters.hpp"

namespace thor::config {

/// Whether a result holds what was counted, so that `thor continue` can add photons to it.
enum class KeepTally { automatic, always, never };

/// The configuration of `driver: mcrt`, checked and in cgs. Built once, by check(), then only read.
struct Config : CommonKeys {
  Driver driver = Driver::mcrt;
  std::vector<Generator> generators;
  Acceleration acceleration;
  Physics physics;
  Numerics numerics;
  Limits limits;
  std::vector<Observer> observers;  ///< each a single one; those that rays go to come first
  std::optional<Sky> sky;
  Peel peel;
  std::vector<AnyOutput> outputs;                ///< that are binned
  std::optional<PhotonsOutput> photons, peeled;  ///< raw photons, and light that is peeled off
  std::optional<Until> until;
  KeepTally tally = KeepTally::automatic;

  std::vector<std::string> input_files() const;  ///< that a run reads, beside the configuration
  bool has_raw_photons() const { return photons || peeled; }
  bool sends_rays() const;  ///< to any of the observers
  bool sends_rays_to(const std::string& observer) const;
  bool operator==(const Config&) const = default;
};

/// The declarations of all keys.
const Schema& schema();

/// A configuration and what was built to check it.
struct Checked;

/// Throws thor::Error(usage) that names every mistake at once.
Checked check(Document document);

/// The configuration alone, from text in memory.
Config parse(const std::string& yaml_text, const std::string& name, const std::vector<std::string>& overrides = {});

}  // namespace thor::config
