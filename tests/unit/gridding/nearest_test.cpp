#include "thor/gridding/deposit/nearest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "thor/core/error.hpp"

namespace thor::gridding {
namespace {

/// Elements at the centres of cells; each contributes its number.
Particles lattice_of_elements(const Lattice& l) {
  Particles p;
  p.fields = 2;
  for (int x = 0; x < l.cells[0]; ++x) {
    for (int y = 0; y < l.cells[1]; ++y) {
      for (int z = 0; z < l.cells[2]; ++z) {
        p.position.insert(p.position.end(), {x + 0.5, y + 0.5, z + 0.5});
        p.radius.push_back(1);
        p.volume.push_back(1);
        p.amount.insert(p.amount.end(), {double(p.count()), 1});
      }
    }
  }
  return p;
}

TEST(Nearest, IsExactOnALattice) {
  const Lattice lattice{{7, 5, 9}, 1., false};
  NearestSampler sampler(2);
  sampler.add(lattice_of_elements(lattice));
  CellSums<double> sums(lattice, 2);
  sampler.fill(sums, 2);
  double number = 0;
  for (int x = 0; x < 7; ++x) {
    for (int y = 0; y < 5; ++y) {
      for (int z = 0; z < 9; ++z) EXPECT_EQ(sums.cell(x, y, z)[0], ++number);
    }
  }
}

/// Number of cells whose value is not that of the nearest image, found by trying all.
template <class T>
int wrong_cells(const CellSums<T>& sums, const Particles& p, bool periodic) {
  const auto& n = sums.lattice().cells;
  int wrong = 0;
  for (int x = 0; x < n[0]; ++x) {
    for (int y = 0; y < n[1]; ++y) {
      for (int z = 0; z < n[2]; ++z) {
        const double centre[3] = {x + 0.5, y + 0.5, z + 0.5};
        double best = 1e300, value = 0;
        for (std::size_t i = 0; i < p.count(); ++i) {
          double d2 = 0;
          for (std::size_t a = 0; a < 3; ++a) {
            double d = p.position[3 * i + a] - centre[a];
            if (periodic) d -= double(n[a]) * std::round(d / double(n[a]));
            d2 += d * d;
          }
          if (d2 < best) best = d2, value = p.amount[i] / p.volume[i];
        }
        if (float(sums.cell(x, y, z)[0]) != float(value)) ++wrong;
      }
    }
  }
  return wrong;
}

TEST(Nearest, FindsWhatASearchThroughAllFinds) {
  for (const bool periodic : {true, false}) {
    const Lattice lattice{{11, 8, 13}, 1., periodic};
    std::mt19937_64 generator(2);
    std::uniform_real_distribution<double> uniform;
    Particles p;
    p.fields = 1;
    for (int i = 0; i < 150; ++i) {
      const double crowd = i < 80 ? 0.1 : 1;  // most of them in one corner
      for (std::size_t a = 0; a < 3; ++a) p.position.push_back(crowd * uniform(generator) * double(lattice.cells[a]));
      p.radius.push_back(1);
      p.volume.push_back(0.5 + uniform(generator));
      p.amount.push_back(uniform(generator));
    }
    NearestSampler sampler(1);
    sampler.add(p);
    CellSums<float> sums(lattice, 1);
    sampler.fill(sums, 3);
    EXPECT_EQ(wrong_cells(sums, p, periodic), 0);
    EXPECT_GT(wrong_cells(sums, p, !periodic), 0);  // the other boundary gives another answer
  }
}

TEST(Nearest, SlabsAreThoseOfTheWholeGrid) {
  for (const bool periodic : {true, false}) {
    const Lattice lattice{{7, 5, 9}, 1., periodic};
    Particles p = lattice_of_elements(lattice);
    for (std::size_t i = 0; i < p.position.size(); ++i) p.position[i] += 0.4 * std::sin(double(i));
    NearestSampler one(2), several(2);
    one.add(p), several.add(p);
    CellSums<float> whole(lattice, 2);
    one.fill(whole, 2);
    for (std::int64_t first = 0; first < 7; first += 3) {
      CellSums<float> slab(lattice, 2, {first, std::min<std::int64_t>(first + 3, 7)});
      several.fill(slab, 2);
      const std::size_t values = 2 * slab.cells();
      EXPECT_TRUE(std::equal(slab.column(0), slab.column(0) + values, whole.row(first, 0))) << first;
      EXPECT_FALSE(std::equal(slab.column(0), slab.column(0) + values, whole.row(first == 0 ? 3 : 0, 0))) << first;
    }
  }
}

TEST(Nearest, WithoutGasItIsAnError) {
  NearestSampler sampler(1);
  CellSums<float> sums({{2, 2, 2}, 1., false}, 1);
  EXPECT_THROW(sampler.fill(sums, 1), Error);
}

}  // namespace
}  // namespace thor::gridding
