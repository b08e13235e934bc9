#include "thor/gridding/deposit/nearest.hpp"

#include <cmath>

#include "thor/core/error.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/math/kd_tree.hpp"

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

template <class T>
void NearestSampler::fill(CellSums<T>& sums, int threads) {
  const Lattice& lattice = sums.lattice();
  if (position_.empty()) throw Error(ExitCode::input, "there is no gas in the region");
  Vector period{KdTree::open, KdTree::open, KdTree::open};
  if (lattice.periodic) {
    for (std::size_t a = 0; a < 3; ++a) period[a] = double(lattice.cells[a]);
    for (auto& p : position_) {
      for (std::size_t a = 0; a < 3; ++a) p[a] -= period[a] * std::floor(p[a] / period[a]);
    }
  }
  const KdTree tree(std::move(position_), threads, period);
  const auto columns = std::size_t(lattice.cells[0] * lattice.cells[1]);
  parallel_for(threads, columns, 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t column = begin; column < end; ++column) {
      const auto x = std::int64_t(column) / lattice.cells[1], y = std::int64_t(column) % lattice.cells[1];
      T* cell = sums.row(x, y);
      for (std::int64_t z = 0; z < lattice.cells[2]; ++z, cell += fields_) {
        const std::size_t element = tree.nearest({double(x) + 0.5, double(y) + 0.5, double(z) + 0.5}).point;
        const float* density = density_.data() + element * fields_;
        for (std::size_t f = 0; f < fields_; ++f) cell[f] = T(density[f]);
      }
    }
  });
  density_.clear();
}

template void NearestSampler::fill(CellSums<float>&, int);
template void NearestSampler::fill(CellSums<double>&, int);

}  // namespace thor::gridding
