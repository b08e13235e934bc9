#pragma once
#include "thor/drivers/mcrt/caveats.hpp"
#include "thor/drivers/mcrt/setup.hpp"
#include "thor/io/array/output.hpp"
#include "thor/parallel/border.hpp"

/// What a result of Monte Carlo transport says about its run, beside its outputs (docs/formats.md).
namespace thor {

/// How it was made, its line, its gas and where it is seen from.
void write_header(io::ArrayOutput& file, const config::Config& config, const Setup& setup, const std::string& device);
/// The end of the run, its warnings and its caveats, one per line.
void write_ending(io::ArrayOutput& file, const Tally& tally, const std::vector<std::string>& caveats,
                  const Ending& ending);
void write_generators(io::ArrayOutput& file, const config::Config& config);
/// What photons and rays did between the domains of a grid.
void write_traffic(io::ArrayOutput& file, int domains, const BorderTimes& traffic);

}  // namespace thor
