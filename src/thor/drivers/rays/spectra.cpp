#include <cmath>
#include <numbers>

#include "thor/core/constants.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/drivers/rays/coverage.hpp"
#include "thor/random/uniform.hpp"

namespace thor {
namespace {

using constants::km;

/// Convolves with a Gaussian of a standard deviation in bins, from which nothing is lost at the ends. Within its reach
/// the Gaussian is a sum of cosines; and the sum of the flux times one, over a window that moves, follows from the one
/// before. So the time does not depend on the width.
std::vector<double> smoothed(const std::vector<double>& flux, double sigma) {
  if (!(6 * sigma > 1)) return flux;  // the next bin is out of its reach
  const double cut = std::ceil(5 * sigma);
  const std::size_t count = flux.size(), reach = std::size_t(std::min(cut, double(count)));
  std::vector<double> within(reach + 1);  // sums of the Gaussian from its middle up to a distance
  for (std::size_t k = 0; k <= reach; ++k) {
    within[k] = (k > 0 ? within[k - 1] : 0) + std::exp(-0.5 * std::pow(double(k) / sigma, 2));
  }
  // Beyond the reach, the cosines repeat the Gaussian where it is less than 1e-10.
  const double half_period = cut + sigma, step = std::numbers::pi / half_period;
  const auto terms = std::size_t(std::ceil(6.8 / (step * sigma))) + 1;
  struct Wave {
    double factor, cosine, sine;     ///< of one bin
    double edge_cosine, edge_sine;   ///< at the ends of the window
    double real = 0, imaginary = 0;  ///< the sum over the window, counted from its middle
  };
  std::vector<Wave> waves;
  for (std::size_t m = 0; m < terms; ++m) {
    const double frequency = double(m) * step, edge = frequency * double(reach);
    const double share = std::sqrt(2 * std::numbers::pi) * sigma / (2 * half_period) * (m == 0 ? 1 : 2);
    Wave wave{share * std::exp(-0.5 * std::pow(frequency * sigma, 2)), std::cos(frequency), std::sin(frequency),
              std::cos(edge), std::sin(edge)};
    for (std::size_t k = 0; k <= reach && k < count; ++k) {
      wave.real += flux[k] * std::cos(frequency * double(k)),
          wave.imaginary += flux[k] * std::sin(frequency * double(k));
    }
    waves.push_back(wave);
  }
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double enters = i + 1 + reach < count ? flux[i + 1 + reach] : 0, leaves = i >= reach ? flux[i - reach] : 0;
    double sum = 0;
    for (Wave& wave : waves) {
      sum += wave.factor * wave.real;
      const double real = wave.real - leaves * wave.edge_cosine, imaginary = wave.imaginary + leaves * wave.edge_sine;
      wave.real = wave.cosine * real + wave.sine * imaginary + enters * wave.edge_cosine;
      wave.imaginary = wave.cosine * imaginary - wave.sine * real + enters * wave.edge_sine;
    }
    out[i] = sum / (within[std::min(reach, i)] + within[std::min(reach, count - 1 - i)] - within[0]);
  }
  return out;
}

SightlineRays part_of(const SightlineRays& all, std::size_t first, std::size_t end) {
  SightlineRays rays;
  rays.rays.assign(all.rays.begin() + all.first[first], all.rays.begin() + all.first[end]);
  for (std::size_t i = first; i < end; ++i) rays.first.push_back(all.first[i + 1] - all.first[first]);
  return rays;
}

/// Absorption spectra along sightlines.
class RaySpectra final : public RayProduct {
 public:
  RaySpectra(RayWork& work, std::size_t op)
      : work_(work),
        op_(op),
        keys_(std::get<config::AbsorptionOperator>(work.config.operators[op])),
        line_(line_of_rays(work.config, keys_.line, work.key(op) + ".line")),
        sightlines_((work.require_memory(work.key(op), bytes_of_result()), work.sightlines(op, keys_.sightlines))) {
    double coldest = HUGE_VAL, hottest = 0;
    for (auto& part : work.parts.parts()) {
      const Absorber ion = part.scene.absorber(line_, keys_.density_field);
      coldest = std::min(coldest, part.scene.coldest(ion.temperature));
      if (!part.scene.repeats()) continue;
      fastest_ = std::max(fastest_, part.scene.fastest(ion.velocity));
      hottest = std::max(hottest, part.scene.hottest(ion.temperature));
    }
    if (work.parts.is_cut()) {
      coldest = std::ranges::min(everywhere(work.world, {coldest}));
      fastest_ = std::ranges::max(everywhere(work.world, {fastest_}));
      hottest = std::ranges::max(everywhere(work.world, {hottest}));
    }
    for (auto& part : work.parts.parts()) {
      plans_.push_back(keys_.plan(line_, part.scene, coldest, sightlines_.longest, work.key(op)));
    }
    double widest = 0;
    for (const AtomicTransition* t : line_.absorbing()) {
      widest = std::max(widest, t->thermal_speed(hottest, work.parts.scene().b_turb()));
    }
    if (hottest > 0) fastest_ += 5 * widest;
    require_images();
    work.require_memory(work.key(op), bytes());
  }
  double rays() const override { return keys_.sightlines.count(); }
  double bytes() const override;
  double written() const override { return bytes_of_result(); }
  void write(io::ArrayOutput* file) override;

