#pragma once
#include "thor/drivers/mcrt/setup.hpp"

namespace thor {

/// Refuses a `sky` whose cosmology is not that of the grid: H(z) of its file must agree to 1 %.
void check_cosmology(const config::Config& config, const Refuse& refuse);

/// Refuses a range of observed wavelengths or frequencies in which the line is at rest alone.
void check_frame(const config::Config& config, config::Axis axis, double low, double high, const Line& line,
                 const std::string& key, const Refuse& refuse);

/// Warns of an object that is put at another redshift than its grid has, of observers without an output, and of those
/// who look down a parallel beam: rays do not have its light that goes straight through.
void warn_of_sky(const config::Config& config, const Setup& setup);

}  // namespace thor
