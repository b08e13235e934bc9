#include "thor/gridding/deposit/nearest.hpp"

#include <cmath>

#include "thor/core/error.hpp"
#include "thor/core/parallel_for.hpp"

namespace thor::gridding {

std::vector<double> centres_inside(const Lattice& lattice, const Particles& particles) {
  std::vector<double> out(particles.count(), 1.);
  for (std::size_t p = 0; p < particles.count() && !lattice.periodic; ++p) {
    for (std::size_t a = 0; a < 3; ++a) {
      const double x = particles.position[3 * p + a];
      if (!(x >= 0 && x < double(lattice.cells[a]))) out[p] = 0;
    }
  }
  return out;
}

void NearestSampler::add(const Particles& particles) {
  for (std::size_t p = 0; p < particles.count(); ++p) {
    position_.push_back({particles.position[3 * p], particles.position[3 * p + 1], particles.position[3 * p + 2]});
    for (std::size_t f = 0; f < fields_; ++f) {
      density_.push_back(float(particles.amount[p * fields_ + f] / particles.volume[p]));
    }
  }
  if (position_.size() >= 0xffffffffu) {
    throw Error(ExitCode::input, "--method nearest: more than 4294967295 gas elements; use --method kernel");
  }
}

void NearestSampler::plant(const Lattice& lattice, int threads) {
  if (position_.empty()) throw Error(ExitCode::input, "no gas in the region: check --centre and --size");
  Vector period{KdTree::open, KdTree::open, KdTree::open};
  if (lattice.periodic) {
    for (std::size_t a = 0; a < 3; ++a) period[a] = double(lattice.cells[a]);
    for (auto& p : position_) {
      for (std::size_t a = 0; a < 3; ++a) p[a] -= period[a] * std::floor(p[a] / period[a]);
    }
  }
  tree_.emplace(std::move(position_), threads, period);
}

template <class T>
void NearestSampler::fill(CellSums<T>& sums, int threads) {
  const Lattice& lattice = sums.lattice();
  if (!tree_) plant(lattice, threads);
  parallel_for(threads, sums.columns(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t column = begin; column < end; ++column) {
      const auto x = sums.layers().first + std::int64_t(column) / lattice.cells[1];
      const auto y = std::int64_t(column) % lattice.cells[1];
      T* cell = sums.column(column);
      for (std::int64_t z = 0; z < lattice.cells[2]; ++z, cell += fields_) {
        const std::size_t element = tree_->nearest({double(x) + 0.5, double(y) + 0.5, double(z) + 0.5}).point;
        const float* density = density_.data() + element * fields_;
        for (std::size_t f = 0; f < fields_; ++f) cell[f] = T(density[f]);
      }
    }
  });
}

template void NearestSampler::fill(CellSums<float>&, int);
template void NearestSampler::fill(CellSums<double>&, int);

}  // namespace thor::gridding
