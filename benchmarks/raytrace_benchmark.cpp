// raytrace_benchmark [CELLS [PIXELS [DEVICE [THREADS...]]]]: rays through a grid of random numbers, in single
// precision: projections along an axis and off it, pictures of the volume, and absorption spectra; with packs and with
// one lane. A time is the shortest of several frames, with the copy of the image to the host.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <random>

#include "thor/core/parallel_for.hpp"
#include "thor/datasets/field_array.hpp"
#include "thor/operators/ray_lattice.hpp"
#include "thor/parallel/ray_engine.hpp"

using namespace thor;

namespace {

constexpr int field_count = 5;  // density, temperature, velocities

struct Grid {
  GridShape shape;
  GridFieldCells cells;
  std::vector<FieldArray> fields;
};

Grid make_grid(int cells, int fields) {
  GridShape shape;
  shape.count = {cells, cells, cells};
  shape.cell_size = 3e21;
  for (double& x : shape.origin) x = -0.5 * cells * shape.cell_size;
  Grid grid{shape, GridFieldCells(shape, shape.box()), {}};
  for (int k = 0; k < fields; ++k) {
    grid.fields.push_back(new_field(grid.cells));
    FieldArray& field = grid.fields.back();
    parallel_for(available_threads(), field.count, 1 << 20, [&](std::size_t first, std::size_t end) {
      std::minstd_rand random(unsigned(first + 1 + std::size_t(k)));
      for (std::size_t i = first; i < end; ++i) {
        const float u = float(random()) * 0x1p-31f;
        field.numbers[i] = k == 0 ? u * u * u : k == 1 ? 0.25f + 0.75f * u : 2 * u - 1;
      }
    });
  }
  return grid;
}

Scene<UniformGrid<float>> scene_of(const Grid& grid) {
  Scene<UniformGrid<float>> scene{};
  scene.dataset = convert<float>(grid.cells.layout());
  for (int k = 0; k < 3; ++k) scene.zero[k] = grid.cells.layout().zero[k];
  for (std::size_t k = 0; k < grid.fields.size(); ++k)
    scene.fields[k] = {grid.fields[k].numbers.get(), grid.fields[k].count};
  return scene;
}

Camera camera_of(int cells, int pixels, bool off_axis) {
  Camera c{};
  c.type = CameraType::orthographic, c.columns = c.rows = pixels;
  const double right[2][3] = {{1, 0, 0}, {0.8944272, 0.4472136, 0}};
  const double up[2][3] = {{0, 1, 0}, {-0.2491364, 0.4982729, 0.8304548}};
  const double forward[2][3] = {{0, 0, -1}, {-0.3713907, 0.7427814, -0.5570860}};
  for (int k = 0; k < 3; ++k)
    c.right[k] = right[off_axis][k], c.up[k] = up[off_axis][k], c.forward[k] = forward[off_axis][k];
  c.half_width = c.half_height = (off_axis ? 0.75 : 0.5) * cells;
  c.near = -1e9, c.far = 1e9;
  return c;
}

double shortest(int repeats, const auto& work) {
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

/// As the driver does: rays in step with the cells, and pixels that are averages over their areas. Returns the time of
/// the averages.
double project(RayEngine& engine, const ImageJob& job, const GridShape& shape, int threads, std::span<double> pixels) {
  std::ranges::fill(pixels, 0.);
  const RayLattice rays(job.camera, shape, 1);
  const ImageJob in_step = rays.job_of(job);
  const std::vector<ImageTile> tiles = rays.tiles(0, job.camera.rows);
  std::size_t count = 0;
  for (const ImageTile& tile : tiles) count += tile.pixels();
  static std::vector<double> found;
  found.resize(count);
  engine.image(in_step, tiles, found);
  return shortest(1, [&] { rays.average(tiles, found, 0, job.camera.rows, pixels, threads); });
}

void measure_images(RayEngine& engine, const GridShape& shape, int pixels, int threads, const std::string& where,
                    int repeats) {
  const int cells = int(shape.count[0]);
  std::vector<float> table;
  for (int i = 0; i < colours; ++i) table.insert(table.end(), {1.f, 0.5f, 0.2f, float(i) / colours / float(cells)});
  for (const int kind : {0, 1, 2}) {
    ImageJob job{};
    job.camera = camera_of(cells, pixels, kind > 0);
    Projection projection;
    projection.value.field = 0;
    Render render{};
    render.layers = 1, render.layer[0].place.field = 0, render.stop = 1e-3f;
    if (kind == 2) {
      job.set(render), job.tables = {table.data(), table.size()};
    } else {
      job.set(projection);
    }
    std::vector<double> planes(std::size_t(job.planes) * std::size_t(pixels) * std::size_t(pixels));
    double averages = 1e30;
    const double seconds = shortest(repeats, [&] {
      if (kind == 2) return engine.image(job, planes);
      averages = std::min(averages, project(engine, job, shape, threads, planes));
    });
    constexpr const char* names[] = {"projection on axis", "projection off axis", "render off axis"};
    fmt::print("{:<22} {:<20} {:9.3f} ms  {:8.3g} pixels/s", where, names[kind], 1e3 * seconds,
               double(pixels) * pixels / seconds);
    fmt::print("{}\n", kind == 2 ? "" : fmt::format("  averages {:.3f} ms", 1e3 * averages));
    std::fflush(stdout);
  }
}

void measure_absorption(RayEngine& engine, int cells, int count, const std::string& where) {
  Absorption a{};
  a.density.field = 0, a.temperature.field = 1, a.velocity.velocity = 2;
  a.density_unit = 1e-8, a.temperature_unit = 4e4, a.velocity_unit = 5e6;
  a.length = 3e21, a.hubble = 2e8 / cells, a.b_turb2 = 0;
  a.bins = 2000, a.width = 1e5, a.first = 5e4;
  a.transitions = 1, a.transition[0] = {0, 7.6e-8, 606, 1.65e8};
  SightlineRays rays;
  std::minstd_rand random(3);
  for (int i = 0; i < count; ++i) {
    StraightRay ray{};
    for (int k = 0; k < 2; ++k) ray.position[k] = (double(random()) * 0x1p-31 - 0.5) * cells;
    ray.position[2] = -0.5 * cells, ray.direction[2] = 1, ray.to = cells;
    rays.rays.push_back(ray), rays.first.push_back(std::uint32_t(rays.rays.size()));
  }
  std::vector<float> tau(std::size_t(count) * 2000);
  std::vector<double> columns(std::size_t(count), 0.);
  const double seconds = shortest(2, [&] { engine.follow(rays, SightlineJob(a), tau, columns); });
  fmt::print("{:<22} {:<20} {:9.3f} ms  {:8.3g} sightlines/s\n", where, "absorption, 2000 bins", 1e3 * seconds,
             count / seconds);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int cells = argc > 1 ? std::atoi(argv[1]) : 256, pixels = argc > 2 ? std::atoi(argv[2]) : 512;
  const std::string device = argc > 3 ? argv[3] : "cpu";
  const bool spectra = cells <= 512;
  const Grid grid = make_grid(cells, spectra ? field_count : 1);
  const AnyScene<float> scene(scene_of(grid));
  fmt::print("{}^3 cells, {}^2 pixels\n", cells, pixels);
  for (int i = 4; i < argc; ++i) {
    const int threads = std::atoi(argv[i]);
    const auto packs = make_ray_engine(scene, cpu::Options{threads, false, ""});
    measure_images(*packs, grid.shape, pixels, threads, fmt::format("cpu, {} threads", threads), 3);
    if (spectra) measure_absorption(*packs, cells, 200 * threads, fmt::format("cpu, {} threads", threads));
    if (threads > 1) continue;
    const auto one = make_ray_engine(scene, cpu::Options{1, true, ""});
    measure_images(*one, grid.shape, pixels, 1, "cpu, one lane", 1);
  }
  if (device == "cpu") return 0;
  const auto opened = device::open(device);
  const auto engine = make_ray_engine(scene, cpu::Options{available_threads(), false, ""}, *opened);
  measure_images(*engine, grid.shape, pixels, available_threads(), device, 20);
  if (spectra) measure_absorption(*engine, cells, 10000, device);
}
