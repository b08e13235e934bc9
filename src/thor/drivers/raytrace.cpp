#include "thor/drivers/raytrace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "thor/config/nearest.hpp"
#include "thor/core/constants.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/frames.hpp"
#include "thor/drivers/provenance.hpp"
#include "thor/io/fingerprint.hpp"
#include "thor/io/partial.hpp"
#include "thor/random/uniform.hpp"

namespace thor {
namespace {

using constants::km;

/// Numbers of all ranks at the first one, one after the other.
std::vector<double> at_first(const comm::World& world, const std::vector<double>& own) {
  std::vector<std::uint64_t> words(own.size());
  std::ranges::transform(own, words.begin(), [](double v) { return std::bit_cast<std::uint64_t>(v); });
  words = world.at_first(words);
  std::vector<double> all(words.size());
  std::ranges::transform(words, all.begin(), [](std::uint64_t w) { return std::bit_cast<double>(w); });
  return all;
}
/// Numbers of all ranks on all of them.
std::vector<double> everywhere(const comm::World& world, const std::vector<double>& own) {
  const std::vector<double> all = at_first(world, own);
  std::vector<std::uint64_t> words(all.size());
  std::ranges::transform(all, words.begin(), [](double v) { return std::bit_cast<std::uint64_t>(v); });
  words = world.from_first(words);
  std::vector<double> out(words.size());
  std::ranges::transform(words, out.begin(), [](std::uint64_t w) { return std::bit_cast<double>(w); });
  return out;
}

void require_memory(const std::string& key, double bytes) {
  const double available = available_memory();
  if (bytes <= available) return;
  throw Error(ExitCode::device,
              fmt::format("{}: out of memory: it takes {}, and {} are free; take fewer pixels, bins or "
                          "sightlines, or a machine with more memory",
                          key, size_text(bytes), size_text(available)));
}

/// The operators of a run, one after the other.
class Raytracing {
 public:
  Raytracing(const config::Raytrace& config, const RunOptions& options)
      : config_(config),
        options_(options),
        alone_(comm::World::Alone{}),
        world_(options.world ? *options.world : alone_),
        parts_(config, options) {}

  ExitCode run();
  RaysCost check();

 private:
  /// An operator with a camera: what each part has to trace.
  struct Picture {
    std::size_t op;
    const config::Camera* camera;
    std::vector<ImageTask> plans;  ///< of each part
  };
  struct Spectra {
    std::size_t op;
    const config::AbsorptionOperator* keys;
    Line line;
    SightlineList sightlines;
    std::vector<AbsorptionPlan> plans;
  };
  struct Traces {
    std::size_t op;
    const config::TracerOperator* keys;
    std::vector<std::string> names, units;
    SightlineList sightlines;
    std::vector<std::vector<FieldUse>> uses;  ///< of each part
  };

  std::string key(std::size_t op) const { return fmt::format("operators.{}", op); }
  void plan();
  double total_of_rays() const;
  void look_at_clock();
  void progress(double rays);
  std::vector<double> trace(Picture& picture, double progress);
  std::vector<double> compose(const Picture& picture, std::vector<double> partial) const;
  void write(io::ArrayOutput* file, Picture& picture);
  void write(io::ArrayOutput* file, Spectra& spectra);
  void write(io::ArrayOutput* file, const Traces& traces);
  void say_missed(std::size_t op, const SightlineList& sightlines) const;

