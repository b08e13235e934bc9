// Gas elements onto a grid: seconds of each stage, peak memory, and the error of the totals.
//   gridding_benchmark [--elements 1e6] [--cells 256] [--radius 3] [--threads 2] [--precision double]
// Kernel radii are uniform between 2/3 and 4/3 of --radius (in cells), positions are random: the worst case for the
// cache.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <random>

#include "thor/gridding/deposit/cell_values.hpp"
#include "thor/gridding/deposit/spline.hpp"
#include "thor/gridding/plan/budget.hpp"
#include "thor/gridding/plan/survey.hpp"

using namespace thor;
using namespace thor::gridding;

namespace {

constexpr double cell = 1e21;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

io::GasBlock random_gas(std::size_t count, double cells, double radius, std::mt19937_64& generator) {
  std::uniform_real_distribution<double> uniform;
  io::GasBlock b;
  b.count = count;
  for (std::size_t i = 0; i < count; ++i) {
    for (int a = 0; a < 3; ++a) {
      b.position.push_back(cell * cells * uniform(generator));
      b.velocity.push_back(1e7 * (uniform(generator) - 0.5));
    }
    const double r = radius * cell * (2. / 3 + 2. / 3 * uniform(generator)) / kernel_radius(1);
    b.density.push_back(1e-26 * (0.1 + uniform(generator)));
    b.mass.push_back(b.density.back() * r * r * r);
    b.internal_energy.push_back(1e12 * (0.5 + uniform(generator)));
    b.electrons.push_back(1);
    b.neutral.push_back(0.1);
    b.metallicity.push_back(0.01);
  }
  return b;
}

template <class T>
void measure(double elements, double cells, double radius, int threads) {
  const auto n = std::int64_t(cells);
  GridRegion region;
  region.lattice = {{n, n, n}, cell, true};
  region.frame.box = {cell * cells, cell * cells, cell * cells};
  region.frame.wraps = true;
  GasOptions options;
  options.fields = FieldList(true, true);
  CellSums<T> sums(region.lattice, options.fields.count);
  Gatherer gatherer(region, options, threads);
  double time[5] = {};
  std::mt19937_64 generator(1);
  for (double left = elements; left > 0; left -= double(block_size)) {
    const io::GasBlock b = random_gas(std::size_t(std::min(left, double(block_size))), cells, radius, generator);
    const double t0 = seconds();
    const Particles p = gatherer.gather(b);
    const double t1 = seconds();
    const Shares s = shares(region.lattice, p, threads);
    const double t2 = seconds();
    gatherer.count_cut(p, s.inside);
    deposit(sums, p, s, threads);
    time[0] += t1 - t0, time[1] += t2 - t1, time[2] += seconds() - t2;
  }
  const double t0 = seconds();
  const Budget budget = make_budget(gatherer.totals(), sum_cells(sums, options.fields, threads), options.fields);
  const double t1 = seconds();
  finish(sums, options.fields, 0.0127, threads);
  time[3] = t1 - t0, time[4] = seconds() - t1;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  fmt::print("{:.3g} elements, kernel radius {} cells, {}^3 cells, {} fields, {} threads, {}\n", elements, radius, n,
             options.fields.count, threads, sizeof(T) == 4 ? "single" : "double");
  const char* names[] = {"gas state", "normalisation", "deposit", "totals", "cell values"};
  double sum = 0;
  for (int i = 0; i < 5; ++i) fmt::print("{:<14} {:7.2f} s\n", names[i], time[i]), sum += time[i];
  fmt::print("{:<14} {:7.2f} s, {:.3g} elements/s\n", "all", sum, elements / sum);
  fmt::print(
      "processor      {:7.2f} s; peak memory {:.3g} GB ({:.3g} bytes per cell); worst difference of totals {:.1e}\n",
      double(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
          1e-6 * double(used.ru_utime.tv_usec + used.ru_stime.tv_usec),
      double(used.ru_maxrss) * 1024e-9, double(used.ru_maxrss) * 1024 / double(region.lattice.count()), budget.worst());
}

}  // namespace

int main(int argc, char** argv) {
  double elements = 1e6, cells = 256, radius = 3;
  int threads = 2;
  bool single = false;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--elements") elements = std::stod(argv[i + 1]);
    if (key == "--cells") cells = std::stod(argv[i + 1]);
    if (key == "--radius") radius = std::stod(argv[i + 1]);
    if (key == "--threads") threads = std::stoi(argv[i + 1]);
    if (key == "--precision") single = argv[i + 1] == std::string("single");
  }
  single ? measure<float>(elements, cells, radius, threads) : measure<double>(elements, cells, radius, threads);
}