 private:
  bool observes() const { return keys_.lsf > 0 || keys_.signal_to_noise > 0; }
  double bytes_of_result() const { return 4. * (observes() ? 3 : 2) * double(keys_.bins) * rays(); }
  /// Sightlines of a block, which one rank traces.
  std::size_t at_once() const {
    const auto fine = std::size_t(plans_.front().absorption.bins);
    return std::min(std::clamp<std::size_t>((std::size_t(1) << 25) / fine, 1, 4096), sightlines_.begins.size());
  }
  double images() const;
  void require_images() const;
  SightlineRays images_of(std::size_t first, std::span<double> columns) const;
  std::size_t end_of_piece(const SightlineRays& rays, std::size_t first, std::size_t end) const;
  void absorb(Tracer& tracer, const SightlineRays& rays, const Absorption& whole, std::vector<float>& depth,
              std::vector<double>& columns) const;
  RayWork& work_;
  const std::size_t op_;
  const config::AbsorptionOperator& keys_;
  const Line line_;
  const SightlineList sightlines_;
  std::vector<AbsorptionPlan> plans_;  ///< of each part
  double fastest_ = 0;                 ///< speed of the gas of a box that repeats, and 5 b of the hottest [cm/s]
};

/// Lengths of the box that a sightline goes through for all images that absorb in the range, but for damping wings.
double RaySpectra::images() const {
  const RayScene& scene = work_.parts.scene();
  if (!scene.repeats()) return 1;
  const std::vector<double>& edges = plans_.front().edges;
  return (edges.back() - edges.front() + 2 * fastest_) / (scene.hubble() * std::ranges::min(scene.size()));
}

void RaySpectra::require_images() const {
  if (images() < 1000) return;
  const RayScene& scene = work_.parts.scene();
  throw Error(ExitCode::usage,
              fmt::format("{}.range: {:.3g} times as wide as the Hubble flow across the periodic box, {:.3g} km/s; "
                          "expected at most 1000 times: use a narrower range",
                          work_.key(op_), images(), scene.hubble() * std::ranges::min(scene.size()) / km));
}

/// Rays of sightlines from one on through the images of a box that repeats, and the `columns` that this rank has of the
/// sightlines themselves.
SightlineRays RaySpectra::images_of(std::size_t first, std::span<double> columns) const {
  const SightlineList& all = sightlines_;
  const auto add_columns = [&](const SightlineRays& rays, std::span<double> sums) {
    std::vector<float> depth(sums.size());
    std::vector<double> more(sums.size());
    for (std::size_t p = 0; p < plans_.size(); ++p) {
      Absorption one = plans_[p].absorption;
      one.bins = 1;
      work_.parts.parts()[p].tracer->absorb(rays, one, depth, more);
      for (std::size_t i = 0; i < more.size(); ++i) sums[i] += more[i];
    }
  };
  add_columns(part_of(all.rays, first, first + columns.size()), columns);
  // A damped line that only an image of the sightline meets may reach into the range.
  std::vector<double> whole(columns.size());
  constexpr std::size_t piece = 64;
  for (std::size_t begin = 0; begin < whole.size(); begin += piece) {
    const std::vector<double> any(std::min(piece, whole.size() - begin), HUGE_VAL);
    add_columns(with_images(work_.parts.scene(), all, first + begin, plans_.front(), fastest_, any),
                std::span(whole).subspan(begin, any.size()));
  }
  if (work_.parts.is_cut()) {
    const std::vector<double> of_ranks = everywhere(work_.world, whole);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      whole[i] = 0;
      for (std::size_t k = i; k < of_ranks.size(); k += whole.size()) whole[i] += of_ranks[k];
    }
  }
  return with_images(work_.parts.scene(), all, first, plans_.front(), fastest_, whole);
}

