#include "thor/mock/fft.hpp"

#include <cmath>

#include "thor/core/constants.hpp"

namespace thor::mock {
namespace {

/// Radix 2, decimation in time (Cooley & Tukey 1965).
class Transform {
 public:
  explicit Transform(std::size_t n) : n_(n), twiddle_(n / 2), reversed_(n) {
    for (std::size_t i = 0; i < n / 2; ++i) twiddle_[i] = std::polar(1., 2 * constants::pi * double(i) / double(n));
    for (std::size_t i = 1; i < n; ++i) reversed_[i] = reversed_[i / 2] / 2 + (i % 2 ? n / 2 : 0);
  }

  void operator()(std::complex<double>* line) const {
    for (std::size_t i = 0; i < n_; ++i) {
      if (i < reversed_[i]) std::swap(line[i], line[reversed_[i]]);
    }
    for (std::size_t half = 1; half < n_; half *= 2) {
      const std::size_t stride = n_ / (2 * half);
      for (std::size_t first = 0; first < n_; first += 2 * half) {
        for (std::size_t i = first; i < first + half; ++i) {
          const std::complex<double> w = twiddle_[(i - first) * stride], b = line[i + half];
          // Written out, since operator* checks for NaN.
          const std::complex<double> t(w.real() * b.real() - w.imag() * b.imag(),
                                       w.real() * b.imag() + w.imag() * b.real());
          line[i + half] = line[i] - t;
          line[i] += t;
        }
      }
    }
  }

 private:
  std::size_t n_;
  std::vector<std::complex<double>> twiddle_;
  std::vector<std::size_t> reversed_;
};

}  // namespace

void to_real_space(std::vector<std::complex<double>>& values, std::size_t n) {
  const Transform transform(n);
  std::vector<std::complex<double>> line(n);
  for (std::size_t stride : {std::size_t(1), n, n * n}) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i / stride % n != 0) continue;
      for (std::size_t j = 0; j < n; ++j) line[j] = values[i + j * stride];
      transform(line.data());
      for (std::size_t j = 0; j < n; ++j) values[i + j * stride] = line[j];
    }
  }
}

}  // namespace thor::mock
