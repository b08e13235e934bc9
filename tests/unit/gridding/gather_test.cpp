#include "thor/gridding/deposit/gather.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "thor/gridding/deposit/cell_values.hpp"
#include "thor/gridding/deposit/spline.hpp"
#include "thor/gridding/plan/budget.hpp"

namespace thor::gridding {
namespace {

constexpr double box = 1e24;

/// Gas of one temperature and many densities, everywhere in the box.
io::GasBlock isothermal(std::size_t count, double temperature) {
  std::mt19937_64 generator(3);
  std::uniform_real_distribution<double> uniform;
  io::GasBlock b;
  b.count = count;
  for (std::size_t i = 0; i < count; ++i) {
    for (int a = 0; a < 3; ++a) {
      b.position.push_back(box * uniform(generator));
      b.velocity.push_back(2e7 * (uniform(generator) - 0.5));
    }
    b.density.push_back(1e-28 * std::pow(10, 4 * uniform(generator)));
    b.mass.push_back(b.density.back() * std::pow(box * 0.05 * (0.2 + uniform(generator)), 3));
    b.neutral.push_back(uniform(generator));
    b.metallicity.push_back(0.02 * uniform(generator));
    b.electrons.push_back((1.15 - b.neutral.back()) * uniform(generator));
    b.internal_energy.push_back(thermal_energy(temperature, default_hydrogen, b.electrons.back()));
  }
  return b;
}

GridRegion whole_box(std::int64_t cells) {
  GridRegion r;
  r.lattice = {{cells, cells, cells}, box / double(cells), true};
  r.frame.centre = {0.5 * box, 0.5 * box, 0.5 * box};
  r.frame.box = {box, box, box};
  r.frame.wraps = true;
  return r;
}

GasOptions with_all() {
  GasOptions o;
  o.fields = FieldList(true, true);
  return o;
}

/// The region around a corner of the box, with images of kernels on all sides.
GridRegion corner(std::int64_t cells) {
  GridRegion r = whole_box(cells);
  r.lattice = {{cells, cells, cells}, 0.5 * box / double(cells), false};
  r.frame.centre = {0.01 * box, 0.02 * box, 0.99 * box};
  return r;
}

template <class T>
Budget grid(const GridRegion& region, const GasOptions& options, const std::vector<io::GasBlock>& blocks,
            CellSums<T>& sums, Totals* totals = nullptr) {
  Gatherer gatherer(region, options, 2);
  for (const auto& block : blocks) {
    const Particles p = gatherer.gather(block);
    const Shares s = shares(region.lattice, p, 2);
    gatherer.count_cut(p, s.inside);
    deposit(sums, p, s, 2);
  }
  if (totals) *totals = gatherer.totals();
  return make_budget(gatherer.totals(), sum_cells(sums, options.fields, 2), options.fields);
}

TEST(Gather, NothingIsLostOfAPeriodicBox) {
  const io::GasBlock b = isothermal(3000, 2e4);
  for (const std::int64_t cells : {4, 16, 50}) {
    const GridRegion region = whole_box(cells);
    CellSums<double> sums(region.lattice, with_all().fields.count);
    const Budget budget = grid(region, with_all(), {b}, sums);
    EXPECT_LT(budget.worst(), 1e-12);
    for (const auto& line : budget.lines) EXPECT_EQ(line.cut, 0) << line.name;
    double mass_in = 0;
    for (const double m : b.mass) mass_in += m;
    EXPECT_NEAR(budget.lines[0].input * 1.98841e33 / mass_in, 1, 1e-12);
    CellSums<float> single(region.lattice, with_all().fields.count);
    EXPECT_LT(grid(region, with_all(), {b}, single).worst(), 1e-6);
  }
}

TEST(Gather, ABudgetThatDoesNotCloseIsSeen) {
  const GridRegion region = whole_box(8);
  CellSums<double> sums(region.lattice, with_all().fields.count);
  Totals totals;
  grid(region, with_all(), {isothermal(100, 1e4)}, sums, &totals);
  auto gridded = sum_cells(sums, with_all().fields, 1);
  gridded[HI] *= 1 + 2e-6;
  EXPECT_GT(make_budget(totals, gridded, with_all().fields).worst(), 1e-6);
  gridded[HI] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(make_budget(totals, gridded, with_all().fields).worst() <= 1e-6);
}

TEST(Gather, IsothermalGasStaysSo) {
  const GridRegion region = whole_box(24);
  const FieldList fields = with_all().fields;
  for (const bool mixed : {false, true}) {
    io::GasBlock b = isothermal(3000, 2e4);
    if (mixed) b.internal_energy[7] *= 3;
    CellSums<double> sums(region.lattice, fields.count);
    grid(region, with_all(), {b}, sums);
    finish(sums, fields, 0.0127, 2);
    std::vector<float> density(region.lattice.count()), temperature = density;
    copy_array(sums, mass, density.data(), 2);
    copy_array(sums, energy, temperature.data(), 2);
    double worst = 0;
    for (std::size_t c = 0; c < density.size(); ++c) {
      if (density[c] > 0) worst = std::max(worst, std::abs(double(temperature[c]) / 2e4 - 1));
    }
    if (mixed) {
      EXPECT_GT(worst, 0.01);
    } else {
      EXPECT_LT(worst, 1e-6);
    }
  }
}

// The file's values, in single precision, reproduce the totals.
TEST(Gather, TotalsComeBackFromTheArrays) {
  const GridRegion region = whole_box(20);
  const FieldList fields = with_all().fields;
  CellSums<double> sums(region.lattice, fields.count);
  Totals totals;
  grid(region, with_all(), {isothermal(2000, 3e4)}, sums, &totals);
  finish(sums, fields, 0.0127, 2);
  std::vector<std::vector<float>> a(std::size_t(fields.count), std::vector<float>(region.lattice.count()));
  for (int f = 0; f < fields.count; ++f) copy_array(sums, f, a[std::size_t(f)].data(), 1);
  double M = 0, P = 0, E = 0, L = 0, Z = 0;
  for (std::size_t c = 0; c < region.lattice.count(); ++c) {
    const double rho = double(a[mass][c]);
    M += rho;
    P += rho * double(a[momentum_y][c]) * constants::km;
    const double n =
        0.25 * (rho / hydrogen_mass + 3 * (double(a[HI][c]) + double(a[HII][c]))) + double(a[electrons][c]);
    E += 1.5 * constants::k_B * double(a[energy][c]) * n;
    L += double(a[std::size_t(fields.recombination)][c]);
    Z += rho * double(a[std::size_t(fields.metals)][c]) * 0.0127;
  }
  const double V = region.lattice.volume();
  EXPECT_NEAR(M * V / totals.input[mass], 1, 1e-6);
  EXPECT_NEAR((P * V - totals.input[momentum_y]) / totals.momentum, 0, 1e-6);
  EXPECT_NEAR(E * V / totals.input[energy], 1, 1e-6);
  EXPECT_NEAR(L * V / totals.input[std::size_t(fields.recombination)], 1, 1e-6);
  EXPECT_NEAR(Z * V / totals.input[std::size_t(fields.metals)], 1, 1e-6);
}

// An open part of a periodic box: what is cut off is in the other parts.
TEST(Gather, RegionsOfABoxAddUpToIt) {
  const io::GasBlock b = isothermal(500, 2e4);
  double sum = 0, momentum = 0, worst = 0, input = 0, input_momentum = 0;
  for (int part = 0; part < 8; ++part) {
    GridRegion region = whole_box(20);
    region.lattice = {{10, 10, 10}, box / 20, false};
    for (std::size_t a = 0; a < 3; ++a) region.frame.centre[a] = box * ((part >> a & 1) ? 0.75 : 0.25);
    CellSums<double> sums(region.lattice, with_all().fields.count);
    const Budget budget = grid(region, with_all(), {b}, sums);
    worst = std::max(worst, budget.worst());
    EXPECT_GT(budget.lines[0].cut, 0);
    sum += budget.lines[0].gridded;
    momentum += budget.lines[2].gridded;
    input = budget.lines[0].input;
    input_momentum = budget.lines[2].input;
  }
  EXPECT_LT(worst, 1e-12);
  EXPECT_NEAR(sum / input, 1, 1e-6);  // the same cells, and images of kernels across the box
  EXPECT_NEAR(momentum / input_momentum, 1, 1e-5);
}

// As large as the box but not periodic itself: kernels that leave it return as images.
TEST(Gather, AnOpenGridOfTheWholeBoxLosesNothing) {
  GridRegion region = whole_box(20);
  region.lattice.periodic = false;
  region.frame.centre = {0.1 * box, 0.9 * box, 0.3 * box};
  CellSums<double> sums(region.lattice, with_all().fields.count);
  const Budget budget = grid(region, with_all(), {isothermal(500, 2e4)}, sums);
  EXPECT_LT(budget.worst(), 1e-12);
  EXPECT_LT(std::abs(budget.lines[0].cut / budget.lines[0].input), 1e-12);
  region.frame.wraps = false;  // without images some is lost
  CellSums<double> other(region.lattice, with_all().fields.count);
  EXPECT_GT(grid(region, with_all(), {isothermal(500, 2e4)}, other).lines[0].cut, 0.01 * budget.lines[0].input);
}

TEST(Gather, RotationKeepsTheTotals) {
  const io::GasBlock b = isothermal(1000, 2e4);
  GridRegion region = whole_box(16);
  region.lattice.periodic = false;
  region.lattice.cell *= 0.5;
  region.frame.rotation = parse_rotation("x:37,z:-21", "--rotate");
  CellSums<double> sums(region.lattice, with_all().fields.count);
  Totals turned, straight;
  EXPECT_LT(grid(region, with_all(), {b}, sums, &turned).worst(), 1e-12);
  region.frame.rotation = unit_matrix;
  CellSums<double> other(region.lattice, with_all().fields.count);
  grid(region, with_all(), {b}, other, &straight);
  EXPECT_NEAR(turned.input[mass] / straight.input[mass], 1, 1e-14);
  EXPECT_NEAR(turned.momentum / straight.momentum, 1, 1e-12);
  const Vector p{straight.input[momentum_x], straight.input[momentum_y], straight.input[momentum_z]};
  const Vector q = parse_rotation("x:37,z:-21", "--rotate") * p;
  for (std::size_t a = 0; a < 3; ++a) EXPECT_NEAR(turned.input[momentum_x + a] / q[a], 1, 1e-9);
}

TEST(Gather, BadCellsAreDealtWithAsAsked) {
  io::GasBlock b = isothermal(100, 1e4);
  b.density[3] = 0;
  b.mass[5] = std::numeric_limits<double>::quiet_NaN();
  b.velocity[30] = std::numeric_limits<double>::infinity();
  const double lost = b.mass[10];
  GasOptions o = with_all();
  {
    Gatherer g(whole_box(8), o, 2);
    EXPECT_EQ(g.gather(b).count(), 0u);
    EXPECT_EQ(g.gather(isothermal(10, 1e4)).count(), 0u) << "it only continues counting";
    EXPECT_EQ(g.defects().total(), 3u);
  }
  o.on_bad_cells = OnBadCells::drop;
  Gatherer drop(whole_box(8), o, 2);
  EXPECT_EQ(drop.gather(b).count(), 97u);
  EXPECT_EQ(drop.defects().dropped, 3u);
  EXPECT_NEAR(drop.defects().mass_dropped / (lost + b.mass[3]), 1, 1e-12);
  o.on_bad_cells = OnBadCells::floor;
  Gatherer floor(whole_box(8), o, 2);
  EXPECT_EQ(floor.gather(b).count(), 98u);
  EXPECT_EQ(floor.defects().floored, 1u);
  EXPECT_EQ(floor.defects().dropped, 2u);
}

TEST(Gather, TheKernelIsThatOfTheVolumeOrTheSmoothingLength) {
  io::GasBlock b = isothermal(1, 1e4);
  b.smoothing_length = {0.01 * box};
  GasOptions o = with_all();
  const GridRegion region = whole_box(64);
  const double by_volume = Gatherer(region, o, 1).gather(b).radius[0];
  EXPECT_NEAR(by_volume * region.lattice.cell / kernel_radius(b.mass[0] / b.density[0]), 1, 1e-12);
  o.smoothing = true;
  EXPECT_NEAR(Gatherer(region, o, 1).gather(b).radius[0], 0.64, 1e-9);
}

// Cold clouds in hot gas: temperature and velocity of a cell are those of its HI, by the particles themselves. Kernels
// are points here, so that each particle is in one cell.
TEST(Gather, CellsHaveTheTemperatureAndVelocityOfTheirAtoms) {
  const std::int64_t n = 4;
  const GridRegion region = whole_box(n);
  const std::size_t count = 4000;
  io::GasBlock b = isothermal(count, 1e6);
  b.electrons.clear();
  b.temperature.assign(count, 0);
  std::vector<double> atoms(std::size_t(n * n * n)), heat = atoms, motion = atoms, mass_in = atoms, hot = atoms;
  for (std::size_t i = 0; i < count; ++i) {
    const bool cloud = i % 5 == 0;
    b.temperature[i] = cloud ? 8e3 + double(i) : 1e6 + 100 * double(i);
    b.neutral[i] = cloud ? 0.9 : 1e-5;
    b.mass[i] = b.mass[0];
    b.density[i] = b.mass[i] / std::pow(1e-3 * box, 3);
    b.velocity[3 * i] = cloud ? 1e7 + 1e3 * double(i) : -3e7;
    std::size_t cell = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double x = std::fmod(b.position[3 * i + a] + box, box);
      cell = cell * std::size_t(n) + std::size_t(x / box * double(n));
    }
    const double X = b.hydrogen.empty() ? default_hydrogen : b.hydrogen[i];
    const double N = b.neutral[i] * X * b.mass[i] / hydrogen_mass;
    atoms[cell] += N, heat[cell] += N * b.temperature[i], motion[cell] += N * b.velocity[3 * i];
    mass_in[cell] += b.mass[i], hot[cell] += b.mass[i] * b.temperature[i];
  }
  const FieldList fields(false, false);
  GasOptions options;
  options.fields = fields;
  CellSums<double> sums(region.lattice, fields.count);
  EXPECT_LT(grid(region, options, {b}, sums).worst(), 1e-12);
  finish(sums, fields, 0.0127, 1);
  const auto values = [&](int field) {
    std::vector<float> out(region.lattice.count());
    copy_array(sums, field, out.data(), 1);
    return out;
  };
  const auto T = values(fields.moment(0, moment_T)), v = values(fields.moment(0, moment_vx)), T_all = values(energy);
  for (std::size_t c = 0; c < atoms.size(); ++c) {
    ASSERT_GT(atoms[c], 0);
    EXPECT_NEAR(double(T[c]) / (heat[c] / atoms[c]), 1, 1e-5);
    EXPECT_NEAR(double(v[c]), motion[c] / atoms[c] / constants::km, 1e-3);
    EXPECT_LT(double(T[c]), 1.5e4);
    EXPECT_GT(double(T_all[c]), 3e5) << "that of all gas differs";
    EXPECT_NEAR(hot[c] / mass_in[c] / 8e5, 1, 0.5);
  }
}

TEST(CellValues, WithoutTheIonItIsThatOfAllGas) {
  const FieldList fields(false, false, {"MgII"});
  std::vector<double> sums(std::size_t(fields.count), 0.);
  std::vector<float> values(sums.size());
  const auto at = [&](int field) -> double& { return sums[std::size_t(field)]; };
  at(mass) = 2, at(momentum_x) = 2e7, at(HI) = 1, at(HII) = 0, at(electrons) = 0;
  at(energy) = 1.5 * constants::k_B * 5e3 * 0.25 * (2 + 3);
  at(fields.moment(0, moment_T)) = 7e3, at(fields.moment(0, moment_vx)) = 3e7;
  cell_values(sums.data(), fields, 0.0127, values.data());
  EXPECT_NEAR(double(values[energy]), 5e3, 1);
  EXPECT_NEAR(double(values[std::size_t(fields.moment(0, moment_T))]), 7e3, 1);
  EXPECT_NEAR(double(values[std::size_t(fields.moment(0, moment_vx))]), 300, 1e-3);
  EXPECT_EQ(values[std::size_t(fields.moment(1, moment_T))], values[energy]) << "there is no MgII";
  EXPECT_EQ(values[std::size_t(fields.moment(1, moment_vx))], values[momentum_x]);
}

TEST(CellValues, CellsWithoutGasAreMarked) {
  const FieldList fields(true, true);
  const Lattice lattice{{2, 2, 3}, 1., false};
  CellSums<float> sums(lattice, fields.count);
  for (int f = 0; f < fields.count; ++f) sums.row(1, 0)[fields.count + f] = 1;  // one cell has gas
  EXPECT_EQ(finish(sums, fields, 0.0127, 1), 11u);
  std::vector<float> values(12);
  copy_array(sums, energy, values.data(), 1);
  EXPECT_EQ(values[0], float(empty_temperature));
  EXPECT_NE(values[7], float(empty_temperature));
  copy_array(sums, momentum_x, values.data(), 1);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[7], 1e-5f);
  copy_array(sums, fields.moment(0, moment_T), values.data(), 1);
  EXPECT_EQ(values[0], float(empty_temperature));
  FieldList all = fields;
  EXPECT_EQ(cell_arrays(all).size(), std::size_t(fields.count - 4));
  all.mass_weighted = true;
  EXPECT_EQ(cell_arrays(all).size(), std::size_t(fields.count));
}