/// Sightlines from one on, whose tracing takes a second or so: between these, somebody looks at the clock.
std::size_t RaySpectra::end_of_piece(const SightlineRays& rays, std::size_t first, std::size_t end) const {
  const Absorption& a = plans_.front().absorption;
  const double threads = work_.options.cpu.threads, most_work = work_.parts.is_on_device() ? 0x1p38 : 0x1p28 * threads;
  double work = 0;
  for (std::size_t i = first; i < end; ++i) {
    work += double(a.bins) * std::max(a.pieces, 1) * a.transitions * pieces_of(rays, i, work_.parts.scene());
    if (work > most_work && double(i - first) >= threads) return i;
  }
  return end;
}

/// Spectra with very many bins are traced in parts, between which somebody looks at the clock, too.
void RaySpectra::absorb(Tracer& tracer, const SightlineRays& rays, const Absorption& whole, std::vector<float>& depth,
                        std::vector<double>& columns) const {
  constexpr int most = 1 << 20;
  if (whole.bins <= most) return tracer.absorb(rays, whole, depth, columns);
  std::vector<float> some;
  for (int first = 0; first < whole.bins; first += most) {
    work_.stop_if_due();
    Absorption part = whole;
    part.bins = std::min(most, whole.bins - first), part.first = whole.first + first * whole.width;
    some.resize(columns.size() * std::size_t(part.bins));
    tracer.absorb(rays, part, some, columns);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::copy_n(some.begin() + std::ptrdiff_t(i) * part.bins, part.bins,
                  depth.begin() + std::ptrdiff_t(i) * whole.bins + first);
    }
  }
}

double RaySpectra::bytes() const {
  const double fine = plans_.front().absorption.bins, ranks = work_.world.ranks(), some = double(at_once());
  const double depths = 4 + 8, sent = ranks > 1 ? 3 * 8 * (work_.parts.is_cut() ? ranks : 1) : 0;
  const double of_thread = 2 * 8 * (std::min(double(work_.options.cpu.threads), some) + 1);
  const double of_images = work_.parts.scene().repeats() ? some * 3 * (images() + 1) * sizeof(StraightRay) : 0;
  return bytes_of_result() + fine * (some * (depths + sent) + of_thread) + of_images;
}

