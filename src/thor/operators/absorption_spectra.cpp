#include <cmath>
#include <numbers>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/operators/absorption_coverage.hpp"
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

/// What becomes of optical depths in fine bins.
struct Spectra {
  std::vector<float> tau, flux, observed;
  std::vector<double> columns, width;  ///< column densities [cm^-2], equivalent widths [Angstrom]
  std::vector<Covered> covered;
};

/// Absorption spectra along sightlines.
class AbsorptionSpectra final : public RayProduct {
 public:
  AbsorptionSpectra(RayWork& work, std::size_t op, const config::AbsorptionOperator& keys);
  double rays() const override { return keys_.sightlines.count(); }
  double bytes() const override;
  double written() const override { return bytes_of_result(); }
  void write(io::ArrayOutput* file) override;

 private:
  bool observes() const { return keys_.lsf > 0 || keys_.signal_to_noise > 0; }
  double bytes_of_result() const { return 4. * (observes() ? 3 : 2) * double(keys_.bins) * rays(); }
  std::size_t fine_bins() const { return std::size_t(plans_.front().absorption.bins); }
  /// Sightlines of a block, which one rank traces.
  std::size_t at_once() const {
    return std::min(std::clamp<std::size_t>((std::size_t(1) << 25) / fine_bins(), 1, 4096), sightlines_.begins.size());
  }
  double images() const;
  void require_images() const;
  SightlineRays images_of(std::size_t first, std::span<double> columns) const;
  std::size_t end_of_piece(const SightlineRays& rays, std::size_t first, std::size_t end) const;
  void absorb(RayEngine& engine, const SightlineRays& rays, const Absorption& whole, std::vector<float>& depth,
              std::vector<double>& columns) const;
  std::vector<double> trace(std::size_t first, std::size_t some) const;
  std::vector<double> block(std::size_t number, std::size_t first, std::size_t some) const;
  void finish(std::size_t line, std::span<const double> depths, Spectra& spectra) const;
  void observe(std::size_t line, std::size_t begin, std::size_t end, const std::vector<double>& fluxes,
               Spectra& spectra) const;
  void write_spectra(io::ArrayOutput& file, const Spectra& spectra) const;
  void write_sightlines(io::ArrayOutput& file) const;

  RayWork& work_;
  const std::size_t op_;
  const config::AbsorptionOperator& keys_;
  const Line line_;
  const SightlineList sightlines_;
  std::vector<AbsorptionPlan> plans_;  ///< of each part
  double fastest_ = 0;                 ///< speed of the gas of a box that repeats, and 5 b of the hottest [cm/s]
};

AbsorptionSpectra::AbsorptionSpectra(RayWork& work, std::size_t op, const config::AbsorptionOperator& keys)
    : work_(work),
      op_(op),
      keys_(keys),
      line_(work.line(keys_.line, RayWork::key(op) + ".line")),
      sightlines_((work.require_memory(RayWork::key(op), bytes_of_result()), work.sightlines(op, keys_.sightlines))) {
  double coldest = HUGE_VAL, hottest = 0;
  for (std::size_t p = 0; p < work.parts(); ++p) {
    FieldSource& gas = work.gas(p);
    const Absorber ion = gas.absorber(line_, keys_.density_field);
    coldest = std::min(coldest, gas.coldest(ion.temperature));
    if (!gas.outline().repeats()) continue;
    fastest_ = std::max(fastest_, gas.fastest(ion.velocity));
    hottest = std::max(hottest, gas.hottest(ion.temperature));
  }
  if (work.is_cut()) {
    coldest = std::ranges::min(everywhere(work.world, {coldest}));
    fastest_ = std::ranges::max(everywhere(work.world, {fastest_}));
    hottest = std::ranges::max(everywhere(work.world, {hottest}));
  }
  for (std::size_t p = 0; p < work.parts(); ++p) {
    plans_.push_back(keys_.plan(line_, work.gas(p), coldest, sightlines_.longest, RayWork::key(op)));
  }
  double widest = 0;
  for (const AtomicTransition* t : line_.absorbing()) {
    widest = std::max(widest, t->thermal_speed(hottest, work.gas(0).b_turb()));
  }
  if (hottest > 0) fastest_ += 5 * widest;
  require_images();
  work.require_memory(RayWork::key(op), bytes());
}

/// Lengths of the box that a sightline goes through for all images that absorb in the range, but for damping wings.
double AbsorptionSpectra::images() const {
  const GasOutline& gas = work_.outline();
  if (!gas.repeats()) return 1;
  const std::vector<double>& edges = plans_.front().edges;
  return (edges.back() - edges.front() + 2 * fastest_) / (gas.hubble * std::ranges::min(gas.size));
}