  const config::Raytrace& config_;
  const RunOptions& options_;
  const comm::World alone_;
  const comm::World& world_;
  RayParts parts_;
  std::vector<Picture> pictures_;
  std::vector<Spectra> spectra_;
  std::vector<Traces> traces_;
  std::unique_ptr<Progress> progress_;
  double done_ = 0;
};

void Raytracing::plan() {
  for (std::size_t i = 0; i < config_.operators.size(); ++i) {
    const auto plan_one = [&]<class T>(const T& op) {
      if constexpr (requires { op.camera; }) {
        const config::Camera& camera = config_.camera(op.camera);
        const double pixels = double(camera.pixels) * double(camera.rows);
        require_memory(fmt::format("cameras ({})", camera.name), 8 * 6 * pixels);
        Picture picture{i, &camera, {}};
        std::vector<double> means;
        if constexpr (std::is_same_v<T, config::RenderOperator>) {
          for (const config::RenderLayerKeys& layer : layers_of(op)) {
            double sum = 0;
            for (auto& part : parts_.parts())
              sum += layer.brightness.empty() ? 0 : part.scene.mean_of(layer.brightness);
            const std::vector<double> all = parts_.is_cut() ? everywhere(world_, {sum}) : std::vector<double>{sum};
            means.push_back(0);
            for (const double m : all) means.back() += m;
          }
        }
        for (auto& part : parts_.parts()) {
          if constexpr (std::is_same_v<T, config::RenderOperator>) {
            picture.plans.push_back(plan_image(op, part.scene, means));
          } else {
            picture.plans.push_back(plan_image(op, part.scene));
          }
          look_through(picture.plans.back(), build_camera(camera, part.scene), part.scene);
        }
        pictures_.push_back(std::move(picture));
      } else if constexpr (std::is_same_v<T, config::AbsorptionOperator>) {
        Spectra spectra{i, &op, line_of_rays(config_, op.line, key(i) + ".line"), {}, {}};
        spectra.sightlines = build_sightlines(op.sightlines, parts_.scene(), config_.seed, key(i) + ".sightlines");
        say_missed(i, spectra.sightlines);
        require_memory(key(i), 4. * 3 * double(op.bins) * double(spectra.sightlines.begins.size()));
        double coldest = HUGE_VAL;
        for (auto& part : parts_.parts()) {
          coldest =
              std::min(coldest, part.scene.coldest(part.scene.absorber(spectra.line, op.density_field).temperature));
        }
        if (parts_.is_cut()) coldest = std::ranges::min(everywhere(world_, {coldest}));
        for (auto& part : parts_.parts()) {
          spectra.plans.push_back(
              plan_absorption(op, spectra.line, part.scene, coldest, spectra.sightlines.longest, key(i)));
        }
        spectra_.push_back(std::move(spectra));
      } else {
        Traces traces{i, &op, config::listed(op.fields), {}, {}, {}};
        traces.sightlines = build_sightlines(op.sightlines, parts_.scene(), config_.seed, key(i) + ".sightlines");
        say_missed(i, traces.sightlines);
        for (auto& part : parts_.parts()) {
          std::vector<FieldUse> uses;
          for (const std::string& name : traces.names) uses.push_back(part.scene.use(name));
          traces.uses.push_back(std::move(uses));
        }
        for (const FieldUse& use : traces.uses.front()) traces.units.push_back(use.units);
        traces_.push_back(std::move(traces));
      }
    };
    try {
      std::visit(plan_one, config_.operators[i]);
    } catch (const Error& e) {  // such as a field that is not there
      const std::string what = e.what();
      if (what.starts_with("operators") || what.starts_with("camera")) throw;
      throw Error(e.code(), fmt::format("{}: {}", key(i), what));
    }
  }
}

void Raytracing::say_missed(std::size_t op, const SightlineList& sightlines) const {
  if (sightlines.missed == 0) return;
  warning("{}: {} of {} sightlines do not meet the gas, and show none", key(op), sightlines.missed,
          sightlines.begins.size());
}

double Raytracing::total_of_rays() const {
  double rays = 0;
  for (const Picture& p : pictures_) {
    rays += rays_of(p.plans.front().job) * (p.camera->path ? double(p.camera->path->frames) : 1);
  }
  for (const Spectra& s : spectra_) rays += double(s.sightlines.begins.size());
  for (const Traces& t : traces_) rays += double(t.sightlines.begins.size());
  return rays;
}

void Raytracing::look_at_clock() {
  stop_if_interrupted();
  if (options_.max_walltime > 0 && progress_->seconds() > options_.max_walltime) {
    throw Error(ExitCode::stopped, "stopped by --max-walltime before the rays had ended; nothing was written");
  }
}

void Raytracing::progress(double rays) {
  done_ += rays;
  progress_->update(std::uint64_t(done_));
  look_at_clock();
}

/// Planes in units of the plan, whole at the first rank, and of no use elsewhere.
std::vector<double> Raytracing::trace(Picture& picture, double progress_of_path) {
  const bool cut = parts_.is_cut();
  std::vector<double> partial;
  for (std::size_t p = 0; p < picture.plans.size(); ++p) {
    ImageTask& plan = picture.plans[p];
    auto& part = parts_.parts()[p];
    look_through(plan, build_camera(*picture.camera, part.scene, progress_of_path), part.scene);
    ImageJob job = plan.job;
    if (cut && job.kind == ImageKind::render) {  // rays are put together one by one
      job.camera.columns *= plan.samples, job.camera.rows *= plan.samples, job.across = job.up = {};
    }
    const int columns = job.camera.columns, rows = job.camera.rows, planes = planes_of(job);
    const double rays_of_row = rays_of(job) / rows;
    const int at_once = int(std::clamp(0x1p22 / rays_of_row / 32, 1., 1024.)) * 32;
    const auto row_size = std::size_t(columns);
    std::vector<double> image(std::size_t(planes) * row_size * std::size_t(rows));
    int band = 0;
    for (int row = 0; row < rows; row += at_once, ++band) {
      if (!cut && band % world_.ranks() != world_.rank()) continue;
      const int some = std::min(at_once, rows - row);
      std::vector<double> numbers(std::size_t(planes) * row_size * std::size_t(some));
      part.tracer->image(job, row, some, numbers);
      for (std::size_t k = 0; k < std::size_t(planes); ++k) {
        std::copy_n(numbers.begin() + std::ptrdiff_t(k * row_size * std::size_t(some)), row_size * std::size_t(some),
                    image.begin() + std::ptrdiff_t((k * std::size_t(rows) + std::size_t(row)) * row_size));
      }
      progress(rays_of_row * some / double(picture.plans.size()));
    }
    set_units(plan, image);
    partial.insert(partial.end(), image.begin(), image.end());
  }
  if (world_.is_alone() && !cut) return partial;
  partial = at_first(world_, partial);
  if (!world_.is_first()) return {};
  return compose(picture, std::move(partial));
}

std::vector<double> Raytracing::compose(const Picture& picture, std::vector<double> partial) const {
  const ImageJob& job = picture.plans.front().job;
  const auto planes = std::size_t(planes_of(job));
  const int fine = parts_.is_cut() && job.kind == ImageKind::render ? picture.plans.front().samples : 1;
  const int columns = job.camera.columns * fine, rows = job.camera.rows * fine;
  const auto pixels = std::size_t(columns) * std::size_t(rows), size = planes * pixels;
  const std::size_t images = partial.size() / size;
  if (!parts_.is_cut() || job.kind != ImageKind::render) {  // each rank has bands, and parts add up
    std::vector<double> sum(size);
    for (std::size_t image = 0; image < images; ++image) {
      const double* const more = partial.data() + image * size;
      for (std::size_t i = 0; i < size; ++i) {
        // A point of a slice is in one part; on a face between parts it has the value of the first.
        const bool known = job.kind == ImageKind::slice && sum[pixels + i % pixels] > 0 && i < pixels;
        const bool counted = job.kind == ImageKind::slice && i >= pixels && sum[i] > 0;
        if (!known && !counted) sum[i] += more[i];
      }
    }
    return sum;
  }
  // Which domain each image is of, in the order of ranks.
  const Domains& domains = parts_.domains();
  std::vector<int> domain_of;
  for (int rank = 0; rank < world_.ranks(); ++rank) {
    for (int d = 0; d < domains.count(); ++d) {
      if (domains.holders(d, world_.ranks()).front() == rank) domain_of.push_back(d);
    }
  }
  const RayScene& scene = const_cast<Raytracing*>(this)->parts_.scene();
  Camera camera = job.camera;
  camera.columns = columns, camera.rows = rows;
  std::vector<double> whole(size);
  std::vector<std::pair<double, std::size_t>> order(images);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const StraightRay ray = camera_ray(camera, column + 0.5, row + 0.5);
      for (std::size_t i = 0; i < images; ++i) {
        const CellBox& box = domains.box(domain_of[i]);
        double enters = -HUGE_VAL;
        for (std::size_t k = 0; k < 3; ++k) {
          if (ray.direction[k] == 0) continue;
          const double low = double(box.first[k]) + scene.shape().origin[k] / scene.length();
          const double face = ray.direction[k] > 0 ? low : low + double(box.count[k]);
          enters = std::max(enters, (face - ray.position[k]) / ray.direction[k]);
        }
        order[i] = {enters, i};
      }
      std::ranges::sort(order);
      const auto pixel = std::size_t(row) * std::size_t(columns) + std::size_t(column);
      double through = 1;
      for (const auto& entry : order) {
        const double* image = partial.data() + entry.second * size + pixel;
        for (std::size_t c = 0; c < 3; ++c) whole[c * pixels + pixel] += through * image[c * pixels];
        through *= 1 - image[3 * pixels];
      }
      whole[3 * pixels + pixel] = 1 - through;
    }
  }
  if (fine == 1) return whole;
  const auto coarse = std::size_t(job.camera.columns) * std::size_t(job.camera.rows);
  std::vector<double> means(planes * coarse);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t row = i % pixels / std::size_t(columns), column = i % std::size_t(columns);
    means[i / pixels * coarse + row / std::size_t(fine) * std::size_t(job.camera.columns) +
          column / std::size_t(fine)] += whole[i] / (fine * fine);
  }
  return means;
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