void RaySpectra::write(io::ArrayOutput* file) {
  const config::AbsorptionOperator& op = keys_;
  const AbsorptionPlan& plan = plans_.front();
  const Absorption& a = plan.absorption;
  const SightlineList& all = sightlines_;
  const std::size_t count = all.begins.size(), fine = std::size_t(a.bins), bins = op.bins;
  const bool cut = work_.parts.is_cut(), repeats = work_.parts.scene().repeats();
  const std::vector<Covered> covered = covered_by(work_, all, plans_, op.beyond);
  if (work_.world.is_first()) tell_coverage(covered, plan, work_.key(op_));
  std::vector<float> tau(count * bins, NAN), flux(tau), observed(observes() ? count * bins : 0, NAN);
  std::vector<double> columns(count), width(count);
  std::size_t block = 0;
  for (std::size_t first = 0; first < count; first += at_once(), ++block) {
    const std::size_t some = std::min(at_once(), count - first);
    const bool mine = cut || int(block % std::size_t(work_.world.ranks())) == work_.world.rank();
    std::vector<double> own;  // optical depths, and then column densities
    SightlineRays images;
    if (mine) own.resize(some * (fine + 1));
    if (mine && repeats) images = images_of(first, std::span(own).subspan(some * fine));
    const SightlineRays& rays = repeats ? images : all.rays;
    const std::size_t start = repeats ? 0 : first;  // of the block, among these
    for (std::size_t from = 0, to = 0; mine && from < some; from = to) {
      to = end_of_piece(rays, start + from, start + some) - start;
      const SightlineRays piece = part_of(rays, start + from, start + to);
      std::vector<float> depth((to - from) * fine);
      std::vector<double> more(to - from);
      const std::span sums = std::span(own).subspan(from * fine, depth.size());
      const std::span sums_of_columns = std::span(own).subspan(some * fine + from, more.size());
      for (std::size_t p = 0; p < plans_.size(); ++p) {
        absorb(*work_.parts.parts()[p].tracer, piece, plans_[p].absorption, depth, more);
        for (std::size_t i = 0; i < depth.size(); ++i) sums[i] += double(depth[i]);
        for (std::size_t i = 0; i < more.size() && !repeats; ++i) sums_of_columns[i] += more[i];
      }
      work_.progress(double(to - from));
    }
    if (!mine) work_.progress(double(some));
    if (!work_.world.is_alone()) own = at_first(work_.world, own);
    if (!work_.world.is_first()) continue;
    const std::size_t size = some * (fine + 1);
    for (std::size_t of_rank = size; of_rank < own.size(); of_rank += size) {
      for (std::size_t i = 0; i < size; ++i) own[i] += own[of_rank + i];
    }
    parallel_for(work_.options.cpu.threads, some, 1, [&](std::size_t i, std::size_t) {
      work_.stop_if_due();
      const std::size_t line = first + i;
      columns[line] = own[some * fine + i];
      const std::size_t m = fine / bins;
      std::size_t begin = 0, end = bins;  // of the bins that are covered
      while (begin < end && !covered[line].has(plan.edges[begin], plan.edges[begin + 1])) ++begin;
      while (end > begin && !covered[line].has(plan.edges[end - 1], plan.edges[end])) --end;
      std::vector<double> fluxes((end - begin) * m);
      for (std::size_t k = 0; k < fluxes.size(); ++k) fluxes[k] = std::exp(-own[i * fine + begin * m + k]);
      const auto bin = [&](const std::vector<double>& values, std::size_t b) {
        double mean = 0;
        for (std::size_t k = (b - begin) * m; k < (b - begin + 1) * m; ++k) mean += values[k] / double(m);
        return mean;
      };
      for (std::size_t b = begin; b < end; ++b) {
        double depth = 0;
        for (std::size_t k = b * m; k < (b + 1) * m; ++k) depth += own[i * fine + k] / double(m);
        tau[line * bins + b] = float(depth);
        const double mean = bin(fluxes, b);
        flux[line * bins + b] = float(mean);
        const double low = plan.wavelength0 * std::exp(plan.edges[b] / constants::c);
        const double high = plan.wavelength0 * std::exp(plan.edges[b + 1] / constants::c);
        width[line] += (1 - mean) * (high - low) / constants::angstrom;
      }
      if (!observes() || begin == end) return;
      const std::vector<double> seen = smoothed(fluxes, op.lsf / (2 * std::sqrt(2 * std::numbers::ln2)) / a.width);
      for (std::size_t b = begin; b < end; ++b) {
        double value = bin(seen, b);
        if (op.signal_to_noise > 0) {
          const StreamKey words = stream_key(work_.config.seed ^ mix64(op_ + 1), line * bins + b);
          value += std::numbers::sqrt2 * gaussian_pair<double>(words.word[0], words.word[1]).first / op.signal_to_noise;
        }
        observed[line * bins + b] = float(value);
      }
    });
  }
  if (!work_.world.is_first()) return;
  const std::string group = "/absorption/" + op.name;
  const std::vector<std::uint64_t> shape{count, bins};
  file->write<float>(group + "/tau", tau, shape, "", "optical depth, mean of each bin; NaN where it is not known");
  file->write<float>(group + "/flux", flux, shape, "", "share of the continuum that is left, mean of each bin");
  if (observes())
    file->write<float>(group + "/observed", observed, shape, "", "flux with line-spread function and noise");
  const bool in_velocity = op.axis == config::AbsorptionAxis::velocity;
  const char* const unit = in_velocity ? "km s-1" : "Angstrom";
  const auto on_axis = [&](double w) {
    return in_velocity ? w / km : plan.wavelength0 * std::exp(w / constants::c) / constants::angstrom;
  };
  std::vector<double> edges, ends;
  for (const double w : plan.edges) edges.push_back(on_axis(w));
  file->write(group + "/edges", edges, unit, "edges of the bins");
  const RayScene& scene = work_.parts.scene();
  const bool unknown = scene.hubble() > 0 && !repeats && op.beyond == config::GasBeyond::unknown;
  if (unknown) {
    for (const Covered& c : covered) {
      const bool any = c.high > c.low;
      ends.push_back(any ? on_axis(c.low) : NAN), ends.push_back(any ? on_axis(c.high) : NAN);
    }
    file->write<double>(group + "/covered", ends, {count, 2}, unit, "part of the axis that each sightline covers");
  }
  file->attribute(group, "beyond", std::string(repeats ? "periodic" : unknown ? "unknown" : "empty"));
  file->write(group + "/column_density", columns, "cm-2", "number of absorbing ions along each sightline");
  file->write(group + "/equivalent_width", width, "Angstrom", "integral of 1 - flux over wavelength, within the range");
  std::vector<double> begins, directions;
  for (std::size_t i = 0; i < count; ++i) {
    begins.insert(begins.end(), all.begins[i].begin(), all.begins[i].end());
    directions.insert(directions.end(), all.directions[i].begin(), all.directions[i].end());
  }
  file->write<double>(group + "/begin", begins, {count, 3}, "cm", "where sightlines begin");
  file->write<double>(group + "/direction", directions, {count, 3}, "", "of sightlines, away from the observer");
  file->attribute(group, "line", line_.name);
  file->attribute(group, "wavelength0", plan.wavelength0 / constants::angstrom);
  file->attribute(group, "axis", std::string(in_velocity ? "velocity" : "wavelength"));
  file->attribute(group, "oversampling", std::int64_t(plan.oversampling));
  file->attribute(group, "hubble", scene.hubble());
  if (op.lsf > 0) file->attribute(group, "lsf_fwhm", op.lsf / km);
  if (op.signal_to_noise > 0) file->attribute(group, "signal_to_noise", op.signal_to_noise);
}

}  // namespace

std::unique_ptr<RayProduct> make_spectra(RayWork& work, std::size_t op) {
  return std::make_unique<RaySpectra>(work, op);
}

}  // namespace thor
