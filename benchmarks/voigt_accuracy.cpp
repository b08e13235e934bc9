// The relative error of the schemes for the Voigt profile on a grid of x and a, against libcerf: rows of CSV.
//   voigt_accuracy > accuracy.csv
#include <cerf.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "schemes.hpp"

int main() {
  using namespace thor::benchmark;
  std::printf("a,x");
  for_each_voigt([](const char* name, auto) { std::printf(",%s single,%s double", name, name); });
  std::puts("");
  for (int j = 0; j <= 64; ++j) {
    const auto a = float(std::pow(10, j / 8. - 8));
    for (int i = 0; i <= 320; ++i) {
      const float x = 0.125f * float(i);  // the same number in both precisions
      const double H = voigt(x, std::sqrt(0.5), a) * std::sqrt(M_PI);
      std::printf("%.4g,%g", a, x);
      for_each_voigt([&](const char*, auto scheme) {
        using Scheme = decltype(scheme);
        const double single = Scheme::eval(a, x).H, full = Scheme::eval(double(a), double(x)).H;
        std::printf(",%.2e,%.2e", std::abs(single / H - 1), std::abs(full / H - 1));
      });
      std::puts("");
    }
  }
}
