// The smallest mesh there can be, two cells, as docs/contributing/mesh.md says: it compiles against the concepts, and
// photons and rays go through it.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/run.hpp"
#include "thor/datasets/cell_medium.hpp"
#include "thor/interactors/build.hpp"
#include "thor/parallel/border.hpp"
#include "thor/transport/history.hpp"
#include "thor/transport/march.hpp"
#include "thor/transport/step.hpp"

namespace thor {

/// A slab |z| < 1 of two cells, below and above z = 0; or a part with one of them, which calls it 0, and the other one,
/// behind its border, 1.
template <class R>
struct TwoCells {
  using Real = R;
  GasRecords gas;
  CellPhysics<Real> physics;
  bool is_part, upper;

  static void for_each_field(auto f, auto&... d) { f(d.gas...), f(d.physics...), f(d.is_part...), f(d.upper...); }
};

/// The cell of a photon: 0 below, 1 above.
template <class R, class I>
struct TwoCellsPlace {
  using Number = R;
  I cell;

  static THOR_FN void for_each_field(auto f, auto&... p) { f(p.cell...); }
};

inline namespace THOR_ISA {

/// The way to the face ahead, and whether that is the one between the cells.
template <class V>
struct TwoCellsSegment {
  V distance;
  MaskOf<V> inner;
  MaskOf<V> reaches(V s) const { return s >= distance; }
  V length() const { return distance; }
};

template <class V>
struct TwoCellsView : CellMedium<TwoCellsView<V>, V> {
  using Real = RealOf<V>;
  using Place = TwoCellsPlace<V, IntOf<V>>;
  using Segment = TwoCellsSegment<V>;
  const TwoCells<Real>& data;

  bool is_part() const { return data.is_part; }
  LaneAddress<V> record(const Place& place, unsigned stride) const {
    return lane_address<V>(__builtin_bit_cast(BitsOf<V>, place.cell), stride, BitsOf<V>(0u));
  }
  Segment segment(const Place& place, Vec3<V> p, Vec3<V> d) const {
    const V one(Real(1)), height = abs(p.z), slope = max(abs(d.z), V(Real(1e-20)));
    const auto below = equal<V>(place.cell, 0) && MaskOf<V>(!data.upper);
    const auto inner = (d.z > V(Real(0))) == below;
    return {divide(select(inner, height, one - height), slope), inner};
  }
  V nearest_face(const Place&, Vec3<V> p) const { return min(abs(p.z), V(Real(1)) - abs(p.z)); }
  static bool joins_equal_cells() { return false; }
  template <class Lane>
  V room_in_equal_cells(const Lane&) const {
    return V(Real(0));
  }
  template <class Lane>
  void advance(Lane& lane, V s, const auto&) const {
    lane.px = fma(s, lane.dx, lane.px), lane.py = fma(s, lane.dy, lane.py), lane.pz = fma(s, lane.dz, lane.pz);
  }
  template <class Lane>
  MaskOf<V> leap(Lane& lane, V s) const {
    advance(lane, s, NoSegment());
    return MaskOf<V>(false);
  }
  template <class Lane>
  Passage<V> cross(Lane& lane, MaskOf<V> face, const Segment& segment) const {
    const auto through = face && segment.inner;
    lane.place.cell = select(through, IntOf<V>(1) - lane.place.cell, lane.place.cell);
    lane.pz = select(through, V(Real(0)), lane.pz);
    return {face && !segment.inner, through && MaskOf<V>(data.is_part)};
  }
  template <class Lane>
  void coordinates(const Lane& lane, double back, double (&position)[3]) const {
    position[0] = lane.px - back * lane.dx, position[1] = lane.py - back * lane.dy;
    position[2] = lane.pz - back * lane.dz;
  }
  void place_point(auto& birth, const Real (&offset)[3], const int (&cell)[3]) const {
    birth.position = {offset[0], offset[1], offset[2]};
    birth.place = {cell[0]};
  }
  void place_source(auto& birth, const auto& table, std::uint64_t index, Vec3<Real>) const {
    birth.place = {table.place[index]};
  }
  void place_on_surface(auto&) const {}
  void enter(auto&) const {}
  void settle(auto&, bool) const {}
};

template <class V>
TwoCellsView<V> view(const TwoCells<RealOf<V>>& data) {
  return {{}, data};
}

}  // namespace THOR_ISA

namespace {

static_assert(MeshFor<TwoCellsView<double>, double, Lane<double, TwoCellsPlace<double, std::int64_t>>>);

/// Two cells of these optical depths at line centre, of hydrogen at 1e4 K and at rest.
template <class Real>
struct Toy {
  float numbers[2 * 5 + 3]{};
  LineProblem<TwoCells<Real>> problem{};

