#pragma once
#include "thor/drivers/config.hpp"
#include "thor/drivers/options.hpp"
#include "thor/io/array/output.hpp"
#include "thor/io/fingerprint.hpp"

/// What the runs of both drivers do and write alike (docs/formats.md).
namespace thor {

/// Refuses a result that would replace its configuration or a file that the run reads.
void require_apart(const std::string& result, const config::CommonKeys& config, const std::vector<std::string>& inputs);

/// For a dataset that is a file.
void say_reading(const config::CommonKeys& config);

/// A file that a run reads.
struct InputFile {
  std::string path;
  io::Fingerprint print;

  std::string hash() const;  ///< as results have it
};
std::vector<InputFile> fingerprints(const std::vector<std::string>& inputs);

/// How a result was made.
void write_provenance(io::ArrayOutput& file, const config::CommonKeys& config, const std::string& device);

/// Where the configuration of a result is, and the files that it was made from: part of its head, so that what is left
/// of a run that was killed says of which model it is.
void write_inputs(io::ArrayOutput& file, const config::CommonKeys& config, const std::vector<InputFile>& inputs,
                  const std::string& result);

/// In /summary: reasons to doubt the result, and what the run warned of, one per line.
void write_doubts(io::ArrayOutput& file, const std::vector<std::string>& caveats);
/// In /summary: the time of transport [s], and who shared it.
void write_effort(io::ArrayOutput& file, double seconds, const RunOptions& options);

}  // namespace thor
