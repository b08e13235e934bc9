// Time to build the Voronoi mesh of clumped sites, half of them in a hundred clumps: microseconds a site, for some
// numbers of threads.
//
//   build/release/benchmarks/voronoi_benchmark [SITES] [THREADS...]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "thor/datasets/voronoi_mesh_builder.hpp"
#include "thor/random/seed.hpp"

namespace {

std::vector<std::array<double, 3>> clumped(std::size_t count) {
  std::vector<std::array<double, 3>> sites(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t seed = thor::mix64(i);
    const auto uniform = [&seed] { return double((seed = thor::mix64(seed)) >> 11) * 0x1p-53; };
    std::uint64_t clump = thor::mix64(~(i % 100));
    const double radius = 0.03 * std::pow(uniform(), 2);
    for (double& x : sites[i]) {
      const double centre = 0.1 + 0.8 * double((clump = thor::mix64(clump)) >> 11) * 0x1p-53;
      x = i % 2 == 0 ? uniform() : centre + radius * (2 * uniform() - 1);
    }
  }
  return sites;
}

}  // namespace

int main(int count, char** words) {
  const std::size_t sites = count > 1 ? std::size_t(std::atof(words[1])) : 1'000'000;
  std::vector<int> threads;
  for (int i = 2; i < count; ++i) threads.push_back(std::atoi(words[i]));
  if (threads.empty()) threads = {1, 2};
  for (const int n : threads) {
    const auto given = clumped(sites);
    const auto start = std::chrono::steady_clock::now();
    const thor::VoronoiFaces mesh = thor::build_voronoi("sites", given, {0, 0, 0}, {1, 1, 1}, false, n);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%d threads: %.2f us a site, %.2f faces a cell\n", n, 1e6 * seconds / double(sites),
                double(mesh.faces.size()) / double(sites));
  }
}
