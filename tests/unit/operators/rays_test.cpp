// Rays through grids and models against a reference that looks at every cell, on every kernel.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "support/host_device.hpp"
#include "thor/datasets/field_array.hpp"
#include "thor/datasets/shell.hpp"
#include "thor/datasets/slab.hpp"
#include "thor/parallel/cpu/trace_kernel.hpp"
#include "thor/parallel/ray_engine.hpp"
#ifdef THOR_HAVE_CERF
#include <cerf.h>
#endif

namespace {

using namespace thor;

/// A grid of random numbers.
struct RandomGrid {
  GridShape shape;
  std::optional<GridFieldCells> cells;
  std::vector<FieldArray> fields;

  RandomGrid(std::array<std::int64_t, 3> count, int number, unsigned seed) {
    shape.count = count, shape.cell_size = 1;
    shape.origin = {-1.5, 0.25, 3};
    cells.emplace(shape, shape.box());
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> u(0.1f, 1.f);
    for (int k = 0; k < number; ++k) {
      fields.push_back(new_field(*cells));
      for (std::int64_t i = 0; i < shape.cells(); ++i) fields.back().numbers[cells->index(i)] = u(random);
    }
  }
  double value(int field, std::int64_t x, std::int64_t y, std::int64_t z) const {
    const std::int64_t i = (x * shape.count[1] + y) * shape.count[2] + z;
    return double(fields[std::size_t(field)].numbers[cells->index(i)]);
  }
  template <class Real>
  AnyScene<Real> scene() const {
    return AnyScene<Real>(plain_scene<Real>());
  }
  template <class Real>
  Scene<UniformGrid<Real>> plain_scene() const {
    Scene<UniformGrid<Real>> s{};
    s.dataset = convert<Real>(cells->layout());
    for (int k = 0; k < 3; ++k) s.zero[k] = cells->layout().zero[k];
    for (std::size_t k = 0; k < fields.size(); ++k) s.fields[k] = {fields[k].numbers.get(), fields[k].count};
    return s;
  }

  /// The integral along a ray, from the way through every cell, which is half open: lower faces belong to it.
  double integral(const StraightRay& ray) const {
    double sum = 0;
    for (std::int64_t x = 0; x < shape.count[0]; ++x) {
      for (std::int64_t y = 0; y < shape.count[1]; ++y) {
        for (std::int64_t z = 0; z < shape.count[2]; ++z) {
          const std::int64_t cell[] = {x, y, z};
          double from = ray.from, to = ray.to;
          for (int k = 0; k < 3; ++k) {
            const double low = shape.origin[std::size_t(k)] + double(cell[k]) - ray.position[k];
            if (ray.direction[k] == 0) {
              if (!(low <= 0 && low + 1 > 0)) to = from;
              continue;
            }
            const double a = low / ray.direction[k], b = (low + 1) / ray.direction[k];
            from = std::max(from, std::min(a, b)), to = std::min(to, std::max(a, b));
          }
          if (to > from) sum += (to - from) * value(0, x, y, z);
        }
      }
    }
    return sum;
  }
};

StraightRay ray_of(std::array<double, 3> p, std::array<double, 3> d, double from = -1e9, double to = 1e9) {
  const double length = std::hypot(d[0], d[1], d[2]);
  return {{p[0], p[1], p[2]}, {d[0] / length, d[1] / length, d[2] / length}, from, to};
}

/// The same from the pieces that a kernel goes through.
double traced(RayEngine& engine, const StraightRay& ray) {
  Quantities quantities{};
  quantities.count = 1, quantities.quantity[0].field = 0;
  const RayRun run = engine.record(ray, quantities);
  double sum = 0;
  for (std::size_t i = 0; i < run.lengths.size(); ++i) {
    EXPECT_GT(run.lengths[i], 0);
    sum += run.lengths[i] * double(run.values[0][i]);
  }
  return sum;
}

template <class Real>
class Rays : public testing::Test {
 public:
  static constexpr double tolerance = sizeof(Real) == 4 ? 2e-5 : 1e-12;
};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Rays, Reals);

const std::array<std::int64_t, 3> shapes[] = {{5, 4, 7}, {16, 9, 12}, {1, 1, 1}, {8, 8, 8}, {33, 10, 8}};

