#pragma once
#include <optional>

#include "thor/datasets/parameters.hpp"
#include "thor/drivers/parameters.hpp"
#include "thor/generators/parameters.hpp"
#include "thor/interactors/parameters.hpp"
#include "thor/outputs/parameters.hpp"
#include "thor/transport/parameters.hpp"

/// The configuration of a run, checked and in cgs. Built once by load() or parse(), then only read.
namespace thor::config {

struct Schema;

enum class Driver { mcrt, raytrace };
enum class Precision { single_, double_ };
/// Whether a result holds what was counted, so that `thor continue` can add photons to it.
enum class KeepTally { automatic, always, never };

struct Config {
  std::string path;      ///< path of the file, as given to load()
  std::string resolved;  ///< YAML with every default written out; parses to this same Config
  Driver driver = Driver::mcrt;
  std::string line;
  std::string line_list;  ///< file of additional lines, relative to the working directory; "" if none
  std::uint64_t seed = 0;
  Precision precision = Precision::single_;
  Dataset dataset;
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
  std::string output_path;  ///< relative to the working directory, not to the file
  KeepTally tally = KeepTally::automatic;

  bool has_raw_photons() const { return photons || peeled; }
  bool sends_rays_to(const std::string& observer) const;
  bool operator==(const Config&) const = default;
};

/// Whether a result may have this name: it ends in .h5 or .zarr.
bool is_result_name(const std::string& path);

/// The declarations of all keys.
const Schema& schema();

/// A configuration and what was built to check it.
struct Checked;

/// Reads a file, or stdin for "-". An override is "a.b.c=value", list elements by index ("generators.0.photons=10"),
/// and is checked like the file itself. Throws thor::Error(usage) that names every mistake at once.
Checked load(const std::string& path, const std::vector<std::string>& overrides = {});

/// The same from text in memory; `name` stands for the file in messages and for relative paths.
Checked check(const std::string& yaml_text, const std::string& name, const std::vector<std::string>& overrides = {});

/// The configuration alone, from text in memory.
Config parse(const std::string& yaml_text, const std::string& name, const std::vector<std::string>& overrides = {});

}  // namespace thor::config
