#pragma once
#include <string>

namespace thor::emission {

/// Photoionisation rate of HI [1/s] from a TREECOOL file: lines with log10(1+z), rates of HI, HeI and HeII [1/s],
/// heating rates of the same [erg/s]; empty lines and lines that begin with # are ignored. Interpolation is linear in
/// the logarithms of rate and 1+z. A redshift outside the file, or a file in another format, is an Error(input) that
/// names the line.
double photoionization_rate(const std::string& treecool, double redshift);

}  // namespace thor::emission
