#include "thor/outputs/tally.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>

namespace thor {
namespace {

/// The cells of one thread.
struct PlainCells {
  std::uint64_t* cells;
  void add(std::int64_t i, std::uint64_t value) const { cells[i] += value; }
  void raise(std::int64_t i, std::uint64_t value) const { cells[i] = std::max(cells[i], value); }
};

/// Cells of one thread's own, and those that all threads share.
struct PartCells {
  std::uint64_t* own;
  std::uint64_t* shared;
  std::int64_t count;  ///< number of its own cells
  void add(std::int64_t i, std::uint64_t value) const {
    if (i < count) {
      own[i] += value;
    } else {
      std::atomic_ref(shared[i]).fetch_add(value, std::memory_order_relaxed);
    }
  }
  void raise(std::int64_t i, std::uint64_t value) const { own[i] = std::max(own[i], value); }
};

/// Makes room for a plan at the end of the cells.
template <class Plan>
void place(Plan& plan, std::int64_t& cells, double quantum, double quantum_squared) {
  if constexpr (requires { plan.sky; }) {
    if (plan.sky.observer >= 0) quantum = std::ldexp(quantum, 62 + seen_quantum);
  }
  plan.bins.first = cells;
  plan.bins.quantum = quantum;
  plan.bins.quanta_per_light = 1 / quantum;
  plan.bins.quanta_per_square = 1 / quantum_squared;
  cells += plan.bins.cells();
}

}  // namespace

Tally::Tally(std::vector<AnyOutput> outputs, const OutputContext& context, double luminosity, double luminosity_squared,
             int generators)
    : outputs_(std::move(outputs)),
      plans_(outputs_.size()),
      generators_(generators),
      quantum_(std::ldexp(luminosity, -62)),
      quantum_squared_(std::ldexp(luminosity_squared, -62)) {
  const auto plan_of = [&](std::size_t i, const auto& use) {
    std::visit([&](const auto& output) { use(output.plan(context)); }, outputs_[i]);
  };
  std::vector<std::int64_t> sizes(outputs_.size());
  std::vector<std::size_t> order(outputs_.size());
  std::iota(order.begin(), order.end(), 0);
  for (const std::size_t i : order) plan_of(i, [&](const auto& plan) { sizes[i] = plan.bins.cells(); });
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return sizes[i]; });
  std::int64_t cells = own_ = cell_of(generators, GeneratorCounter(0));
  for (const std::size_t i : order) {
    plan_of(i, [&](auto plan) {
      place(plan, cells, quantum_, quantum_squared_);
      plans_[i].type = int(outputs_[i].index());
      std::memcpy(plans_[i].bytes, &plan, sizeof(plan));
    });
    if (cells <= most_own) own_ = cells;
  }
  cells_.resize(std::size_t(cells));
}

TallyPlan Tally::plan() const {
  return {1 / quantum_, plans_.data(), int(plans_.size()), own_, std::int64_t(cells_.size())};
}

void Tally::start(double weight, double left, int generator) {
  count_start(plan(), weight, left, generator, PlainCells{cells_.data()});
}

void Tally::accept(const Photon& photon) { count_end(plan(), photon, PlainCells{cells_.data()}); }

TallyPart::TallyPart(Tally& tally) : plan_(tally.plan()), own_(std::size_t(plan_.own)), shared_(tally.cells_.data()) {}

void TallyPart::start(double weight, double left, int generator) {
  count_start(plan_, weight, left, generator, PartCells{own_.data(), shared_, plan_.own});
}

void TallyPart::accept(const Photon& photon) { count_end(plan_, photon, PartCells{own_.data(), shared_, plan_.own}); }

void TallyPart::accept(const Seen& seen) { count_seen(plan_, seen, PartCells{own_.data(), shared_, plan_.own}); }

void TallyPart::count_ray(Phase end, double light) {
  ++own_[std::size_t(Counter::rays)];
  if (end == Phase::lost) ++own_[std::size_t(Counter::rays_lost)];
  if (end != Phase::absorbed) return;
  ++own_[std::size_t(Counter::rays_cut)];
  constexpr double per_quantum = 1. / (1 << cut_bits);
  own_[std::size_t(Counter::light_cut)] += rounded(std::min(light * plan_.quanta_per_light * per_quantum, 0x1p63));
}

void Tally::merge(TallyPart& part) {
  const PlainCells cells{cells_.data()};
  for (std::int64_t i = 0; i < own_; ++i) {
    const std::uint64_t value = part.own_[std::size_t(i)];
    i == std::int64_t(Counter::longest) ? cells.raise(i, value) : cells.add(i, value);
  }
  std::ranges::fill(part.own_, 0);
}

void Tally::merge(const std::uint64_t* parts, int copies) {
  const PlainCells cells{cells_.data()};
  for (std::int64_t i = 0; i < std::int64_t(cells_.size()); ++i) {
    for (int c = 0; c < (i < own_ ? copies : 1); ++c) {
      const std::uint64_t value = parts[place_of(i, own_, copies, c)];
      i == std::int64_t(Counter::longest) ? cells.raise(i, value) : cells.add(i, value);
    }
  }
}

/// Other threads may add to the shared cells meanwhile.
std::uint64_t Tally::cell(std::int64_t i) const {
  return std::atomic_ref(const_cast<std::uint64_t&>(cells_[std::size_t(i)])).load(std::memory_order_relaxed);
}