TYPED_TEST(Rays, MeetTheSameGasAsAReferenceThatLooksAtEveryCell) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (const auto& shape : shapes) {
    const RandomGrid grid(shape, 1, 7);
    const auto engine = make_ray_engine(grid.scene<TypeParam>(), cpu::Options{1, false, ""});
    for (int i = 0; i < 120; ++i) {
      std::array<double, 3> p, d;
      for (std::size_t k = 0; k < 3; ++k) {
        p[k] = grid.shape.origin[k] + 0.5 * double(shape[k]) + 0.6 * double(shape[k]) * normal(random);
        d[k] = i % 5 == 0 && k != 1 ? 0 : normal(random);  // some are along an axis
      }
      const StraightRay ray = i % 3 == 0 ? ray_of(p, d, 0, 4) : ray_of(p, d);
      const double expected = grid.integral(ray);
      EXPECT_NEAR(traced(*engine, ray), expected, this->tolerance * (1 + expected)) << "ray " << i;
    }
  }
}

/// Any dataset with cells is walked from face to face as photons go; the walk of a grid is a faster one.
TYPED_TEST(Rays, WalkAnyMesh) {
  std::mt19937 random(9);
  std::normal_distribution<double> normal;
  for (const auto& shape : shapes) {
    const RandomGrid grid(shape, 1, 7);
    const auto scene = grid.plain_scene<TypeParam>();
    for (int i = 0; i < 60; ++i) {
      std::array<double, 3> p, d;
      for (std::size_t k = 0; k < 3; ++k) {
        p[k] = grid.shape.origin[k] + 0.5 * double(shape[k]) + 0.6 * double(shape[k]) * normal(random);
        d[k] = normal(random);
      }
      const StraightRay ray = i % 3 == 0 ? ray_of(p, d, 0, 4) : ray_of(p, d);
      double begins, sum = 0;
      auto walk = start_mesh_walk(scene, ray, begins);
      while (walk.goes()) {
        walk.next(scene, [&](const auto& piece, TypeParam s) { sum += double(s) * double(piece.field(0)); });
      }
      const double expected = grid.integral(ray);
      EXPECT_NEAR(sum, expected, this->tolerance * (1 + expected)) << "ray " << i;
    }
  }
}

TEST(AnyScene, GivesADeviceAllThatItsDatasetPointsTo) {
  const std::vector<float> around(3), field(5);
  Scene<UniformGrid<float>> scene{};
  scene.dataset.around = {around.data(), around.size()};
  scene.fields[1] = {field.data(), field.size()};
  std::vector<std::pair<const void*, std::size_t>> copied;
  AnyScene<float>(scene).mirror([&](const void* data, std::size_t bytes) {
    if (bytes > 0) copied.emplace_back(data, bytes);
    return data;
  });
  EXPECT_EQ(copied, (std::vector<std::pair<const void*, std::size_t>>{{around.data(), 12}, {field.data(), 20}}));
}

TYPED_TEST(Rays, AlongFacesEdgesAndCorners) {
  const RandomGrid grid({9, 8, 10}, 1, 3);
  const auto engine = make_ray_engine(grid.scene<TypeParam>(), cpu::Options{1, false, ""});
  const auto& o = grid.shape.origin;
  const auto check = [&](const StraightRay& ray, const char* what) {
    EXPECT_NEAR(traced(*engine, ray), grid.integral(ray), this->tolerance * 20) << what;
  };
  for (const double sign : {1., -1.}) {
    for (int i = 0; i <= 9; ++i) {
      check(ray_of({o[0] + i, o[1] + 0.5, o[2] + 0.5}, {0, 0, sign}), "in a face");
      check(ray_of({o[0] + i, o[1] + 3, o[2] + 0.5}, {0, 0, sign}), "along an edge");
    }
    // Through corners: whatever cells it touches, none adds to the length.
    const StraightRay diagonal = ray_of({o[0] + 4, o[1] + 4, o[2] + 4}, {sign, sign, sign});
    double length = 0;
    Quantities quantities{};
    quantities.count = 1, quantities.quantity[0].field = 0;
    for (const double s : engine->record(diagonal, quantities).lengths) length += s;
    EXPECT_NEAR(length, 8 * std::sqrt(3.), 1e-5);
  }
  EXPECT_EQ(traced(*engine, ray_of({o[0] - 1, o[1] + 0.5, o[2]}, {0, 0, 1})), 0);            // beside it
  EXPECT_EQ(traced(*engine, ray_of({o[0] + 9, o[1] + 0.5, o[2]}, {0, 0, 1})), 0);            // in the upper face
  EXPECT_GT(traced(*engine, ray_of({o[0], o[1] + 0.5, o[2]}, {0, 0, 1})), 0);                // in the lower face
  EXPECT_EQ(traced(*engine, ray_of({o[0] + 1, o[1] + 1, o[2] + 1}, {1, 2, 3}, 2, 2)), 0);    // of no length
  EXPECT_EQ(traced(*engine, ray_of({o[0] + 1, o[1] + 1, o[2] + 1}, {1, 2, 3}, 50, 60)), 0);  // ends before it
}