void Raytracing::write(io::ArrayOutput* file, Picture& picture) {
  std::unique_ptr<Frames> frames;
  const std::string name = std::visit([](const auto& op) { return op.name; }, config_.operators[picture.op]);
  const std::uint64_t count = picture.camera->path ? picture.camera->path->frames : 1;
  if (count > 1 && world_.is_first()) {
    const std::string folder = config_.frames.empty() ? frames_folder(options_.output) : config_.frames;
    frames = std::make_unique<Frames>(folder, name, options_.overwrite);
  }
  std::vector<double> first;
  for (std::uint64_t frame = 0; frame < count; ++frame) {
    const std::vector<double> planes = trace(picture, count > 1 ? progress_of(*picture.camera->path, frame) : 0);
    if (!world_.is_first()) continue;
    std::vector<double> values = values_of(picture.plans.front(), planes);
    if (frames) frames->add(picture.plans.front().job, values);
    if (frame == 0) first = std::move(values);
  }
  if (!world_.is_first()) return;
  if (frames && !options_.quiet) message("thor: wrote {}\n", frames->finish());
  const ImageTask& plan = picture.plans.front();
  // A camera that moves is described as it began.
  const Camera camera = build_camera(*picture.camera, parts_.scene());
  const auto rows = std::uint64_t(camera.rows), columns = std::uint64_t(camera.columns);
  const std::string group = "/images/" + name;
  if (plan.job.kind == ImageKind::render) {
    const std::vector<float> rgba(first.begin(), first.end());
    file->write<float>(group + "/rgba", rgba, {rows, columns, 4}, "",
                       "red, green, blue, and the share of the light behind that is held back");
  } else {
    file->write<double>(group + "/value", first, {rows, columns}, plan.units,
                        plan.job.kind == ImageKind::slice   ? "the field in a plane"
                        : plan.job.projection.is_weighted() ? "mean of the field along the ray of each pixel"
                                                            : "integral of the field along the ray of each pixel");
  }
  const RayScene& scene = parts_.scene();
  write_edges(*file, group, camera, scene.length());
  const auto vector = [&](const char* name, const double(&v)[3], double factor) {
    file->attribute(group, name, std::vector<double>{v[0] * factor, v[1] * factor, v[2] * factor});
  };
  vector("right", camera.right, 1), vector("up", camera.up, 1), vector("direction", camera.forward, -1);
  vector(camera.type == CameraType::orthographic ? "centre" : "position", camera.position, scene.length());
  file->attribute(group, "camera", picture.camera->name);
  constexpr const char* types[] = {"orthographic", "perspective", "equirectangular"};
  file->attribute(group, "camera_type", std::string(types[int(camera.type)]));
  std::visit(
      [&]<class T>(const T& op) {
        file->attribute(group, "operator", std::string(T::type));
        if constexpr (requires { op.field; }) file->attribute(group, "field", op.field);
        if constexpr (requires { op.weight; }) file->attribute(group, "weight", op.weight);
        if constexpr (requires { op.layer; }) file->attribute(group, "field", op.layer.field);
      },
      config_.operators[picture.op]);
}

