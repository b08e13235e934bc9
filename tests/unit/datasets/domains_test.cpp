#include "thor/datasets/grid_partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "thor/core/error.hpp"

namespace thor {
namespace {

/// Every cell belongs to the domain whose box holds it, and to one only.
void expect_partition(const Domains& domains, const CellIndex& shape) {
  std::int64_t cells = 0;
  for (int d = 0; d < domains.count(); ++d) cells += domains.box(d).cells();
  EXPECT_EQ(cells, (CellBox{{}, shape}.cells()));
  for (std::int64_t x = 0; x < shape[0]; ++x) {
    for (std::int64_t y = 0; y < shape[1]; ++y) {
      for (std::int64_t z = 0; z < shape[2]; ++z) {
        const CellBox& box = domains.box(domains.owner({x, y, z}));
        const CellIndex cell{x, y, z};
        for (std::size_t k = 0; k < 3; ++k) {
          ASSERT_GE(cell[k], box.first[k]);
          ASSERT_LT(cell[k], box.first[k] + box.count[k]);
        }
      }
    }
  }
}

TEST(Domains, AreAPartition) {
  std::mt19937 random(3);
  for (int run = 0; run < 200; ++run) {
    CellIndex shape{};
    for (auto& n : shape) n = 1 + std::int64_t(random() % 12);
    const CellBox whole{{}, shape};
    const int count = 1 + int(random() % std::uint64_t(whole.cells()));
    const Domains domains(shape, false, count, 1);
    ASSERT_EQ(domains.count(), count);
    expect_partition(domains, shape);
  }
}

TEST(Domains, HaveAboutAsManyCells) {
  const Domains eight({64, 64, 64}, false, 8, 0);
  for (int d = 0; d < 8; ++d) EXPECT_EQ(eight.box(d).cells(), 32 * 32 * 32);
  const Domains three({30, 10, 10}, false, 3, 0);
  for (int d = 0; d < 3; ++d) EXPECT_EQ(three.box(d).cells(), 1000);
}

TEST(Domains, ShareTheWork) {
  // All of it in the first tenth along x.
  const Domains::Work work = [](const CellBox& box) {
    const auto low = std::min<std::int64_t>(box.first[0], 10);
    const auto high = std::min<std::int64_t>(box.first[0] + box.count[0], 10);
    return double(high - low) * double(box.count[1] * box.count[2]);
  };
  const Domains domains({100, 4, 4}, false, 4, 0, work);
  expect_partition(domains, {100, 4, 4});
  const double all = work({{}, {100, 4, 4}});
  for (int d = 0; d < 4; ++d) EXPECT_NEAR(work(domains.box(d)) / all, 0.25, 0.06) << d;
}

TEST(Domains, ArePadded) {
  const Domains open({16, 4, 4}, false, 2, 3), periodic({16, 4, 4}, true, 2, 3);
  EXPECT_EQ(open.padded(0), (CellBox{{0, 0, 0}, {11, 4, 4}}));
  EXPECT_EQ(open.padded(1), (CellBox{{5, 0, 0}, {11, 4, 4}}));
  EXPECT_EQ(periodic.padded(0), (CellBox{{-3, 0, 0}, {14, 4, 4}}));
  EXPECT_EQ(periodic.padded(1), (CellBox{{5, 0, 0}, {14, 4, 4}}));
  EXPECT_EQ(Domains({16, 4, 4}, true, 2, 4).padded(1), (CellBox{{0, 0, 0}, {16, 4, 4}})) << "all along x";
}

TEST(Domains, AreHeldByEveryRank) {
  GridShape shape;
  shape.count = {8, 8, 8};
  const GridPartition four(shape, Domains(shape.count, false, 4, 0));
  for (const int ranks : {1, 3, 4, 6, 9}) {
    std::vector<int> parts(std::size_t(ranks), 0);
    for (int d = 0; d < 4; ++d) {
      ASSERT_FALSE(four.holders(d, ranks).empty());
      for (const int rank : four.holders(d, ranks)) ++parts[std::size_t(rank)];
    }
    for (const int n : parts) EXPECT_EQ(n >= 1 && n <= (4 + ranks - 1) / ranks, true) << ranks;
  }
}

TEST(Domains, NeedACellEach) {
  EXPECT_EQ(Domains({2, 2, 2}, false, 8, 0).count(), 8);
  EXPECT_THROW(Domains({2, 2, 2}, false, 9, 0), Error);
}

TEST(PartFrame, CountsCellsAcrossTheFacesOfAPeriodicBox) {
  const PartFrame frame{{{-3, 5, 0}, {14, 6, 4}}, {16, 16, 4}, true};
  EXPECT_EQ(frame.to_whole({0, 0, 0}), (CellIndex{13, 5, 0}));
  EXPECT_EQ(frame.to_part({13, 5, 0}), (CellIndex{0, 0, 0}));
  EXPECT_EQ(frame.to_part({0, 5, 3}), (CellIndex{3, 0, 3}));
  EXPECT_TRUE(frame.holds({15, 10, 3}));
  EXPECT_FALSE(frame.holds({12, 10, 3}));
  EXPECT_FALSE(frame.holds({0, 4, 3}));
  EXPECT_EQ(frame.borders(), 63) << "a periodic box goes on behind every face";
  EXPECT_EQ((PartFrame{{{0, 5, 0}, {14, 6, 4}}, {16, 16, 4}, false}.borders()), 2 + 4 + 8);
}

/// Every cell has one name in the parts that hold it, and none in others; runs and own cells are all cells once.
TEST(GridPartition, NamesEachCell) {
  std::mt19937 random(7);
  for (int run = 0; run < 60; ++run) {
    GridShape shape;
    shape.cell_size = 1;
    for (auto& n : shape.count) n = 1 + std::int64_t(random() % 9);
    shape.periodic = random() % 2 == 0;
    const int count = 1 + int(random() % std::uint64_t(std::min<std::int64_t>(shape.cells(), 9)));
    const std::int64_t margin = std::int64_t(random() % 3);
    const GridPartition partition(shape, Domains(shape.count, shape.periodic, count, margin));
    const GridMesh whole(shape);
    std::vector<int> owner(std::size_t(shape.cells()), -1);
    std::int64_t before = 0;
    partition.for_each_run([&](std::int64_t first, std::int64_t end, int domain) {
      ASSERT_EQ(first, before);
      for (before = first; before < end; ++before) owner[std::size_t(before)] = domain;
    });
    ASSERT_EQ(before, shape.cells());
    std::vector<int> counted(owner.size(), 0);
    for (int domain = 0; domain < count; ++domain) {
      const auto mesh = partition.mesh(domain);
      const CellNumbers number = mesh->numbers();
      std::vector<std::uint64_t> own;
      for (std::int64_t i = 0; i < mesh->cells(); ++i) own.push_back(number(std::uint64_t(i)));
      ASSERT_TRUE(std::ranges::is_sorted(own));
      std::size_t next = 0;
      const CellIndex& part = partition.frame(domain).box.count;
      for (const auto& [first, end] : partition.own_cells(domain)) {
        for (std::int64_t i = first; i < end; ++i, ++next) {
          const CellIndex here{i / (part[1] * part[2]), i / part[2] % part[1], i % part[2]};
          const CellIndex cell = partition.to_whole(domain, here);
          ASSERT_EQ(partition.owner(cell), domain);
          const auto place = whole.place(std::int64_t(own.at(next)));
          ASSERT_EQ(cell, (CellIndex{place[0], place[1], place[2]}));
          ASSERT_EQ(owner[std::size_t(own[next])], domain);
          ++counted[std::size_t(own[next])];
        }
      }
      for (std::int64_t i = 0; i < shape.cells(); ++i) {
        const auto at = whole.place(i);
        const CellIndex cell{at[0], at[1], at[2]};
        const auto here = partition.to_part(domain, cell);
        ASSERT_TRUE(here || owner[std::size_t(i)] != domain);
        ASSERT_EQ(here ? partition.to_whole(domain, *here) : cell, cell);
      }
    }
    ASSERT_EQ(std::ranges::count(counted, 1), shape.cells());
  }
}

}  // namespace
}  // namespace thor
