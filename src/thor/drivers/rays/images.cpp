#include <algorithm>
#include <cmath>
#include <numeric>

#include "thor/core/message.hpp"
#include "thor/drivers/rays/frames.hpp"
#include "thor/drivers/rays/products.hpp"
#include "thor/operators/ray_lattice.hpp"

namespace thor {
namespace {

constexpr double rays_at_once = RayLattice::most_rays;  ///< about, between looks at the clock

/// The image of an operator and its camera, or one for each frame of its way.
class RayImage final : public RayProduct {
 public:
  RayImage(RaytraceWork& work, std::size_t op);
  double rays() const override;
  double bytes() const override;
  double written() const override { return double(pixels()) * (tasks_.front().is_picture ? 16 : 8); }
  void open() override;
  void write(io::ArrayOutput* file) override;

 private:
  double frames() const { return camera_.path ? double(camera_.path->frames) : 1; }
  std::size_t pixels() const { return camera_.pixels * camera_.rows; }
  double way_of(std::uint64_t frame) const { return frames() > 1 ? progress_of(*camera_.path, frame) : 0; }
  void check_way() const;
  void look(double way, int finer, int samples);
  template <class Order>
  std::vector<double> joined(const std::vector<double>& partial, std::size_t pixels, const Order& order) const;
  std::vector<double> joined(std::vector<double> partial, std::size_t pixels) const;
  std::vector<double> joined_in_order(const std::vector<double>& partial) const;
  std::optional<RayLattice> lattice() const;
  int rows_at_once() const;
  void trace_in_step(std::size_t part, int row, int rows, std::span<double> planes);
  std::vector<double> trace_part(std::size_t part);
  std::vector<double> trace(double way);