/// Convolves with a Gaussian of a standard deviation in bins, from which nothing is lost at the ends.
std::vector<double> smoothed(const std::vector<double>& flux, double sigma) {
  if (!(sigma > 0)) return flux;
  const auto reach = std::ptrdiff_t(std::min(std::ceil(5 * sigma), double(flux.size())));
  std::vector<double> kernel;
  for (std::ptrdiff_t k = -reach; k <= reach; ++k) kernel.push_back(std::exp(-0.5 * std::pow(double(k) / sigma, 2)));
  std::vector<double> out(flux.size());
  const auto count = std::ptrdiff_t(flux.size());
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    double sum = 0, weight = 0;
    for (std::ptrdiff_t k = std::max(-reach, -i); k <= std::min(reach, count - 1 - i); ++k) {
      sum += kernel[std::size_t(k + reach)] * flux[std::size_t(i + k)], weight += kernel[std::size_t(k + reach)];
    }
    out[std::size_t(i)] = sum / weight;
  }
  return out;
}

void Raytracing::write(io::ArrayOutput* file, Spectra& spectra) {
  const config::AbsorptionOperator& op = *spectra.keys;
  const AbsorptionPlan& plan = spectra.plans.front();
  const Absorption& a = plan.absorption;
  const SightlineList& all = spectra.sightlines;
  const std::size_t count = all.begins.size(), fine = std::size_t(a.bins), bins = op.bins;
  const bool cut = parts_.is_cut(), observes = op.lsf > 0 || op.signal_to_noise > 0;
  std::vector<float> tau(count * bins), flux(count * bins), observed(observes ? count * bins : 0);
  std::vector<double> columns(count), width(count);
  const std::size_t at_once = std::clamp<std::size_t>((std::size_t(1) << 25) / fine, 1, 4096);
  std::size_t block = 0;
  for (std::size_t first = 0; first < count; first += at_once, ++block) {
    const std::size_t some = std::min(at_once, count - first);
    const bool mine = cut || int(block % std::size_t(world_.ranks())) == world_.rank();
    std::vector<double> own;
    if (mine) {
      SightlineRays rays;
      for (std::size_t i = first; i < first + some; ++i) {
        for (std::uint32_t k = all.rays.first[i]; k < all.rays.first[i + 1]; ++k) rays.rays.push_back(all.rays.rays[k]);
        rays.first.push_back(std::uint32_t(rays.rays.size()));
      }
      std::vector<float> depth(some * fine);
      std::vector<double> sum(some * fine), column(some), more(some);
      for (std::size_t p = 0; p < spectra.plans.size(); ++p) {
        parts_.parts()[p].tracer->absorb(rays, spectra.plans[p].absorption, depth, more);
        for (std::size_t i = 0; i < depth.size(); ++i) sum[i] += double(depth[i]);
        for (std::size_t i = 0; i < some; ++i) column[i] += more[i];
      }
      own.insert(own.end(), sum.begin(), sum.end());
      own.insert(own.end(), column.begin(), column.end());
    }
    progress(double(some));
    if (!world_.is_alone()) own = at_first(world_, own);
    if (!world_.is_first()) continue;
    const std::size_t size = some * (fine + 1);
    for (std::size_t of_rank = size; of_rank < own.size(); of_rank += size) {
      for (std::size_t i = 0; i < size; ++i) own[i] += own[of_rank + i];
    }
    for (std::size_t i = 0; i < some; ++i) {
      const std::size_t line = first + i;
      columns[line] = own[some * fine + i];
      std::vector<double> fluxes(fine);
      for (std::size_t b = 0; b < fine; ++b) fluxes[b] = std::exp(-own[i * fine + b]);
      const std::size_t m = fine / bins;
      const auto bin = [&](const std::vector<double>& values, std::size_t b) {
        double mean = 0;
        for (std::size_t k = b * m; k < (b + 1) * m; ++k) mean += values[k] / double(m);
        return mean;
      };
      for (std::size_t b = 0; b < bins; ++b) {
        double depth = 0;
        for (std::size_t k = b * m; k < (b + 1) * m; ++k) depth += own[i * fine + k] / double(m);
        tau[line * bins + b] = float(depth);
        const double mean = bin(fluxes, b);
        flux[line * bins + b] = float(mean);
        const double low = plan.wavelength0 * std::exp(plan.edges[b] / constants::c);
        const double high = plan.wavelength0 * std::exp(plan.edges[b + 1] / constants::c);
        width[line] += (1 - mean) * (high - low) / constants::angstrom;
      }
      if (!observes) continue;
      const std::vector<double> seen = smoothed(fluxes, op.lsf / (2 * std::sqrt(2 * std::numbers::ln2)) / a.width);
      for (std::size_t b = 0; b < bins; ++b) {
        double value = bin(seen, b);
        if (op.signal_to_noise > 0) {
          const StreamKey words = stream_key(config_.seed ^ mix64(spectra.op + 1), line * bins + b);
          value += std::numbers::sqrt2 * gaussian_pair<double>(words.word[0], words.word[1]).first / op.signal_to_noise;
        }
        observed[line * bins + b] = float(value);
      }
    }
  }
  if (!world_.is_first()) return;
  const std::string group = "/absorption/" + op.name;
  const std::vector<std::uint64_t> shape{count, bins};
  file->write<float>(group + "/tau", tau, shape, "", "optical depth, mean of each bin");
  file->write<float>(group + "/flux", flux, shape, "", "share of the continuum that is left, mean of each bin");
  if (observes)
    file->write<float>(group + "/observed", observed, shape, "", "flux with line-spread function and noise");
  std::vector<double> edges;
  const bool in_velocity = op.axis == config::AbsorptionAxis::velocity;
  for (const double w : plan.edges) {
    edges.push_back(in_velocity ? w / km : plan.wavelength0 * std::exp(w / constants::c) / constants::angstrom);
  }
  file->write(group + "/edges", edges, in_velocity ? "km s-1" : "Angstrom", "edges of the bins");
  file->write(group + "/column_density", columns, "cm-2", "number of absorbing ions along each sightline");
  file->write(group + "/equivalent_width", width, "Angstrom", "integral of 1 - flux over wavelength, within the range");
  std::vector<double> begins, directions;
  for (std::size_t i = 0; i < count; ++i) {
    begins.insert(begins.end(), all.begins[i].begin(), all.begins[i].end());
    directions.insert(directions.end(), all.directions[i].begin(), all.directions[i].end());
  }
  file->write<double>(group + "/begin", begins, {count, 3}, "cm", "where sightlines begin");
  file->write<double>(group + "/direction", directions, {count, 3}, "", "of sightlines, away from the observer");
  file->attribute(group, "line", spectra.line.name);
  file->attribute(group, "wavelength0", plan.wavelength0 / constants::angstrom);
  file->attribute(group, "axis", std::string(in_velocity ? "velocity" : "wavelength"));
  file->attribute(group, "oversampling", std::int64_t(plan.oversampling));
  const RayScene& scene = parts_.scene();
  file->attribute(group, "hubble", scene.is_grid() ? scene.shape().hubble : 0.);
  if (op.lsf > 0) file->attribute(group, "lsf_fwhm", op.lsf / km);
  if (op.signal_to_noise > 0) file->attribute(group, "signal_to_noise", op.signal_to_noise);
}