void AbsorptionSpectra::require_images() const {
  if (images() < 1000) return;
  const GasOutline& gas = work_.outline();
  throw Error(ExitCode::usage,
              fmt::format("{}.range: {:.3g} times as wide as the Hubble flow across the periodic box, {:.3g} km/s; "
                          "expected at most 1000 times: use a narrower range",
                          RayWork::key(op_), images(), gas.hubble * std::ranges::min(gas.size) / km));
}

/// Rays of sightlines from one on through the images of a box that repeats, and the `columns` that this rank has of the
/// sightlines themselves.
SightlineRays AbsorptionSpectra::images_of(std::size_t first, std::span<double> columns) const {
  const SightlineList& all = sightlines_;
  const auto add_columns = [&](const SightlineRays& rays, std::span<double> sums) {
    std::vector<float> depth(sums.size());
    std::vector<double> more(sums.size());
    for (std::size_t p = 0; p < plans_.size(); ++p) {
      Absorption one = plans_[p].absorption;
      one.bins = 1;
      work_.engine(p).follow(rays, SightlineJob(one), depth, more);
      for (std::size_t i = 0; i < more.size(); ++i) sums[i] += more[i];
    }
  };
  add_columns(part_of(all.rays, first, first + columns.size()), columns);
  // A damped line that only an image of the sightline meets may reach into the range.
  std::vector<double> whole(columns.size());
  constexpr std::size_t piece = 64;
  for (std::size_t begin = 0; begin < whole.size(); begin += piece) {
    const std::vector<double> any(std::min(piece, whole.size() - begin), HUGE_VAL);
    add_columns(with_images(work_.outline(), all, first + begin, plans_.front(), fastest_, any),
                std::span(whole).subspan(begin, any.size()));
  }
  if (work_.is_cut()) {
    const std::vector<double> of_ranks = everywhere(work_.world, whole);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      whole[i] = 0;
      for (std::size_t k = i; k < of_ranks.size(); k += whole.size()) whole[i] += of_ranks[k];
    }
  }
  return with_images(work_.outline(), all, first, plans_.front(), fastest_, whole);
}

/// Sightlines from one on, whose tracing takes a second or so: between these, somebody looks at the clock.
std::size_t AbsorptionSpectra::end_of_piece(const SightlineRays& rays, std::size_t first, std::size_t end) const {
  const Absorption& a = plans_.front().absorption;
  const double threads = work_.threads, most_work = work_.is_on_device() ? 0x1p38 : 0x1p28 * threads;
  double work = 0;
  for (std::size_t i = first; i < end; ++i) {
    work += double(a.bins) * std::max(a.pieces, 1) * a.transitions * pieces_of(rays, i, work_.outline());
    if (work > most_work && double(i - first) >= threads) return i;
  }
  return end;
}

/// Spectra with very many bins are traced in parts, between which somebody looks at the clock, too.
void AbsorptionSpectra::absorb(RayEngine& engine, const SightlineRays& rays, const Absorption& whole,
                               std::vector<float>& depth, std::vector<double>& columns) const {
  constexpr int most = 1 << 20;
  if (whole.bins <= most) return engine.follow(rays, SightlineJob(whole), depth, columns);
  std::vector<float> some;
  for (int first = 0; first < whole.bins; first += most) {
    work_.stop_if_due();
    Absorption part = whole;
    part.bins = std::min(most, whole.bins - first), part.first = whole.first + first * whole.width;
    some.resize(columns.size() * std::size_t(part.bins));
    engine.follow(rays, SightlineJob(part), some, columns);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::copy_n(some.begin() + std::ptrdiff_t(i) * part.bins, part.bins,
                  depth.begin() + std::ptrdiff_t(i) * whole.bins + first);
    }
  }
}

double AbsorptionSpectra::bytes() const {
  const double fine = double(fine_bins()), ranks = work_.world.ranks(), some = double(at_once());
  const double depths = 4 + 8, sent = ranks > 1 ? 3 * 8 * (work_.is_cut() ? ranks : 1) : 0;
  const double of_thread = 2 * 8 * (std::min(double(work_.threads), some) + 1);
  const double of_images = work_.outline().repeats() ? some * 3 * (images() + 1) * sizeof(StraightRay) : 0;
  return bytes_of_result() + fine * (some * (depths + sent) + of_thread) + of_images;
}