  Toy(double below, double above) {
    const auto config = config::parse(
        "line: Lya\ndataset: {type: slab, half_thickness: 1 kpc, temperature: 1e4 K, tau0: 1}\n"
        "generators: [{type: point, photons: 1}]\noutput: {path: x.h5}\n",
        "test");
    const auto setup = build_setup(config);
    numbers[0] = float(below), numbers[5] = float(above);
    numbers[1] = numbers[6] = 1;
    problem.dataset.gas = {{numbers, std::size(numbers)}, 5, 0, 0, false, 1};
    problem.line = build_resonant_line<Real>(setup.line, setup.medium, config.physics);
    problem.dust = build_dust<Real>(setup.medium);
    problem.limits = {1 << 30, 1 << 30};
  }
};

/// A photon of the line centre that begins at the face between the cells, in the one it flies into.
template <class Real>
auto start(const LineProblem<TwoCells<Real>>& problem, std::uint64_t id) {
  Source<Real> source{};
  source.shape = BirthPlace::point;
  auto random = schemes(problem.numerics).template start<Real>(stream_key(3, id));
  const auto birth = emit(source, problem.dataset, 0, random, static_cast<const Vec3<Real>*>(nullptr));
  Lane<Real, TwoCellsPlace<Real, IntOf<Real>>> lane{};
  lane.dx = birth.direction.x, lane.dy = birth.direction.y, lane.dz = birth.direction.z;
  lane.place.cell = lane.dz > 0 ? 1 : 0;
  lane.tau = max(sample_exponential<Real>(random.next()), least_tau<Real>);
  lane.phase = Phase::fly;
  const auto words = words_of(random);
  lane.s0 = words.s0, lane.s1 = words.s1, lane.s2 = words.s2, lane.s3 = words.s3;
  return lane;
}

/// H(a, 0) of the line, to first order.
template <class Real>
double at_line_centre(const Toy<Real>& toy) {
  return 1 - 2 * double(toy.problem.line.a) / std::sqrt(std::numbers::pi);
}

/// E_2(t), the share of light from a plane that passes a layer of this optical depth.
double passes(double t) {
  double sum = 0;
  for (int i = 0; i < 100000; ++i) sum += std::exp(-t / ((i + 0.5) / 100000)) / 100000;
  return sum;
}

template <class Real>
struct ToyMesh : testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ToyMesh, Reals);

TYPED_TEST(ToyMesh, LetsThroughWhatTheCellsDo) {
  using Real = TypeParam;
  const double depth[2] = {0.3, 1.2};
  Toy<Real> toy(depth[0], depth[1]);
  const double centre = at_line_centre(toy);
  double passed[2] = {0, 0}, begun[2] = {0, 0};
  constexpr int count = 40000;
  for (std::uint64_t id = 0; id < count; ++id) {
    auto lane = start<Real>(toy.problem, id);
    const auto cell = std::size_t(lane.place.cell);
    begun[cell] += 1;
    while (!step(lane, toy.problem)) {
      ASSERT_LT(lane.steps, 10000);
    }
    ASSERT_EQ(Phase(int(lane.phase)), Phase::escaped);
    passed[cell] += lane.scatterings == 0 ? 1 : 0;
  }
  for (const std::size_t cell : {0u, 1u}) {
    const double share = passed[cell] / begun[cell], error = std::sqrt(share * (1 - share) / begun[cell]);
    EXPECT_NEAR(share, passes(depth[cell] * centre), 4 * error);
    EXPECT_GT(std::abs(share - passes(1.1 * depth[cell] * centre)), 4 * error) << "a tenth more gas is noticed";
  }
}

/// Two processes that hold a cell each.
struct TwoDomains : Partition {
  int count() const override { return 2; }
  int owner(const CellIndex& whole) const override { return int(whole[0]); }
  CellIndex to_whole(int domain, const CellIndex& here) const override { return {here[0] == 0 ? domain : 1 - domain}; }
  std::optional<CellIndex> to_part(int domain, const CellIndex& whole) const override {
    if (whole[0] != domain) return {};
    return CellIndex{};
  }
  std::unique_ptr<const HostMesh> mesh(int) const override { return nullptr; }
  std::vector<std::pair<std::int64_t, std::int64_t>> own_cells(int) const override { return {{0, 1}}; }
  void for_each_run(const std::function<void(std::int64_t, std::int64_t, int)>& take) const override {
    take(0, 1, 0), take(1, 2, 1);
  }
};

/// A photon that travels between parts has the history that it has in the whole mesh, bit for bit.
TYPED_TEST(ToyMesh, PhotonsTravelBetweenParts) {
  using Real = TypeParam;
  using Any = AnyPlace<Real, IntOf<Real>>;
  using Toys = TwoCellsPlace<Real, IntOf<Real>>;
  Toy<Real> toy(3, 8);
  auto parts = std::array{toy.problem, toy.problem};
  for (std::size_t part : {0u, 1u}) {
    auto& dataset = parts[part].dataset;
    dataset.is_part = true, dataset.upper = part == 1;
    dataset.gas.numbers.data += 5 * part;
  }
  const TwoDomains partition;
  int travels = 0;
  for (std::uint64_t id = 0; id < 2000; ++id) {
    auto whole = start<Real>(toy.problem, id), lane = whole;
    while (!step(whole, toy.problem)) {
    }
    auto domain = int(lane.place.cell);
    lane.place.cell = 0;
    for (;;) {
      while (!step(lane, parts[std::size_t(domain)])) {
      }
      if (lane.phase != Phase::departs) break;
      ++travels;
      auto travels_as = lane_as<Any>(lane);
      ASSERT_FALSE(arrives(partition, domain, travels_as)) << "no part has both cells";
      domain = partition.owner(cell_of(travels_as));
      set_cell(travels_as, partition.to_part(domain, cell_of(travels_as)).value());
      lane = lane_as<Toys>(travels_as);
    }
    ASSERT_EQ(lane.phase, whole.phase);
    ASSERT_EQ(lane.scatterings, whole.scatterings);
    ASSERT_EQ(lane.frequency, whole.frequency);
    ASSERT_EQ(lane.px, whole.px);
    ASSERT_EQ(lane.pz, whole.pz);
    ASSERT_EQ(lane.s0, whole.s0) << "the stream of its random numbers";
  }
  EXPECT_GT(travels, 1000);
}

TYPED_TEST(ToyMesh, RaysMeetBothCells) {
  using Real = TypeParam;
  Toy<Real> toy(0.3, 1.2);
  Lane<Real, TwoCellsPlace<Real, IntOf<Real>>> ray{};
  ray.pz = Real(-0.5), ray.dx = Real(0.6), ray.dz = Real(0.8);
  ray.phase = Phase::fly;
  ray.s0 = ray.s1 = ray.s2 = ray.s3 = 1;  // never drawn from
  while (!march(ray, toy.problem, Real(1e30))) {
    ASSERT_LT(ray.steps, 10);
  }
  EXPECT_EQ(int(ray.steps), 2);
  EXPECT_NEAR(double(ray.tau), (0.5 * 0.3 + 1.2) / 0.8 * at_line_centre(toy), 1e-4);
}

}  // namespace
}  // namespace thor