void Raytracing::write(io::ArrayOutput* file, const Traces& traces) {
  const SightlineList& all = traces.sightlines;
  const std::size_t fields = traces.names.size();
  std::vector<std::int64_t> offsets{0};
  std::vector<double> begins, lengths;
  std::vector<std::vector<double>> values(fields);
  const RayScene& scene = parts_.scene();
  for (std::size_t i = 0; i < all.begins.size(); ++i) {
    std::vector<double> own;  // pieces, one after the other: begin, length, values
    for (std::size_t p = 0; p < parts_.parts().size(); ++p) {
      if (!parts_.is_cut() && !world_.is_first()) break;
      Trace trace{};
      trace.count = int(fields);
      for (std::size_t k = 0; k < fields; ++k) trace.quantity[k] = traces.uses[p][k].quantity;
      for (std::uint32_t r = all.rays.first[i]; r < all.rays.first[i + 1]; ++r) {
        const RayRun run = parts_.parts()[p].tracer->record(all.rays.rays[r], trace);
        for (std::size_t k = 0; k < run.begins.size(); ++k) {
          own.push_back(run.begins[k] * scene.length()), own.push_back(run.lengths[k] * scene.length());
          for (std::size_t f = 0; f < fields; ++f) own.push_back(double(run.values[f][k]) * traces.uses[p][f].unit);
        }
      }
    }
    progress(1);
    if (!world_.is_alone()) own = at_first(world_, own);
    if (!world_.is_first()) continue;
    const std::size_t width = 2 + fields;
    std::vector<std::size_t> order(own.size() / width);
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return own[k * width]; });
    for (const std::size_t k : order) {
      begins.push_back(own[k * width]), lengths.push_back(own[k * width + 1]);
      for (std::size_t f = 0; f < fields; ++f) values[f].push_back(own[k * width + 2 + f]);
    }
    offsets.push_back(std::int64_t(begins.size()));
  }
  if (!world_.is_first()) return;
  const std::string group = "/traces/" + traces.keys->name;
  file->write(group + "/first", offsets, "", "pieces of sightline i are first[i] to first[i + 1]");
  file->write(group + "/begin", begins, "cm", "where a piece begins along its sightline");
  file->write(group + "/length", lengths, "cm", "of a piece");
  for (std::size_t f = 0; f < fields; ++f) {
    std::string name;
    for (const std::string& factor : config::factors_of(traces.names[f]))
      name += (name.empty() ? "" : "_times_") + factor;
    file->write(group + "/" + name, values[f], traces.units[f], traces.names[f] + " in each piece");
  }
}