bool Tally::operator==(const Tally& other) const {
  return outputs_ == other.outputs_ && quantum_ == other.quantum_ && quantum_squared_ == other.quantum_squared_ &&
         cells_ == other.cells_;
}

std::uint64_t Tally::photons() const { return std::accumulate(cells_.begin(), cells_.begin() + fate_count, 0ull); }

bool Tally::conserves() const {
  const auto light = cells_.begin() + int(Counter::light_escaped);
  return photons() == (*this)[Counter::started] &&
         (*this)[Counter::light_emitted] ==
             std::accumulate(light, light + fate_count, (*this)[Counter::light_unresolved]);
}

/// The error of a bin: sqrt(sum s^2), s being what one photon adds to it; or from the scatter of the sums S of the
/// G groups of photons, sqrt(G/(G - 1) sum (S - <S>)^2).
BinnedLight Tally::binned(std::size_t output) const {
  BinnedLight out;
  plans_[output].visit([&]<class Plan>(const Plan& plan) {
    const auto& bins = plan.bins;
    out.light.resize(std::size_t(bins.count));
    out.error.resize(std::size_t(bins.count));
    out.beyond = double(cell(bins.first)) * bins.quantum;
    out.error_method = bins.groups ? "groups" : "histories";
    for (std::int64_t i = 0; i < bins.count; ++i) {
      const std::int64_t at = bins.first + 1 + i;
      double &light = out.light[std::size_t(i)], &error = out.error[std::size_t(i)];
      if (!bins.groups) {
        light = double(cell(at)) * bins.quantum;
        error = std::sqrt(double(cell(at + bins.count)) * quantum_squared_);
        continue;
      }
      double sum = 0;
      for (int g = 0; g < id_groups; ++g) sum += double(cell(at + g * bins.count));
      const double mean = sum / id_groups;
      double scatter = 0;
      for (int g = 0; g < id_groups; ++g) scatter += std::pow(double(cell(at + g * bins.count)) - mean, 2);
      light = sum * bins.quantum;
      error = std::sqrt(scatter * id_groups / (id_groups - 1)) * bins.quantum;
    }
  });
  return out;
}

double Tally::error() const {
  if (outputs_.empty()) {
    const auto escaped = double((*this)[Counter::escaped]), all = double(photons() - (*this)[Counter::in_flight]);
    return escaped > 0 ? std::sqrt((1 - escaped / all) / escaped) : 0;
  }
  const BinnedLight first = binned(0);
  const double light = std::accumulate(first.light.begin(), first.light.end(), 0.);
  return light > 0 ? std::accumulate(first.error.begin(), first.error.end(), 0.) / light : 0;
}

std::vector<OutputLight> Tally::light_of_outputs() const {
  std::vector<OutputLight> list;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const BinnedLight light = binned(i);
    std::visit(
        [&]<class T>(const T& output) {
          bool observed = false;
          if constexpr (requires { output.sight; }) observed = !output.sight.observer.empty();
          list.push_back({T::type, output.name, output.of, std::accumulate(light.light.begin(), light.light.end(), 0.),
                          light.beyond, observed});
        },
        outputs_[i]);
  }
  return list;
}

void Tally::write(io::ArrayOutput& file) const {
  const auto set = [&](const std::string& name, auto value) { file.attribute("/summary", name, value); };
  set("photons", photons());
  for (int i = 0; i < fate_count; ++i) set(fates[i].name, (*this)[Counter(i)]);
  set("scatterings", (*this)[Counter::scatterings]);
  set("scatterings_followed", (*this)[Counter::followed]);
  set("jumps", (*this)[Counter::jumps]);
  set("longest", (*this)[Counter::longest]);
  set("steps", (*this)[Counter::steps]);
  if ((*this)[Counter::rays] > 0) {
    set("rays", (*this)[Counter::rays]);
    set("rays_cut", (*this)[Counter::rays_cut]);
    set("rays_lost", (*this)[Counter::rays_lost]);
    set("light_of_rays_cut", std::ldexp(light(Counter::light_cut), cut_bits));
  }
  set("luminosity_emitted", light(Counter::light_emitted));
  set("luminosity_unresolved", light(Counter::light_unresolved));
  const auto name_of_light = [](int fate) { return std::string("luminosity_") + fates[fate].name; };
  for (int i = 0; i < fate_count; ++i) {
    set(name_of_light(i), light(Counter(int(Counter::light_escaped) + i)));
  }
  for (int g = 0; g < generators_; ++g) {
    const std::string group = "/generators/" + std::to_string(g);
    const auto set_light = [&](const std::string& name, GeneratorCounter c) {
      file.attribute(group, name, light(g, c));
    };
    file.attribute(group, "photons", cell(cell_of(g, GeneratorCounter::started)));
    set_light("luminosity_emitted", GeneratorCounter::light_emitted);
    set_light("luminosity_unresolved", GeneratorCounter::light_unresolved);
    for (int i = 0; i < fate_count; ++i) {
      set_light(name_of_light(i), GeneratorCounter(int(GeneratorCounter::light_escaped) + i));
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    std::visit(
        [&](const auto& output) {
          using Plan = decltype(output.plan(std::declval<const OutputContext&>()));
          output.write(file, plans_[i].as<Plan>(), binned(i));
        },
        outputs_[i]);
  }
}

double Tally::light(int generator, GeneratorCounter c) const { return double(cell(cell_of(generator, c))) * quantum_; }

}  // namespace thor
