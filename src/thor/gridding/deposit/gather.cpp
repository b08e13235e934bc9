#include "thor/gridding/deposit/gather.hpp"

#include <cmath>
#include <utility>

#include "thor/core/parallel_for.hpp"
#include "thor/gridding/deposit/spline.hpp"

namespace thor::gridding {
namespace {

constexpr std::size_t piece = 4096;

void add(std::vector<double>& to, const std::vector<double>& what) {
  for (std::size_t f = 0; f < to.size(); ++f) to[f] += what[f];
}

bool is_beyond(const Vector& position, const Vector& box) {
  constexpr double rounding = 1e-6;
  for (std::size_t a = 0; a < 3; ++a) {
    if (box[a] > 0 && (position[a] < -rounding * box[a] || position[a] > (1 + rounding) * box[a])) return true;
  }
  return false;
}

}  // namespace

Totals::Totals(const FieldList& fields)
    : input(std::size_t(fields.count), 0.), cut(input), speed(std::size_t(fields.species()), 0.) {}

void Totals::add(const Totals& other) {
  gridding::add(input, other.input);
  gridding::add(cut, other.cut);
  momentum += other.momentum;
  gridding::add(speed, other.speed);
  elements += other.elements;
  star_forming += other.star_forming;
  star_forming_mass += other.star_forming_mass;
  star_forming_HI += other.star_forming_HI;
  beyond += other.beyond;
}

Gatherer::Gatherer(const GridRegion& region, const GasOptions& options, int threads)
    : region_(region), options_(options), threads_(threads), totals_(options.fields) {
  limits_.cell_volume = region.lattice.volume();
  limits_.density = options.density_floor;
  limits_.temperature = options.temperature_floor;
  limits_.smoothing = options.smoothing;
  limits_.own_electrons = !options.model.ionization;
  limits_.own_star_forming = !options.model.eos_temperature;
  const Vector& box = region.frame.box;
  // The kernel of a single element that fills the box has a radius of 1.55 sides.
  const double side = *std::max_element(box.begin(), box.end());
  if (box[0] > 0) limits_.widest = 2 * side;
  // Coordinates may be relative to the centre of the box, or may not have been wrapped for some time.
  if (region.frame.wraps) limits_.furthest = 3 * side;
}

Gatherer::Gatherer(const GridRegion& region, const GasOptions& options, int threads, const Layers& slab)
    : Gatherer(region, options, threads) {
  slab_ = slab;
}

double Gatherer::radius(const io::GasBlock& block, std::size_t i) const {
  return options_.smoothing ? block.smoothing_length[i] : kernel_radius(block.mass[i] / block.density[i]);
}

bool Gatherer::touches(const Vector& position, double radius) const {
  if (slab_ && !may_reach(region_.lattice, *slab_, position[0], radius)) return false;
  if (region_.lattice.periodic) return true;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!(position[a] + radius > 0 && position[a] - radius < double(region_.lattice.cells[a]))) return false;
  }
  return true;
}

void Gatherer::sort_out(const io::GasBlock& block, std::optional<io::GasBlock>& repaired) {
  std::vector<unsigned char>& use = use_;
  use.assign(block.count, 1);
  std::vector<std::vector<std::pair<std::size_t, Defect>>> found((block.count + piece - 1) / piece);
  parallel_for(threads_, block.count, piece, [&](std::size_t begin, std::size_t end) {
    Defect defect;
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_sound(block, i, limits_, defect)) found[begin / piece].emplace_back(i, defect);
    }
  });
  for (const auto& list : found) {
    for (const auto& [i, defect] : list) {
      defects_.add(defect, seen_ + i);
      if (options_.on_bad_cells == OnBadCells::floor) {
        if (!repaired) repaired = block;
        use[i] = repair(*repaired, i, limits_);
      } else {
        use[i] = 0;
      }
      ++(use[i] ? defects_.floored : defects_.dropped);
      if (!use[i] && std::isfinite(block.mass[i])) defects_.mass_dropped += block.mass[i];
    }
  }
  seen_ += block.count;
}

template <class Take>
void Gatherer::for_each_place(const io::GasBlock& block, std::size_t i, const Take& take) const {
  const Lattice& lattice = region_.lattice;
  const double r = radius(block, i);
  const auto here = [&](const Vector& d) {
    Vector p;
    for (std::size_t a = 0; a < 3; ++a) p[a] = (d[a] - lattice.lower(int(a))) / lattice.cell;
    if (touches(p, r / lattice.cell)) take(p, r / lattice.cell);
  };
  if (lattice.periodic) {
    here(region_.frame.from_centre(vector_at(block.position, i)));
  } else {
    region_.frame.for_each_image(vector_at(block.position, i), r, here);
  }
}

