#pragma once
#include <complex>
#include <vector>

namespace thor::mock {

/// f(x) = sum over k of f_k e^{+i k x}, in place, on a cube of n^3 (n a power of two), not normalised; x, y, z with z
/// fastest. Wave numbers above n/2 are negative.
void to_real_space(std::vector<std::complex<double>>& values, std::size_t n);

}  // namespace thor::mock
