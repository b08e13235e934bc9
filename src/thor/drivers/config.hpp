#pragma once
#include "thor/config/tree.hpp"
#include "thor/datasets/parameters.hpp"

/// What the configurations of both drivers have in common; mcrt/config.hpp and rays/config.hpp have the rest.
namespace thor::config {

struct Schema;

enum class Driver { mcrt, raytrace };
enum class Precision { single_, double_ };

struct CommonKeys {
  std::string path;       ///< of the file, as given
  std::string resolved;   ///< YAML with every default written out; reads as the same configuration
  std::string line;       ///< with rays: as which the gas of a model is seen
  std::string line_list;  ///< file of additional lines, relative to the working directory; "" if none
  std::uint64_t seed = 0;
  Precision precision = Precision::single_;
  Dataset dataset;
  std::string output_path;  ///< relative to the working directory, not to the file

  bool operator==(const CommonKeys&) const = default;
};

/// Names of files, each once and without those that are empty.
std::vector<std::string> distinct(const std::vector<std::string>& paths);

/// A configuration as it is written, with overrides in their places: what its driver reads.
struct Document {
  std::string name;  ///< of the file, in messages and for relative paths
  Tree tree;
  Faults faults{};  ///< overrides that cannot be applied

  Driver driver() const;
  /// A path that is relative to the file, from the working directory.
  std::string beside(const std::string& path) const;
  /// Sets the paths of keys that have been read.
  void place(CommonKeys& keys, const std::string& output) const;
};

/// Opens a file, or stdin for "-". An override is "a.b.c=value", list elements by index ("generators.0.photons=10"),
/// and is checked like the file itself.
Document open_document(const std::string& path, const std::vector<std::string>& overrides = {});

/// The same from text in memory; `name` stands for the file.
Document parse_document(const std::string& yaml_text, const std::string& name,
                        const std::vector<std::string>& overrides = {});

/// Whether a result may have this name: it ends in .h5 or .zarr.
bool is_result_name(const std::string& path);

}  // namespace thor::config
