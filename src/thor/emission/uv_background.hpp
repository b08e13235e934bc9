#pragma once
#include <string>

namespace thor::emission {

/// Photoionisation rate of HI [1/s] from a TREECOOL file: lines of log10(1+z), rates of HI, HeI and HeII [1/s], heating
/// rates of the same [erg/s]; empty lines and those that begin with # are left out. Linear in the logarithms of rate
/// and 1+z. A redshift outside the file, and a file that is not like this, are an Error(input) with its line.
double photoionization_rate(const std::string& treecool, double redshift);

}  // namespace thor::emission