  RaytraceWork& work_;
  const std::size_t op_;
  const config::Operator& keys_;
  const config::Camera& camera_;
  int samples_ = 1;
  std::vector<ImageTask> tasks_{};  ///< of each part
  std::vector<double> found_{};     ///< by rays in step
  std::unique_ptr<Frames> pictures_{};
};

RayImage::RayImage(RaytraceWork& work, std::size_t op)
    : work_(work), op_(op), keys_(work.config.operators[op]), camera_(work.config.camera(*keys_->camera())) {
  check_way();
  for (const std::string& product : keys_->means()) {
    double sum = 0;
    for (std::size_t p = 0; p < work.parts(); ++p) sum += work.gas(p).mean_of(product);
    if (work.is_cut()) {
      const std::vector<double> all = everywhere(work.world, {sum});
      sum = std::accumulate(all.begin(), all.end(), 0.);
    }
    for (std::size_t p = 0; p < work.parts(); ++p) work.gas(p).set_mean(product, sum);
  }
  for (std::size_t p = 0; p < work.parts(); ++p) tasks_.push_back(keys_->plan(work.gas(p)));
  samples_ = tasks_.front().samples;
  look(0, 1, samples_);
  work.require_memory(fmt::format("cameras ({})", camera_.name), bytes());
}

/// The larger of what there is while rays are traced, images of ranks and parts among it, and of what becomes of them.
double RayImage::bytes() const {
  const ImageTask& task = tasks_.front();
  const bool cut = work_.is_cut();
  const double planes = task.job.planes, all = double(pixels()), ranks = work_.world.ranks();
  const double finer = task.in_order && cut ? samples_ : 1;
  const double values = 8. * (task.is_picture ? planes : 1) * all, numbers = 8. * planes * all;
  const double own = double(work_.parts()), images = cut ? work_.ray_parts.domains().count() : ranks;
  const double at_once = own + (own > 1 ? 1 : 0) + (ranks > 1 ? own + 2 * images : 0) + (images > 1 ? 1 : 0);
  const double kept = frames() > 1 ? values : 0, drawn = frames() > 1 ? 20 * all : 0;
  double band = rays_at_once;
  if (const auto rays = lattice()) {
    for (const ImageTile& tile : rays->tiles(0, task.job.camera.rows)) {
      band = std::max(band, rays_at_once + double(tile.pixels()));
    }
  }
  return kept + std::max(numbers * finer * finer * at_once + 8 * planes * band, numbers + values + drawn);
}

/// The camera can look in every frame.
void RayImage::check_way() const {
  for (std::uint64_t frame = 0; double(frame) < frames(); ++frame) {
    try {
      build_camera(camera_, work_.outline(), way_of(frame));
    } catch (const Error& e) {
      if (frame == 0) throw;
      throw Error(e.code(), fmt::format("{} (in frame {} of its path, cameras.path)", e.what(), frame));
    }
  }
}

/// Sets the cameras of all parts, with so many times the pixels along a side.
void RayImage::look(double way, int finer, int samples) {
  for (std::size_t p = 0; p < tasks_.size(); ++p) {
    const GasOutline& gas = work_.outline();
    Camera camera = build_camera(camera_, gas, way);
    camera.columns *= finer, camera.rows *= finer;
    tasks_[p].samples = samples;
    look_through(tasks_[p], camera, gas);
  }
}

/// Joins images of several ranks or parts; order(pixel) says in which order.
template <class Order>
std::vector<double> RayImage::joined(const std::vector<double>& partial, std::size_t pixels, const Order& order) const {
  const ImageTask& task = tasks_.front();
  const auto planes = std::size_t(task.job.planes);
  std::vector<double> whole(planes * pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    Pixel pixel{};
    for (const std::size_t image : order(i)) {
      Pixel more{};
      for (std::size_t k = 0; k < planes; ++k) more[k] = partial[(image * planes + k) * pixels + i];
      task.join(pixel, more);
    }
    for (std::size_t k = 0; k < planes; ++k) whole[k * pixels + i] = pixel[k];
  }
  return whole;
}

std::vector<double> RayImage::joined(std::vector<double> partial, std::size_t pixels) const {
  std::vector<std::size_t> all(partial.size() / (std::size_t(tasks_.front().job.planes) * pixels));
  if (all.size() == 1) return partial;
  std::iota(all.begin(), all.end(), std::size_t(0));
  return joined(partial, pixels, [&](std::size_t) -> const std::vector<std::size_t>& { return all; });
}

/// Those of parts that rays go through one after the other. Every pixel is one ray.
std::vector<double> RayImage::joined_in_order(const std::vector<double>& partial) const {
  const Camera& camera = tasks_.front().job.camera;
  const Domains& domains = work_.ray_parts.domains();
  std::vector<int> domain_of;  // each image, in the order of ranks
  for (int rank = 0; rank < work_.world.ranks(); ++rank) {
    for (int d = 0; d < domains.count(); ++d) {
      if (holders_of(d, domains.count(), work_.world.ranks()).front() == rank) domain_of.push_back(d);
    }
  }
  const GasOutline& gas = work_.outline();
  std::vector<std::pair<double, std::size_t>> entries(domain_of.size());
  std::vector<std::size_t> order(domain_of.size());
  return joined(partial, std::size_t(camera.columns) * std::size_t(camera.rows),
                [&](std::size_t pixel) -> const std::vector<std::size_t>& {
                  const auto columns = std::size_t(camera.columns);
                  const std::size_t row = pixel / columns, column = pixel % columns;
                  const StraightRay ray = camera_ray(camera, double(column) + 0.5, double(row) + 0.5);
                  for (std::size_t i = 0; i < entries.size(); ++i) {
                    const CellBox& box = domains.box(domain_of[i]);
                    double enters = -HUGE_VAL;
                    for (std::size_t k = 0; k < 3; ++k) {
                      if (ray.direction[k] == 0) continue;
                      const double low = double(box.first[k]) + gas.grid.origin[k] / gas.length;
                      const double face = ray.direction[k] > 0 ? low : low + double(box.count[k]);
                      enters = std::max(enters, (face - ray.position[k]) / ray.direction[k]);
                    }
                    entries[i] = {enters, i};
                  }
                  std::ranges::sort(entries);
                  std::ranges::transform(entries, order.begin(), [](const auto& entry) { return entry.second; });
                  return order;
                });
}

/// Means over squares of side x side pixels.
std::vector<double> means_of_squares(const std::vector<double>& planes, std::size_t columns, std::size_t rows,
                                     std::size_t side) {
  if (side == 1) return planes;
  const std::size_t pixels = columns * rows, coarse = pixels / (side * side);
  std::vector<double> means(planes.size() / (side * side));
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const std::size_t row = i % pixels / columns, column = i % columns;
    means[i / pixels * coarse + row / side * (columns / side) + column / side] += planes[i] / double(side * side);
  }
  return means;
}

/// Rays in step with the cells, where there can be such.
std::optional<RayLattice> RayImage::lattice() const {
  const ImageTask& task = tasks_.front();
  const GasOutline& gas = work_.outline();
  const Camera& camera = task.job.camera;
  if (!task.job.adds_up || camera.type != CameraType::orthographic || !gas.is_lattice()) return std::nullopt;
  if (camera.pixel() < 1e-6) return std::nullopt;  // of a cell: rounding is no longer small
  return RayLattice(camera, gas.grid, task.job.samples);
}

double RayImage::rays() const {
  const ImageJob& job = tasks_.front().job;
  if (const auto rays = lattice()) {
    double count = 0;
    for (const ImageTile& tile : rays->tiles(0, job.camera.rows)) count += double(tile.pixels());
    return frames() * count;
  }
  return frames() * double(pixels()) * samples_ * samples_;
}

/// Rows of the image that a rank traces one after the other; the next rows are those of the next rank.
int RayImage::rows_at_once() const {
  const ImageJob& job = tasks_.front().job;
  const double rays_of_row = double(job.camera.columns) * job.samples * job.samples;
  const int fit = lattice() ? job.camera.rows : int(std::clamp(rays_at_once / rays_of_row / 8, 1., 4096.)) * 8;
  if (work_.is_cut() || work_.world.is_alone()) return fit;
  constexpr int turns = 4;  // of each rank: rows at the edges of an image take less time
  const int fair = job.camera.rows / (turns * work_.world.ranks());
  return std::min(fit, std::max(fair, 8));
}

/// Rows of pixels as averages over their areas.
void RayImage::trace_in_step(std::size_t part, int row, int rows, std::span<double> planes) {
  const RayLattice rays = *lattice();
  const ImageJob job = rays.job_of(tasks_[part].job);
  const std::vector<ImageTile> tiles = rays.tiles(row, rows);
  for (std::size_t first = 0, last; first < tiles.size(); first = last) {
    double count = 0;
    for (last = first; last < tiles.size() && (count == 0 || count < rays_at_once); ++last) {
      count += double(tiles[last].pixels());
    }
    found_.resize(std::size_t(job.planes) * std::size_t(count));
    const std::span some(tiles.begin() + std::ptrdiff_t(first), tiles.begin() + std::ptrdiff_t(last));
    work_.engine(part).image(job, some, found_);
    rays.average(some, found_, row, rows, planes, work_.options.cpu.threads);
    work_.progress(count / double(tasks_.size()));
  }
}

/// Planes of what this rank sees of a part.
std::vector<double> RayImage::trace_part(std::size_t part) {
  const ImageJob& job = tasks_[part].job;
  const int columns = job.camera.columns, rows = job.camera.rows, at_once = rows_at_once();
  const auto planes = std::size_t(job.planes), row_size = std::size_t(columns);
  const bool in_step = lattice().has_value();
  std::vector<double> image;
  for (int row = 0, turn = 0; row < rows; row += at_once, ++turn) {
    if (!work_.is_cut() && turn % work_.world.ranks() != work_.world.rank()) continue;
    const int some = std::min(at_once, rows - row);
    std::vector<double> numbers(planes * row_size * std::size_t(some));
    if (in_step) {
      trace_in_step(part, row, some, numbers);
    } else {
      const ImageTile strip{0, row, columns, some};
      work_.engine(part).image(job, {&strip, 1}, numbers);
      work_.progress(double(columns) * some * job.samples * job.samples / double(tasks_.size()));
    }
    if (some == rows) return numbers;
    image.resize(planes * row_size * std::size_t(rows));
    for (std::size_t k = 0; k < planes; ++k) {
      std::copy_n(numbers.begin() + std::ptrdiff_t(k * row_size * std::size_t(some)), row_size * std::size_t(some),
                  image.begin() + std::ptrdiff_t((k * std::size_t(rows) + std::size_t(row)) * row_size));
    }
  }
  image.resize(planes * row_size * std::size_t(rows));
  return image;
}

/// Planes of the whole image at the first rank, in units of the task; nothing elsewhere.
std::vector<double> RayImage::trace(double way) {
  const bool cut = work_.is_cut(), one_by_one = cut && tasks_.front().in_order;
  const int finer = one_by_one ? samples_ : 1;
  look(way, finer, one_by_one ? 1 : samples_);
  std::vector<double> partial;
  for (std::size_t p = 0; p < tasks_.size(); ++p) {
    std::vector<double> image = trace_part(p);
    set_units(tasks_[p], image);
    if (partial.empty()) {
      partial = std::move(image);
    } else {
      partial.insert(partial.end(), image.begin(), image.end());
    }
  }
  if (!work_.world.is_alone()) partial = at_first(work_.world, partial);
  if (!work_.world.is_first()) return {};
  if (!one_by_one) return joined(std::move(partial), pixels());
  const Camera& camera = tasks_.front().job.camera;
  return means_of_squares(joined_in_order(partial), std::size_t(camera.columns), std::size_t(camera.rows),
                          std::size_t(finer));
}

/// Edges of pixels: in kpc, in degrees, or tangents of angles.
void write_edges(io::ArrayOutput& file, const std::string& group, const Camera& camera, double length) {
  const char* units = camera.type == CameraType::orthographic  ? "kpc"
                      : camera.type == CameraType::perspective ? ""
                                                               : "deg";
  const auto edges = [&](int count, double half) {
    std::vector<double> out;
    for (int i = 0; i <= count; ++i) out.push_back(half * (2. * i / count - 1));
    return out;
  };
  const bool parallel = camera.type == CameraType::orthographic, all = camera.type == CameraType::equirectangular;
  const double scale = parallel ? length / cm_per_kpc : 1;
  file.write(group + "/edges_right", edges(camera.columns, all ? 180 : camera.half_width * scale), units,
             "edges of the pixels to the right of the middle");
  file.write(group + "/edges_up", edges(camera.rows, all ? 90 : camera.half_height * scale), units,
             "edges of the pixels above the middle");
}

void RayImage::open() {
  if (frames() < 2) return;
  const std::string folder = work_.config.frames.empty() ? frames_folder(work_.options.output) : work_.config.frames;
  pictures_ = std::make_unique<Frames>(folder, keys_->name(), work_.options.overwrite, camera_.path->frames);
}

void RayImage::write(io::ArrayOutput* file) {
  std::vector<double> first;
  std::uint64_t empty = 0;
  try {
    for (std::uint64_t frame = 0; double(frame) < frames(); ++frame) {
      const double way = way_of(frame);
      const std::vector<double> planes = trace(way);
      look(way, 1, samples_);
      if (!work_.world.is_first()) continue;
      std::vector<double> values = values_of(tasks_.front(), planes);
      empty += std::ranges::all_of(values, [](double v) { return v == 0 || std::isnan(v); });
      if (pictures_) pictures_->add(tasks_.front(), values);
      if (frame == 0) first = std::move(values);
    }
  } catch (const Error& e) {
    if (!pictures_) throw;
    throw Error(e.code(), e.what() + pictures_->remain());
  }
  if (!work_.world.is_first()) return;
  if (double(empty) == frames()) {
    warning(
        "{} ({}): every pixel of camera {} is empty. Check the camera (centre, depth, position, direction), the "
        "offset, and the field and its range.",
        RayWork::key(op_), keys_->name(), camera_.name);
  }
  if (pictures_) {
    const std::string written = pictures_->finish();
    if (!work_.options.quiet) message("thor: wrote {}\n", written);
  }
  const ImageTask& task = tasks_.front();
  // A camera that moves is described as it began.
  const GasOutline& gas = work_.outline();
  const Camera camera = build_camera(camera_, gas);
  const auto rows = std::uint64_t(camera.rows), columns = std::uint64_t(camera.columns);
  const std::string group = "/images/" + keys_->name();
  if (task.is_picture) {
    const std::vector<float> rgba(first.begin(), first.end());
    file->write<float>(group + "/rgba", rgba, {rows, columns, 4}, "",
                       "red, green, blue, and the share of the light behind that is held back");
  } else {
    file->write<double>(group + "/value", first, {rows, columns}, task.units, task.meaning);
  }
  write_edges(*file, group, camera, gas.length);
  const auto vector = [&](const char* name, const double(&v)[3], double factor) {
    file->attribute(group, name, std::vector<double>{v[0] * factor, v[1] * factor, v[2] * factor});
  };
  vector("right", camera.right, 1), vector("up", camera.up, 1), vector("direction", camera.forward, -1);
  vector(camera.type == CameraType::orthographic ? "centre" : "position", camera.position, gas.length);
  file->attribute(group, "camera", camera_.name);
  constexpr const char* types[] = {"orthographic", "perspective", "equirectangular"};
  file->attribute(group, "camera_type", std::string(types[int(camera.type)]));
  file->attribute(group, "operator", std::string(keys_->type()));
  for (const auto& [name, value] : task.attributes) file->attribute(group, name, value);
}

}  // namespace

std::unique_ptr<RayProduct> make_image(RaytraceWork& work, std::size_t op) {
  return std::make_unique<RayImage>(work, op);
}

}  // namespace thor
