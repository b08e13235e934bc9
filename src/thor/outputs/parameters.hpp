#pragma once
#include "thor/outputs/list.hpp"
#include "thor/outputs/photons.hpp"

namespace thor::config {

/// One element of the list of outputs.
using Output = BinnedOutputs::Variant<PhotonsOutput>;

const Section<Output>& output_section();

/// Number of bins of all outputs.
double count_bins(const std::vector<AnyOutput>& outputs);

/// Whether an output has rays sent to this observer.
bool is_peeled(const std::vector<AnyOutput>& outputs, const std::string& observer);

/// Number of their entries in a tally.
double count_entries(const std::vector<AnyOutput>& outputs);

/// What they take in a result [bytes].
double bytes_in_file(const std::vector<AnyOutput>& outputs);

/// Memory of the outputs at the end of a run, when the largest is written [bytes]; in several batches an entry has two
/// integers.
double memory_of(const std::vector<AnyOutput>& outputs, bool dropped);

}  // namespace thor::config
