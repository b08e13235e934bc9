#include "thor/mock/draw.hpp"

#include <algorithm>

namespace thor::mock {

Inversion::Inversion(double low, double high, const std::function<double(double)>& density) : low_(low) {
  constexpr int steps = 4096;
  step_ = (high - low) / steps;
  integral_.assign(1, 0.);
  for (int i = 0; i < steps; ++i) integral_.push_back(integral_.back() + density(low + (i + 0.5) * step_));
}

double Inversion::operator()(double share) const {
  const double wanted = share * integral_.back();
  const auto above = std::upper_bound(integral_.begin() + 1, integral_.end() - 1, wanted);
  const double part = (wanted - *(above - 1)) / (*above - *(above - 1));
  return low_ + (double(above - integral_.begin()) - 1 + part) * step_;
}

}  // namespace thor::mock