/// Optical depths that this rank finds along sightlines from `first` on, and then their column densities.
std::vector<double> AbsorptionSpectra::trace(std::size_t first, std::size_t some) const {
  const std::size_t fine = fine_bins();
  const bool repeats = work_.outline().repeats();
  std::vector<double> own(some * (fine + 1));
  const SightlineRays images = repeats ? images_of(first, std::span(own).subspan(some * fine)) : SightlineRays();
  const SightlineRays& rays = repeats ? images : sightlines_.rays;
  const std::size_t start = repeats ? 0 : first;  // of the block, among these
  for (std::size_t from = 0, to = 0; from < some; from = to) {
    to = end_of_piece(rays, start + from, start + some) - start;
    const SightlineRays piece = part_of(rays, start + from, start + to);
    std::vector<float> depth((to - from) * fine);
    std::vector<double> more(to - from);
    const std::span sums = std::span(own).subspan(from * fine, depth.size());
    const std::span sums_of_columns = std::span(own).subspan(some * fine + from, more.size());
    for (std::size_t p = 0; p < plans_.size(); ++p) {
      absorb(work_.engine(p), piece, plans_[p].absorption, depth, more);
      for (std::size_t i = 0; i < depth.size(); ++i) sums[i] += double(depth[i]);
      for (std::size_t i = 0; i < more.size() && !repeats; ++i) sums_of_columns[i] += more[i];
    }
    work_.progress(double(to - from));
  }
  return own;
}

/// The same of all ranks, at the first; where each has all of the gas, they take blocks in turn.
std::vector<double> AbsorptionSpectra::block(std::size_t number, std::size_t first, std::size_t some) const {
  std::vector<double> sums;
  if (work_.is_cut() || int(number % std::size_t(work_.world.ranks())) == work_.world.rank()) {
    sums = trace(first, some);
  } else {
    work_.progress(double(some));
  }
  if (!work_.world.is_alone()) sums = at_first(work_.world, sums);
  const std::size_t size = some * (fine_bins() + 1);
  for (std::size_t of_rank = size; of_rank < sums.size(); of_rank += size) {
    for (std::size_t i = 0; i < size; ++i) sums[i] += sums[of_rank + i];
  }
  return sums;
}

/// Mean over the fine bins of a bin.
double mean_in_bin(std::span<const double> fine, std::size_t bin, std::size_t oversampling) {
  double mean = 0;
  for (const double value : fine.subspan(bin * oversampling, oversampling)) mean += value / double(oversampling);
  return mean;
}

/// The spectrum of a sightline from its optical depths.
void AbsorptionSpectra::finish(std::size_t line, std::span<const double> depths, Spectra& spectra) const {
  const AbsorptionPlan& plan = plans_.front();
  const Covered& covered = spectra.covered[line];
  const std::size_t bins = keys_.bins, m = depths.size() / bins;
  std::size_t begin = 0, end = bins;  // of the bins that are covered
  while (begin < end && !covered.has(plan.edges[begin], plan.edges[begin + 1])) ++begin;
  while (end > begin && !covered.has(plan.edges[end - 1], plan.edges[end])) --end;
  std::vector<double> fluxes((end - begin) * m);
  for (std::size_t k = 0; k < fluxes.size(); ++k) fluxes[k] = std::exp(-depths[begin * m + k]);
  for (std::size_t b = begin; b < end; ++b) {
    spectra.tau[line * bins + b] = float(mean_in_bin(depths, b, m));
    const double mean = mean_in_bin(fluxes, b - begin, m);
    spectra.flux[line * bins + b] = float(mean);
    const double low = plan.wavelength0 * std::exp(plan.edges[b] / constants::c);
    const double high = plan.wavelength0 * std::exp(plan.edges[b + 1] / constants::c);
    spectra.width[line] += (1 - mean) * (high - low) / constants::angstrom;
  }
  if (observes() && end > begin) observe(line, begin, end, fluxes, spectra);
}

/// With line-spread function and noise.
void AbsorptionSpectra::observe(std::size_t line, std::size_t begin, std::size_t end, const std::vector<double>& fluxes,
                                Spectra& spectra) const {
  const std::size_t bins = keys_.bins;
  const double sigma = keys_.lsf / (2 * std::sqrt(2 * std::numbers::ln2)) / plans_.front().absorption.width;
  const std::vector<double> seen = smoothed(fluxes, sigma);
  for (std::size_t b = begin; b < end; ++b) {
    double value = mean_in_bin(seen, b - begin, fine_bins() / bins);
    if (keys_.signal_to_noise > 0) {
      const StreamKey words = stream_key(work_.seed ^ mix64(op_ + 1), line * bins + b);
      value += std::numbers::sqrt2 * gaussian_pair<double>(words.word[0], words.word[1]).first / keys_.signal_to_noise;
    }
    spectra.observed[line * bins + b] = float(value);
  }
}