std::vector<std::uint32_t> Gatherer::first_images(const io::GasBlock& block) const {
  std::vector<std::uint32_t> first(block.count + 1, 0);
  parallel_for(threads_, block.count, piece, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (use_[i]) for_each_place(block, i, [&](const Vector&, double) { ++first[i + 1]; });
    }
  });
  for (std::size_t i = 0; i < block.count; ++i) first[i + 1] += first[i];
  return first;
}

void Gatherer::count_element(const io::GasBlock& block, std::size_t i, std::vector<double>& amount, Totals& sum) const {
  const Vector v = region_.frame.turned(vector_at(block.velocity, i));
  amounts(block, i, gas_state(block, i, options_.model), options_.model, v, options_.fields, amount.data());
  ++sum.elements;
  if (is_beyond(vector_at(block.position, i), region_.frame.box)) ++sum.beyond;
  if (options_.model.is_star_forming(block, i)) {
    ++sum.star_forming;
    sum.star_forming_mass += amount[mass];
    sum.star_forming_HI += amount[HI];
  }
  const double speed = std::sqrt(dot(v, v));
  sum.momentum += block.mass[i] * speed;
  for (int s = 0; s < options_.fields.species(); ++s) {
    sum.speed[std::size_t(s)] += amount[std::size_t(options_.fields.number_of(s))] * speed;
  }
  add(sum.input, amount);
}

Particles Gatherer::gather(const io::GasBlock& original) {
  std::optional<io::GasBlock> repaired;
  sort_out(original, repaired);
  const io::GasBlock& block = repaired ? *repaired : original;
  Particles out;
  out.fields = options_.fields.count;
  if (options_.on_bad_cells == OnBadCells::error && defects_.total() > 0) return out;

  const auto fields = std::size_t(out.fields);
  const std::vector<std::uint32_t> first = first_images(block);
  const std::size_t count = first.back();
  out.position.resize(3 * count);
  out.radius.resize(count);
  out.volume.resize(count);
  out.owner.resize(count);
  out.amount.resize(count * fields);

  const double volume = region_.lattice.volume();
  std::vector<double> scale(fields);
  for (std::size_t f = 0; f < fields; ++f) scale[f] = 1 / (volume * options_.fields.unit(int(f)));
  std::vector<Totals> part((block.count + piece - 1) / piece);
  parallel_for(threads_, block.count, piece, [&](std::size_t begin, std::size_t end) {
    Totals& sum = part[begin / piece] = Totals(options_.fields);
    std::vector<double> amount(fields);
    for (std::size_t i = begin; i < end; ++i) {
      if (!use_[i] || (slab_ && first[i] == first[i + 1])) continue;
      count_element(block, i, amount, sum);
      std::size_t at = first[i];
      if (at == first[i + 1]) add(sum.cut, amount);
      for_each_place(block, i, [&](const Vector& position, double r) {
        std::copy(position.begin(), position.end(), out.position.begin() + std::ptrdiff_t(3 * at));
        out.radius[at] = r;
        out.volume[at] = block.mass[i] / block.density[i] / volume;
        out.owner[at] = std::uint32_t(i);
        for (std::size_t f = 0; f < fields; ++f) out.amount[at * fields + f] = amount[f] * scale[f];
        ++at;
      });
    }
  });
  for (const Totals& sum : part) totals_.add(sum);
  return out;
}

void Gatherer::count_cut(const Particles& particles, const std::vector<double>& inside) {
  const auto fields = std::size_t(particles.fields);
  std::vector<double> cut(fields, 0.);
  for (std::size_t p = 0; p < particles.count();) {
    const double* amount = particles.amount.data() + p * fields;
    double outside = 1;
    for (const auto owner = particles.owner[p]; p < particles.count() && particles.owner[p] == owner; ++p) {
      outside -= inside[p];
    }
    if (outside == 0) continue;
    for (std::size_t f = 0; f < fields; ++f) cut[f] += outside * amount[f];
  }
  for (std::size_t f = 0; f < fields; ++f) cut[f] *= region_.lattice.volume() * options_.fields.unit(int(f));
  add(totals_.cut, cut);
}

}  // namespace thor::gridding