RaysCost Raytracing::check() {
  plan();
  RaysCost cost{total_of_rays(), parts_.scene().bytes(), parts_.scene().names()};
  double largest = 0;
  for (const Picture& p : pictures_) {
    const Camera& camera = p.plans.front().job.camera;
    largest = std::max(largest, 8. * 6 * camera.columns * camera.rows);
  }
  for (const Spectra& s : spectra_) {
    largest = std::max(largest, 4. * 3 * double(s.keys->bins) * double(s.sightlines.begins.size()));
  }
  cost.memory += largest;
  return cost;
}

ExitCode Raytracing::run() {
  for (const std::string& input : {config_.path, config_.dataset.path, config_.line_list}) {
    if (!input.empty()) io::detail::require_apart(options_.output, input);
  }
  std::optional<io::ArrayOutput> file;
  if (world_.is_first()) file.emplace(options_.output, options_.overwrite);
  if (!options_.quiet && !config_.dataset.path.empty()) message("thor: reading {}\n", config_.dataset.path);
  plan();
  parts_.prepare();
  progress_ = std::make_unique<Progress>(options_.quiet ? ProgressMode::never : options_.progress,
                                         std::uint64_t(total_of_rays()), "rays");
  io::ArrayOutput* const out = file ? &*file : nullptr;
  for (Picture& picture : pictures_) write(out, picture);
  for (Spectra& spectra : spectra_) write(out, spectra);
  for (const Traces& traces : traces_) write(out, traces);
  const double seconds = progress_->seconds();
  progress_.reset();
  if (!world_.is_first()) return ExitCode::done;
  write_provenance(*file, {config_.resolved, config_.seed, config_.precision, parts_.device()});
  file->attribute("/", "driver", std::string("raytrace"));
  if (!config_.dataset.path.empty()) {
    const io::Fingerprint print = io::fingerprint(config_.dataset.path);
    file->attribute("/inputs/0", "path", config_.dataset.path);
    file->attribute("/inputs/0", "bytes", print.bytes);
    file->attribute("/inputs/0", "hash", fmt::format("{:016x}", print.hash));
  }
  const auto set = [&](const char* name, const auto& value) { file->attribute("/summary", name, value); };
  set("complete", true);
  set("rays", std::uint64_t(total_of_rays()));
  set("transport_seconds", seconds);
  set("threads", std::int64_t(options_.cpu.threads));
  set("ranks", std::int64_t(world_.ranks()));
  set("caveats", std::string());
  set("warnings", fmt::format("{}", fmt::join(warnings_said(), "\n")));
  file->commit(options_.overwrite);
  if (!options_.quiet) {
    const double rays = total_of_rays();
    message("thor: {:.4g} rays, {:.3g} a second in {:.3g} s on {}; wrote {}\n", rays, rays / std::max(seconds, 1e-9),
            seconds, parts_.device(), options_.output);
  }
  repeat_warnings();
  return ExitCode::done;
}

}  // namespace