void AbsorptionSpectra::write(io::ArrayOutput* file) {
  const std::size_t count = sightlines_.begins.size(), fine = fine_bins();
  Spectra spectra;
  spectra.covered = covered_by(work_, sightlines_, plans_, keys_.beyond);
  if (work_.world.is_first()) tell_coverage(spectra.covered, plans_.front(), RayWork::key(op_));
  spectra.tau.assign(count * keys_.bins, NAN), spectra.flux = spectra.tau;
  spectra.observed.assign(observes() ? count * keys_.bins : 0, NAN);
  spectra.columns.resize(count), spectra.width.resize(count);
  std::size_t number = 0;
  for (std::size_t first = 0; first < count; first += at_once(), ++number) {
    const std::size_t some = std::min(at_once(), count - first);
    const std::vector<double> sums = block(number, first, some);
    if (!work_.world.is_first()) continue;
    parallel_for(work_.threads, some, 1, [&](std::size_t i, std::size_t) {
      work_.stop_if_due();
      spectra.columns[first + i] = sums[some * fine + i];
      finish(first + i, std::span(sums).subspan(i * fine, fine), spectra);
    });
  }
  if (!work_.world.is_first()) return;
  write_spectra(*file, spectra);
  write_sightlines(*file);
}

void AbsorptionSpectra::write_spectra(io::ArrayOutput& file, const Spectra& spectra) const {
  const AbsorptionPlan& plan = plans_.front();
  const std::string group = "/absorption/" + keys_.name;
  const std::uint64_t count = sightlines_.begins.size();
  const std::vector<std::uint64_t> shape{count, keys_.bins};
  file.write<float>(group + "/tau", spectra.tau, shape, "",
                    "optical depth, mean of each bin; NaN where it is not known");
  file.write<float>(group + "/flux", spectra.flux, shape, "", "share of the continuum that is left, mean of each bin");
  if (observes()) {
    file.write<float>(group + "/observed", spectra.observed, shape, "", "flux with line-spread function and noise");
  }
  const bool in_velocity = keys_.axis == config::AbsorptionAxis::velocity;
  const char* const unit = in_velocity ? "km s-1" : "Angstrom";
  const auto on_axis = [&](double w) {
    return in_velocity ? w / km : plan.wavelength0 * std::exp(w / constants::c) / constants::angstrom;
  };
  std::vector<double> edges, ends;
  for (const double w : plan.edges) edges.push_back(on_axis(w));
  file.write(group + "/edges", edges, unit, "edges of the bins");
  const bool repeats = work_.outline().repeats();
  const bool unknown = work_.outline().hubble > 0 && !repeats && keys_.beyond == config::GasBeyond::unknown;
  if (unknown) {
    for (const Covered& c : spectra.covered) {
      const bool any = c.high > c.low;
      ends.push_back(any ? on_axis(c.low) : NAN), ends.push_back(any ? on_axis(c.high) : NAN);
    }
    file.write<double>(group + "/covered", ends, {count, 2}, unit, "part of the axis that each sightline covers");
  }
  file.attribute(group, "beyond", std::string(repeats ? "periodic" : unknown ? "unknown" : "empty"));
  file.write(group + "/column_density", spectra.columns, "cm-2", "number of absorbing ions along each sightline");
  file.write(group + "/equivalent_width", spectra.width, "Angstrom",
             "integral of 1 - flux over wavelength, within the range");
}

void AbsorptionSpectra::write_sightlines(io::ArrayOutput& file) const {
  const AbsorptionPlan& plan = plans_.front();
  const std::string group = "/absorption/" + keys_.name;
  const std::uint64_t count = sightlines_.begins.size();
  std::vector<double> begins, directions;
  for (std::size_t i = 0; i < count; ++i) {
    begins.insert(begins.end(), sightlines_.begins[i].begin(), sightlines_.begins[i].end());
    directions.insert(directions.end(), sightlines_.directions[i].begin(), sightlines_.directions[i].end());
  }
  file.write<double>(group + "/begin", begins, {count, 3}, "cm", "where sightlines begin");
  file.write<double>(group + "/direction", directions, {count, 3}, "", "of sightlines, away from the observer");
  file.attribute(group, "line", line_.name);
  file.attribute(group, "wavelength0", plan.wavelength0 / constants::angstrom);
  file.attribute(group, "axis",
                 std::string(keys_.axis == config::AbsorptionAxis::velocity ? "velocity" : "wavelength"));
  file.attribute(group, "oversampling", std::int64_t(plan.oversampling));
  file.attribute(group, "hubble", work_.outline().hubble);
  if (keys_.lsf > 0) file.attribute(group, "lsf_fwhm", keys_.lsf / km);
  if (keys_.signal_to_noise > 0) file.attribute(group, "signal_to_noise", keys_.signal_to_noise);
}

}  // namespace

std::unique_ptr<RayProduct> config::AbsorptionOperator::product(RayWork& work, std::size_t op) const {
  return std::make_unique<AbsorptionSpectra>(work, op, *this);
}

}  // namespace thor
