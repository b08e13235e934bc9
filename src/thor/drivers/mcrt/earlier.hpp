#pragma once
#include "thor/drivers/mcrt/batches.hpp"

/// Results to which photons can be added.
namespace thor {

/// What a result says of the run that made it.
struct Earlier {
  std::string path;    ///< of the result
  std::string stored;  ///< configuration in it
  config::Config
      config;  ///< the same, with the path of the file beside which its input is; or the one that was asked for
};

/// Whether a result is of the photons of a configuration, whatever its `until`.
bool is_of_model(const std::string& result, const config::Config& config);

/// A result that this program can continue; another is refused with what to do. Where it is damaged, the checkpoint
/// before it is taken, if what is left says that both are of one model, or if a configuration is asked for, which the
/// caller compares.
Earlier open_earlier(const std::string& path, const config::Config* asked);

/// Refuses a configuration that is not the one of the result, with the keys that differ; where the result goes and
/// where input files are is no part of it.
void require_same_config(const Earlier& earlier, const config::Config& config);

/// The sample of photons of a result, for the configuration that was built from it.
Sample read_sample(const Earlier& earlier, const config::Config& config, const Setup& setup);

/// Refuses files that have changed since the result was made.
void require_same_inputs(const Earlier& earlier, const config::Config& config);

/// What the two above need, as far as the result can be continued: /inputs, and /tally with the entries, unless they
/// are too many for the configuration.
void write_sample(io::ArrayOutput& file, const config::Config& config, const Sample& sample);

/// Size of the entries before compression [bytes]; 0 if they are not kept.
double tally_size(const config::Config& config);

}  // namespace thor
