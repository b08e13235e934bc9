#pragma once
#include "thor/drivers/batches.hpp"
#include "thor/io/fingerprint.hpp"

/// Results to which photons can be added.
namespace thor {

/// What a result says of the run that made it.
struct Earlier {
  std::string path;       ///< of the result
  config::Config config;  ///< whose path is that of the file beside which its input is
};

/// Whether a file is a checkpoint, or another unfinished result of this configuration.
bool is_checkpoint(const std::string& path, const config::Config& config);

/// A result that this program can continue; another is refused with what to do.
Earlier open_earlier(const std::string& path);

/// Refuses a configuration that is not the one of the result, with the keys that differ; where the result goes is no
/// part of it.
void require_same_config(const Earlier& earlier, const config::Config& config);

/// The sample of photons of a result, for the configuration that was built from it.
Sample read_sample(const Earlier& earlier, const config::Config& config, const Setup& setup);

/// A file that a run reads.
struct InputFile {
  std::string path;
  io::Fingerprint print;
};
std::vector<InputFile> inputs_of(const config::Config& config);

/// Refuses files that have changed since the result was made.
void require_same_inputs(const Earlier& earlier, const config::Config& config);

/// What the two above need, as far as the result can be continued: /inputs, and /tally with the cells, unless they are
/// too many for the configuration.
void write_sample(io::ArrayOutput& file, const config::Config& config, const std::vector<InputFile>& inputs,
                  const Sample& sample);

/// Size of the cells before compression [bytes]; 0 if they are not kept.
double tally_size(const config::Config& config);

}  // namespace thor
