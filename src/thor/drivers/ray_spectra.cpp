#include <cmath>
#include <numbers>

#include "thor/core/constants.hpp"
#include "thor/drivers/ray_products.hpp"
#include "thor/random/uniform.hpp"

namespace thor {
namespace {

using constants::km;

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

/// Absorption spectra along sightlines.
class RaySpectra final : public RayProduct {
 public:
  RaySpectra(RayWork& work, std::size_t op)
      : work_(work),
        op_(op),
        keys_(std::get<config::AbsorptionOperator>(work.config.operators[op])),
        line_(line_of_rays(work.config, keys_.line, work.key(op) + ".line")),
        sightlines_(
            build_sightlines(keys_.sightlines, work.parts.scene(), work.config.seed, work.key(op) + ".sightlines")) {
    work.say_missed(op, sightlines_);
    work.require_memory(work.key(op), bytes());
    double coldest = HUGE_VAL;
    for (auto& part : work.parts.parts()) {
      coldest = std::min(coldest, part.scene.coldest(part.scene.absorber(line_, keys_.density_field).temperature));
    }
    if (work.parts.is_cut()) coldest = std::ranges::min(everywhere(work.world, {coldest}));
    for (auto& part : work.parts.parts()) {
      plans_.push_back(keys_.plan(line_, part.scene, coldest, sightlines_.longest, work.key(op)));
    }
  }
  double rays() const override { return double(sightlines_.begins.size()); }
  double bytes() const override { return 4. * 3 * double(keys_.bins) * rays(); }
  void write(io::ArrayOutput* file) override;

 private:
  RayWork& work_;
  const std::size_t op_;
  const config::AbsorptionOperator& keys_;
  const Line line_;
  const SightlineList sightlines_;
  std::vector<AbsorptionPlan> plans_;  ///< of each part
};

void RaySpectra::write(io::ArrayOutput* file) {
  const config::AbsorptionOperator& op = keys_;
  const AbsorptionPlan& plan = plans_.front();
  const Absorption& a = plan.absorption;
  const SightlineList& all = sightlines_;
  const std::size_t count = all.begins.size(), fine = std::size_t(a.bins), bins = op.bins;
  const bool cut = work_.parts.is_cut(), observes = op.lsf > 0 || op.signal_to_noise > 0;
  std::vector<float> tau(count * bins), flux(count * bins), observed(observes ? count * bins : 0);
  std::vector<double> columns(count), width(count);
  const std::size_t at_once = std::clamp<std::size_t>((std::size_t(1) << 25) / fine, 1, 4096);
  std::size_t block = 0;
  for (std::size_t first = 0; first < count; first += at_once, ++block) {
    const std::size_t some = std::min(at_once, count - first);
    const bool mine = cut || int(block % std::size_t(work_.world.ranks())) == work_.world.rank();
    std::vector<double> own;
    if (mine) {
      SightlineRays rays;
      for (std::size_t i = first; i < first + some; ++i) {
        for (std::uint32_t k = all.rays.first[i]; k < all.rays.first[i + 1]; ++k) rays.rays.push_back(all.rays.rays[k]);
        rays.first.push_back(std::uint32_t(rays.rays.size()));
      }
      std::vector<float> depth(some * fine);
      std::vector<double> sum(some * fine), column(some), more(some);
      for (std::size_t p = 0; p < plans_.size(); ++p) {
        work_.parts.parts()[p].tracer->absorb(rays, plans_[p].absorption, depth, more);
        for (std::size_t i = 0; i < depth.size(); ++i) sum[i] += double(depth[i]);
        for (std::size_t i = 0; i < some; ++i) column[i] += more[i];
      }
      own.insert(own.end(), sum.begin(), sum.end());
      own.insert(own.end(), column.begin(), column.end());
    }
    work_.progress(double(some));
    if (!work_.world.is_alone()) own = at_first(work_.world, own);
    if (!work_.world.is_first()) continue;
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
          const StreamKey words = stream_key(work_.config.seed ^ mix64(op_ + 1), line * bins + b);
          value += std::numbers::sqrt2 * gaussian_pair<double>(words.word[0], words.word[1]).first / op.signal_to_noise;
        }
        observed[line * bins + b] = float(value);
      }
    }
  }
  if (!work_.world.is_first()) return;
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
  file->attribute(group, "line", line_.name);
  file->attribute(group, "wavelength0", plan.wavelength0 / constants::angstrom);
  file->attribute(group, "axis", std::string(in_velocity ? "velocity" : "wavelength"));
  file->attribute(group, "oversampling", std::int64_t(plan.oversampling));
  const RayScene& scene = work_.parts.scene();
  file->attribute(group, "hubble", scene.is_grid() ? scene.shape().hubble : 0.);
  if (op.lsf > 0) file->attribute(group, "lsf_fwhm", op.lsf / km);
  if (op.signal_to_noise > 0) file->attribute(group, "signal_to_noise", op.signal_to_noise);
}

}  // namespace

std::unique_ptr<RayProduct> make_spectra(RayWork& work, std::size_t op) {
  return std::make_unique<RaySpectra>(work, op);
}

}  // namespace thor