TEST(Gather, SlabsGiveTheBitsOfTheWhole) {
  const GasOptions options = with_all();
  const std::vector<io::GasBlock> blocks{isothermal(700, 1e4), isothermal(1500, 3e4)};
  for (const GridRegion& region : {whole_box(24), corner(24)}) {
    CellSums<double> whole(region.lattice, options.fields.count);
    grid(region, options, blocks, whole);
    const std::vector<double> total = sum_cells(whole, options.fields, 2);
    for (const std::int64_t layers : {1, 5, 12, 23}) {
      std::vector<double> sum(std::size_t(options.fields.count), 0.);
      std::size_t made = 0, slabs = 0;
      for (std::int64_t first = 0; first < 24; first += layers, ++slabs) {
        CellSums<double> sums(region.lattice, options.fields.count,
                              {first, std::min<std::int64_t>(first + layers, 24)});
        Gatherer gatherer(region, options, 2, sums.layers());
        for (const auto& block : blocks) {
          const Particles p = gatherer.gather(block);
          made += p.count();
          deposit(sums, p, shares(region.lattice, p, 2), 2);
        }
        const std::size_t values = sums.cells() * std::size_t(sums.fields());
        EXPECT_TRUE(std::equal(sums.column(0), sums.column(0) + values, whole.row(first, 0))) << layers << " " << first;
        add_layers(sum_layers(sums, 3), sum);
      }
      EXPECT_TRUE(in_cgs(sum, options.fields, region.lattice) == total) << layers;
      std::size_t all = 0;
      Gatherer gatherer(region, options, 2);
      for (const auto& block : blocks) all += gatherer.gather(block).count();
      EXPECT_TRUE(layers > 1 || made < slabs * all / 2) << "only what reaches a slab is made";
    }
  }
}

}  // namespace
}  // namespace thor::gridding