Line line_of_rays(const config::Raytrace& config, const std::string& name, const std::string& key) {
  const std::vector<Line> list = config.line_list.empty() ? lines() : read_lines(config.line_list);
  if (const Line* found = find_line(list, name)) return *found;
  std::vector<std::string> names;
  for (const Line& line : list) names.push_back(line.name);
  throw Error(ExitCode::usage, fmt::format("{}: expected a line of the line list, got \"{}\"{} (lines: {})", key, name,
                                           config::suggestion(name, names), fmt::join(names, ", ")));
}

RayParts::RayParts(const config::Raytrace& config, const RunOptions& options) : config_(config), options_(options) {
  const Line line = line_of_rays(config, config.line, "line");
  if (options.domains.count <= 1) {
    parts_.push_back({0, RayScene(config.dataset, line, options.cpu.threads), nullptr});
    return;
  }
  const comm::World alone(comm::World::Alone{});
  const comm::World& world = options.world ? *options.world : alone;
  const RayScene whole(config.dataset, line, options.cpu.threads);
  if (!whole.is_grid() || config.dataset.path.empty()) {
    throw Error(ExitCode::usage, "--domains: only a grid in a file can be held in parts");
  }
  domains_ = std::make_unique<Domains>(whole.shape().count, false, options.domains.count, 0);
  for (int d = 0; d < domains_->count(); ++d) {
    if (domains_->holders(d, world.ranks()).front() != world.rank()) continue;
    parts_.push_back({d, whole, nullptr});
    parts_.back().scene.set_part(domains_->box(d));
  }
  if (parts_.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("--domains {}: there are {} ranks, and each needs a domain for rays: take as "
                            "many domains as ranks, or more",
                            options.domains.count, world.ranks()));
  }
}

RayParts::~RayParts() = default;

void RayParts::prepare() {
  const int rank = options_.world ? options_.world->rank_on_node() : 0;
  device_ = choose_device(options_, false, rank);
  device_name_ = describe(device_.get(), options_.cpu);
  const auto make = [&]<class Real>(const AnyScene<Real>& scene) {
    return device_ ? make_tracer(scene, options_.cpu, *device_) : make_tracer(scene, options_.cpu);
  };
  for (Part& part : parts_) {
    const bool single = config_.precision == config::Precision::single_ && part.scene.has_single_places();
    part.tracer = single ? make(part.scene.scene<float>()) : make(part.scene.scene<double>());
  }
}

RaysCost check_rays(const config::Raytrace& config, int threads) {
  RunOptions options;
  options.cpu.threads = threads;
  return Raytracing(config, options).check();
}

ExitCode run_raytrace(const config::Raytrace& config, const RunOptions& options) {
  return Raytracing(config, options).run();
}

}  // namespace thor