Camera camera_towards(std::array<double, 3> towards, int pixels, double half) {
  Camera c{};
  c.type = CameraType::orthographic, c.columns = c.rows = pixels, c.half_width = c.half_height = half;
  const StraightRay n = ray_of({0, 0, 0}, towards);
  const std::array<double, 3> hint = std::abs(n.direction[2]) < 0.9 ? std::array{0., 0., 1.} : std::array{0., 1., 0.};
  const auto cross = [](const double* a, const double* b) {
    return std::array{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  };
  const StraightRay right = ray_of({0, 0, 0}, cross(hint.data(), n.direction));
  const auto up = cross(n.direction, right.direction);
  for (std::size_t k = 0; k < 3; ++k) c.right[k] = right.direction[k], c.up[k] = up[k], c.forward[k] = -n.direction[k];
  c.near = -1e9, c.far = 1e9;
  return c;
}

/// All kinds of images of one scene.
std::vector<ImageJob> jobs(const Camera& camera, const std::vector<float>& table, bool two_fields) {
  std::vector<ImageJob> list;
  for (const int kind : {0, 1, 2}) {
    ImageJob job{};
    job.camera = camera, job.tables = {table.data(), table.size()};
    if (kind == 0) {
      Projection projection;
      projection.value.field = 0;
      if (two_fields) projection.weight.field = 1, projection.value.velocity = 1;
      job.set(projection);
      job.samples = 2;
    } else if (kind == 1) {
      Render render{};
      render.layers = 1, render.layer[0].place.field = 0, render.stop = 1e-3f;
      job.set(render);
    } else {
      Slice slice;
      slice.value.field = 0;
      job.set(slice);
      job.camera.near = 0, job.camera.far = 1e-6;
    }
    list.push_back(job);
  }
  return list;
}

std::vector<float> even_table(float absorption) {
  std::vector<float> table;
  for (int i = 0; i < colours; ++i)
    table.insert(table.end(), {1.f, 0.5f, 0.25f, absorption * float(i) / (colours - 1)});
  return table;
}

std::vector<double> image_of(RayEngine& engine, const ImageJob& job) {
  std::vector<double> planes(std::size_t(job.planes * job.camera.columns * job.camera.rows));
  engine.image(job, planes);
  return planes;
}

template <class Real>
void expect_same_on_all_kernels(const AnyScene<Real>& scene, const Camera& camera, bool two_fields) {
  const std::vector<float> table = even_table(0.4f);
  test::HostDevice device;
  for (const std::string_view isa : cpu::instruction_sets()) {
    const auto is_built = [&](const auto* kernel) { return kernel->kind == scene.kind() && kernel->isa == isa; };
    if (!cpu::fused(isa) || std::ranges::none_of(cpu::trace_kernels<Real>(), is_built)) continue;
    const std::string name(isa);
    const auto packs = make_ray_engine(scene, cpu::Options{3, false, name}),
               one = make_ray_engine(scene, cpu::Options{1, true, name});
    const auto there = make_ray_engine(scene, cpu::Options{1, false, name}, device);
    for (const ImageJob& job : jobs(camera, table, two_fields)) {
      const std::vector<double> image = image_of(*packs, job);
      EXPECT_EQ(image, image_of(*one, job)) << name;
      EXPECT_EQ(image, image_of(*there, job)) << name;
      EXPECT_GT(*std::ranges::max_element(image), 0);
    }
    Absorption a{};
    a.density.field = 0, a.temperature.field = 0, a.velocity.velocity = two_fields ? 1 : -1;
    a.density_unit = 1e-9, a.temperature_unit = 2e4, a.velocity_unit = 1e6, a.length = 3e21, a.hubble = 1e6;
    a.bins = 301, a.width = 5e5, a.first = -5e7, a.transitions = 2;
    a.transition[0] = {0, 7.6e-8, 606, 1.65e8}, a.transition[1] = {-3e7, 3e-8, 606, 1.65e8};
    SightlineRays rays;
    for (int i = 0; i < 5; ++i) {
      rays.rays.push_back(ray_of({0.3 * i - 1, 0.5, 0.1}, {0.1, 0.2 * i, 1}, -30, 30));
      if (i != 2) rays.first.push_back(std::uint32_t(rays.rays.size()));
    }
    std::vector<float> tau(4 * 301), other(4 * 301);
    std::vector<double> columns(4), others(4);
    packs->follow(rays, SightlineJob(a), tau, columns);
    there->follow(rays, SightlineJob(a), other, others);
    EXPECT_EQ(tau, other);
    EXPECT_EQ(columns, others);
    EXPECT_GT(columns[3], 0);
  }
}

TYPED_TEST(Rays, AreTheSameInPacksOneByOneAndOnADevice) {
  const RandomGrid grid({17, 12, 9}, 4, 11);
  Camera camera = camera_towards({1, -2, 1.5}, 37, 14);
  for (std::size_t k = 0; k < 3; ++k) camera.position[k] = grid.shape.origin[k] + 0.5 * double(grid.shape.count[k]);
  expect_same_on_all_kernels(grid.scene<TypeParam>(), camera, true);
  camera.type = CameraType::perspective, camera.half_width = camera.half_height = 0.8, camera.near = 0;
  expect_same_on_all_kernels(grid.scene<TypeParam>(), camera, true);
  Scene<Shell<TypeParam>> shell{};
  shell.dataset.inner = TypeParam(0.3), shell.dataset.thickness = TypeParam(1 - 0.09);
  shell.dataset.profile.opacity = 2, shell.dataset.profile.step_limiter = TypeParam(0.05);
  shell.dataset.profile.graded = true, shell.dataset.profile.density_exponent = -1;
  shell.fields[0] = {1, 1, 0, false};
  expect_same_on_all_kernels(AnyScene<TypeParam>(shell), camera_towards({1, -2, 1.5}, 21, 1.2), false);
  Scene<Slab<TypeParam>> slab{};
  slab.dataset.profile.opacity = 2, slab.fields[0] = {1, 1, 0, false};
  expect_same_on_all_kernels(AnyScene<TypeParam>(slab), camera_towards({0.3, 0.1, -1}, 21, 1.2), false);
}

TYPED_TEST(Rays, ColumnOfASphereIsThatOfItsChord) {
  Scene<Sphere<TypeParam>> scene{};
  scene.dataset.kappa = 3;
  scene.fields[0] = {1, 1, 0, false};
  const auto engine = make_ray_engine(AnyScene<TypeParam>(scene), cpu::Options{1, false, ""});
  ImageJob job = jobs(camera_towards({1, 0.4, -0.7}, 64, 1.1), even_table(1), false).front();
  job.samples = 1;
  const std::vector<double> image = image_of(*engine, job);
  for (int j = 0; j < 64; ++j) {
    for (int i = 0; i < 64; ++i) {
      const double x = 1.1 * (2 * (i + 0.5) / 64 - 1), y = 1.1 * (2 * (j + 0.5) / 64 - 1), b2 = x * x + y * y;
      const double chord = b2 < 1 ? 2 * std::sqrt(1 - b2) : 0;
      EXPECT_NEAR(image[std::size_t(64 * j + i)], 3 * chord, sizeof(TypeParam) == 4 ? 2e-6 : 5e-14);
    }
  }
}

TYPED_TEST(Rays, RenderingOfAnEvenBoxIsTheIntegralOfItsFormula) {
  RandomGrid grid({8, 8, 8}, 1, 1);
  for (std::size_t i = 0; i < grid.fields[0].count; ++i) grid.fields[0].numbers[i] = 1;
  const auto engine = make_ray_engine(grid.scene<TypeParam>(), cpu::Options{1, false, ""});
  Camera camera = camera_towards({0, 0, 1}, 8, 4);
  for (std::size_t k = 0; k < 3; ++k) camera.position[k] = grid.shape.origin[k] + 4;
  for (const float mu : {1e-4f, 0.1f, 0.5f}) {
    const std::vector<float> table = even_table(mu);
    ImageJob job = jobs(camera, table, false)[1];
    Render render{};
    render.layers = 1, render.layer[0].place.field = 0;
    job.set(render);
    const std::vector<double> image = image_of(*engine, job);
    const double alpha = -std::expm1(-8. * double(mu));  // C = c (1 - e^-tau)
    for (std::size_t i = 0; i < 64; ++i) {
      EXPECT_NEAR(image[i], alpha, 1e-6);
      EXPECT_NEAR(image[64 + i], 0.5 * alpha, 1e-6);
      EXPECT_NEAR(image[3 * 64 + i], alpha, 1e-6);
    }
    // Rays that stop early have all but so much of it.
    render.stop = 0.2f;
    job.set(render);
    const double early = image_of(*engine, job)[0];
    EXPECT_LE(std::abs(early - alpha), 0.2);
    EXPECT_EQ(mu > 0.3f, early < alpha - 0.01);
  }
}

TYPED_TEST(Rays, SlicesHaveTheNumbersOfTheCells) {
  const RandomGrid grid({12, 9, 8}, 1, 2);
  const auto engine = make_ray_engine(grid.scene<TypeParam>(), cpu::Options{1, false, ""});
  Camera camera = camera_towards({0, 0, 1}, 24, 12);  // half of a cell to a pixel, and beyond the grid
  camera.position[0] = grid.shape.origin[0] + 6, camera.position[1] = grid.shape.origin[1] + 4.5;
  camera.position[2] = grid.shape.origin[2] + 2.25;
  const std::vector<double> image = image_of(*engine, jobs(camera, even_table(1), false)[2]);
  for (int j = 0; j < 24; ++j) {
    for (int i = 0; i < 24; ++i) {
      const double x = 6 + 12 * (2 * (i + 0.5) / 24 - 1), y = 4.5 + 12 * (2 * (j + 0.5) / 24 - 1);
      const bool there = x >= 0 && x < 12 && y >= 0 && y < 9;
      const auto pixel = std::size_t(24 * j + i);
      EXPECT_EQ(image[24 * 24 + pixel], there ? 1 : 0);
      if (there) {
        EXPECT_EQ(image[pixel], grid.value(0, std::int64_t(x), std::int64_t(y), 2));
      }
    }
  }
}

#ifdef THOR_HAVE_CERF
TEST(VoigtWithWings, IsTheProfileInCoreAndWings) {
  const auto largest = [](double a, double bend) {
    double error = 0;
    for (double x = 0; x < 3e3; x = x * 1.01 + 0.003) {
      const double H = voigt(x, 1 / std::sqrt(2.), a) * std::sqrt(M_PI);  // of cerf, as a density
      error = std::max(error, std::abs(voigt_with_wings<double>(a * bend, x) / H - 1));
    }
    return error;
  };
  for (const double a : {1e-5, 4.7e-4, 1e-2, 0.1}) EXPECT_LT(largest(a, 1), 1e-4) << a;
  EXPECT_GT(largest(4.7e-4, 1.001), 5e-4);  // another damping is seen
}
#endif

TEST(MeanVoigt, IsTheMeanOfTheProfile) {
  const auto largest = [](auto real, double bend) {
    using Real = decltype(real);
    double error = 0;
    for (const double a : {1e-5, 4.7e-4, 1e-2, 0.1}) {
      for (const double width : {0.02, 0.15, 0.3, 0.5, 0.51, 2., 30.}) {
        for (double x = -60; x < 200; x += 0.37) {
          double mean = 0;
          constexpr int points = 2000;
          for (int i = 0; i < points; ++i)
            mean += voigt_with_wings<double>(a, x + width * ((i + 0.5) / points - 0.5)) / points;
          const double found = double(mean_voigt<Real>(Real(a * bend), Real(x), Real(width)));
          error = std::max(error, std::abs(found - mean) / (mean + 1e-3 / width));  // of the peak
        }
      }
    }
    return error;
  };
  EXPECT_LT(largest(1., 1), 3e-3);
  EXPECT_LT(largest(1.f, 1), 3e-3);
  EXPECT_GT(largest(1., 1.05), 2e-2);
}

TEST(CameraRay, LooksWhereItShould) {
  Camera c = camera_towards({0, 0, 1}, 4, 2);
  const StraightRay parallel = camera_ray(c, 4, 0);
  EXPECT_NEAR(parallel.position[0], 2, 1e-15);
  EXPECT_NEAR(parallel.position[1], -2, 1e-15);
  EXPECT_EQ(parallel.direction[2], -1);
  c.type = CameraType::perspective, c.half_width = c.half_height = 1;
  const StraightRay corner = camera_ray(c, 4, 2);  // 45 degrees to the right
  EXPECT_NEAR(corner.direction[0], std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(corner.direction[2], -std::sqrt(0.5), 1e-15);
  c.type = CameraType::equirectangular;
  const StraightRay right = camera_ray(c, 3, 2), above = camera_ray(c, 2, 4), behind = camera_ray(c, 4, 2);
  EXPECT_NEAR(right.direction[0], 1, 1e-14);
  EXPECT_NEAR(above.direction[1], 1, 1e-14);
  EXPECT_NEAR(behind.direction[2], 1, 1e-14);
}

}  // namespace
