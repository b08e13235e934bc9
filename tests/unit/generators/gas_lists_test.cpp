#include "thor/generators/gas_lists.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/grid.hpp"
#include "support/run.hpp"
#include "thor/datasets/grid_partition.hpp"
#include "thor/random/seed.hpp"

namespace thor {
namespace {

/// A grid some of whose cells are dark, and whose light no two orders add up alike.
test::GridOptions lights() {
  test::GridOptions o;
  o.shape = {9, 7, 5};
  o.emissivity = true;
  o.gas = [](int x, int y, int z) {
    const std::uint64_t random = mix64(std::uint64_t((x * 100 + y) * 100 + z));
    const double light = random % 3 == 0 ? 0 : 1e-24 * double(1 + random % 9973) / 7;
    return test::GridCell{1e-12, 1e4, {}, 0, light};
  };
  return o;
}

/// The photons of a generator come from the same cells, with the same weights, however many domains hold them.
TEST(GasLists, OfDomainsDealAsThatOfAllCells) {
  const test::GridFile file(lights());
  for (const char* photons :
       {"photons: 1000", "photons_per_1e42: 1000", "photons: 500, minimum_luminosity: 1e40 erg/s"}) {
    const config::Config config = config::parse(
        fmt::format("line: Lya\ndataset: {{type: uniform_grid, path: {}}}\n"
                    "generators: [{{type: gas, emission: recombination, {}}}, {{type: point, photons: 10, "
                    "luminosity: 1e38 erg/s}}]\noutput: {{path: x.h5}}\n",
                    file.path(), photons),
        "test");
    const thor::Setup whole = build_setup(config);
    const comm::World world{comm::World::Alone()};
    for (const int count : {1, 2, 7, 20}) {
      const GridShape& grid = whole.medium.grid;
      const auto partition = std::make_shared<const GridPartition>(grid, Domains(grid.count, grid.periodic, count, 1));
      const Emitter<double> shared =
          build_emitter(config.generators, config.seed, whole.medium, whole.line, refuse_at_once, {&world, partition});
      EXPECT_EQ(shared.luminosity(), whole.emitter.luminosity());
      EXPECT_EQ(shared.luminosity_squared(), whole.emitter.luminosity_squared());
      EXPECT_EQ(shared.count(), whole.emitter.count());
      EXPECT_EQ(shared.sources[0].table.count, 0u) << "nobody has the table of all cells";
      std::vector<Emitter<double>> parts;
      std::uint64_t cells = 0;
      for (int domain = 0; domain < count; ++domain) {
        parts.push_back(shared.of_domain(domain));
        EXPECT_EQ(parts.back().sources[0].table.count, std::uint64_t(partition->domains().box(domain).cells()));
        cells += parts.back().sources[0].table.count;
        EXPECT_EQ(parts.back().sources[1].table.count, 0u) << "a point is no list";
      }
      EXPECT_EQ(cells, std::uint64_t(grid.cells()));
      std::vector<int> used(std::size_t(count), 0);
      for (std::uint64_t id = 0; id < 1000; ++id) {
        const auto [generator, number] = number_of(shared.view(), id);
        const PhotonSource expected = source_of_photon(whole.emitter.view(), id);
        ASSERT_EQ(generator, expected.generator);
        if (generator != 0) continue;
        const int domain = shared.divided->generators[0]->domain_of(number);
        const PhotonSource found = source_of_photon(parts[std::size_t(domain)].view(), id);
        ASSERT_EQ(found.index, expected.index);
        ASSERT_EQ(found.weight, expected.weight);
        ++used[std::size_t(domain)];
      }
      EXPECT_GT(std::ranges::count_if(used, [](int n) { return n > 0; }), count / 2);
    }
  }
}

}  // namespace
}  // namespace thor
