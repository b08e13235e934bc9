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
  void add(Counter counter, std::uint64_t value) const { own[int(counter)] += value; }
  void raise(std::int64_t i, std::uint64_t value) const { own[i] = std::max(own[i], value); }
};

/// The quantum of the light of a plan, where that of all light is `quantum`.
template <class Plan>
double quantum_of(const Plan& plan, double quantum) {
  if constexpr (requires { plan.sky; }) {
    if (plan.sky.observer >= 0) {
      // All light in a cone, or in the peak of a phase function, stands for more than a bin would hold.
      const double most = plan.sky.escaped ? 2 / (1 - plan.sky.cosine) : plan.sky.peak;
      const int larger = std::max(0, int(std::ceil(std::log2(most))) - (64 + seen_quantum - 4));
      return std::ldexp(quantum, 62 + seen_quantum + larger);
    }
  }
  return quantum;
}

/// The observer whose light a plan counts by rays; -1: none.
template <class Plan>
int observer_of(const Plan& plan) {
  if constexpr (requires { plan.sky; }) return plan.sky.escaped ? -1 : plan.sky.observer;
  return -1;
}

/// As a number: gcc's own conversion of 128 bits takes software floats of 128 bits on some machines.
double amount(Wide cell) {
  const auto high = static_cast<std::uint64_t>(cell >> 64), low = static_cast<std::uint64_t>(cell);
  return high == 0 ? double(low) : double(high) * 0x1p64 + double(low);
}

}  // namespace

Tally::Tally(std::vector<AnyOutput> outputs, const OutputContext& context, double luminosity, double luminosity_squared,
             int generators)
    : outputs_(std::move(outputs)),
      plans_(outputs_.size()),
      place_(outputs_.size()),
      generators_(generators),
      quantum_(std::ldexp(luminosity, -62)),
      quantum_squared_(std::ldexp(luminosity_squared, -62)) {
  const auto plan_of = [&](std::size_t i, const auto& use) {
    std::visit([&](const auto& output) { use(output.plan(context)); }, outputs_[i]);
  };
  std::vector<std::int64_t> sizes(outputs_.size());
  std::vector<int> observers(outputs_.size());
  std::vector<std::size_t> order(outputs_.size());
  std::iota(order.begin(), order.end(), 0);
  for (const std::size_t i : order) {
    plan_of(i, [&](const auto& plan) { sizes[i] = plan.bins.cells(), observers[i] = observer_of(plan); });
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return observers[i]; });
  for (std::size_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
  std::ranges::sort(order);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return sizes[i]; });
  std::int64_t cells = own_ = cell_of(generators, GeneratorCounter(0));
  for (const std::size_t i : order) {
    plan_of(i, [&](auto plan) {
      plan.bins.first = cells;
      cells += plan.bins.cells();
      OutputPlan& any = plans_[place_[i]];
      any.type = int(outputs_[i].index()), any.observer = observers[i];
      any.generators = std::visit([&](const auto& output) { return context.range_of(output.generator); }, outputs_[i]);
      std::memcpy(any.bytes, &plan, sizeof(plan));
    });
    if (cells <= most_own) own_ = cells;
  }
  cells_.resize(std::size_t(cells));
  set_quanta();
}

void Tally::set_quanta() {
  for (OutputPlan& any : plans_) {
    any.visit([&](auto plan) {
      plan.bins.quantum = quantum_of(plan, std::ldexp(quantum_, doublings_));
      plan.bins.quanta_per_light = 1 / plan.bins.quantum;
      plan.bins.quanta_per_square = 1 / std::ldexp(quantum_squared_, doublings_);
      std::memcpy(any.bytes, &plan, sizeof(plan));
    });
  }
}

TallyPlan Tally::plan() const {
  return {1 / std::ldexp(quantum_, doublings_), plans_.data(), int(plans_.size()), own_, std::int64_t(cells_.size())};
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

void TallyPart::accept(const Seen& seen) {
  count_seen(plan_, seen, PartCells{own_.data(), shared_, plan_.own});
  if (seen.observer == kept_ && !seen.emitted) list_->push_back(seen);
}

void TallyPart::count_ray(Phase end) {
  PartCells cells{own_.data(), shared_, plan_.own};
  thor::count_ray(end, cells);
}

void TallyPart::count_hidden(std::uint64_t rays) {
  own_[std::size_t(Counter::rays)] += rays;
  own_[std::size_t(Counter::rays_cut)] += rays;
}

void Tally::merge(TallyPart& part) {
  const PlainCells cells{cells_.data()};
  for (std::int64_t i = 0; i < own_; ++i) {
    const std::uint64_t value = part.own_[std::size_t(i)];
    i == std::int64_t(Counter::longest) ? cells.raise(i, value) : cells.add(i, value);
  }
  std::ranges::fill(part.own_, 0);
}

void Tally::add_at_first(const comm::World& world) {
  std::uint64_t& longest = cells_[std::size_t(Counter::longest)];
  const std::uint64_t most = world.largest(longest);
  longest = 0;
  world.add_at_first(cells_);
  if (world.is_first()) longest = most;
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

bool Tally::is_light(std::int64_t i) const {
  const std::int64_t outputs = cell_of(generators_, GeneratorCounter(0));
  if (i >= outputs) return true;
  if (i >= std::int64_t(Counter::count)) {
    return (i - std::int64_t(Counter::count)) % std::int64_t(GeneratorCounter::count) !=
           std::int64_t(GeneratorCounter::started);
  }
  const auto counter = Counter(i);
  return (counter >= Counter::light_escaped && counter <= Counter::light_in_flight) ||
         counter == Counter::light_emitted || counter == Counter::light_unresolved || counter == Counter::light_sent;
}

/// Other threads may add to the shared cells meanwhile.
Wide Tally::cell(std::int64_t i) const {
  const auto at = std::size_t(i);
  const Wide now = std::atomic_ref(const_cast<std::uint64_t&>(cells_[at])).load(std::memory_order_relaxed);
  if (before_.empty()) return is_light(i) ? now << doublings_ : now;
  const Wide before = before_[at] + (carries_.empty() ? 0 : Wide(carries_[at]) << 64);
  if (i == std::int64_t(Counter::longest)) return std::max(before, now);
  return before + (is_light(i) ? now << doublings_ : now);
}

void Tally::next_batch(int doublings) {
  const bool counted = std::ranges::any_of(cells_, [](std::uint64_t value) { return value > 0; });
  if (counted && before_.empty()) before_.resize(cells_.size());
  for (std::int64_t i = 0; counted && i < std::int64_t(cells_.size()); ++i) {
    const Wide sum = cell(i);
    const auto carry = std::uint64_t(sum >> 64);
    if (carry > 0 && carries_.empty()) carries_.resize(cells_.size());
    before_[std::size_t(i)] = std::uint64_t(sum);
    if (!carries_.empty()) carries_[std::size_t(i)] = carry;
    cells_[std::size_t(i)] = 0;
  }
  doublings_ = doublings;
  set_quanta();
}

void Tally::drop_batch() { std::ranges::fill(cells_, 0); }

bool Tally::operator==(const Tally& other) const {
  if (outputs_ != other.outputs_ || quantum_ != other.quantum_ || quantum_squared_ != other.quantum_squared_ ||
      cells_.size() != other.cells_.size()) {
    return false;
  }
  for (std::int64_t i = 0; i < std::int64_t(cells_.size()); ++i) {
    if (cell(i) != other.cell(i)) return false;
  }
  return true;
}

std::uint64_t Tally::photons() const {
  std::uint64_t sum = 0;
  for (int fate = 0; fate < fate_count; ++fate) sum += (*this)[Counter(fate)];
  return sum;
}

bool Tally::conserves() const {
  Wide light = cell(std::int64_t(Counter::light_unresolved));
  for (int fate = 0; fate < fate_count; ++fate) light += cell(std::int64_t(Counter::light_escaped) + fate);
  return photons() == (*this)[Counter::started] && cell(std::int64_t(Counter::light_emitted)) == light;
}

GeneratorRange Tally::generators_of(std::size_t output) const {
  const GeneratorRange range = plans_[place_[output]].generators;
  return {range.first, std::min(range.end, generators_)};
}

double Tally::photons_of(std::size_t output) const {
  const GeneratorRange range = generators_of(output);
  if (range == GeneratorRange{0, generators_}) return double(photons());
  double sum = 0;
  for (int g = range.first; g < range.end; ++g) sum += amount(cell(cell_of(g, GeneratorCounter::started)));
  return sum;
}

/// The error of a bin: sqrt(sum s^2), s being what one photon adds to it; or from the scatter of groups of photons.
BinnedLight Tally::binned(std::size_t output) const {
  BinnedLight out;
  plans_[place_[output]].visit([&]<class Plan>(const Plan& plan) {
    const auto& bins = plan.bins;
    const double quantum = quantum_of(plan, quantum_) / sharing_;
    out.light.resize(std::size_t(bins.count));
    out.error.resize(std::size_t(bins.count));
    if (bins.groups) out.vov.resize(std::size_t(bins.count));
    out.beyond = amount(cell(bins.first)) * quantum;
    out.error_method = bins.groups ? "groups" : "histories";
    double totals[id_groups] = {}, squares = 0;
    for (std::int64_t i = 0; i < bins.count; ++i) {
      const std::int64_t at = bins.first + 1 + i;
      double &light = out.light[std::size_t(i)], &error = out.error[std::size_t(i)];
      if (!bins.groups) {
        light = amount(cell(at)) * quantum;
        error = std::sqrt(amount(cell(at + bins.count)) * quantum_squared_) / sharing_;
        squares += error * error;
        continue;
      }
      double sums[id_groups];
      for (int g = 0; g < id_groups; ++g) totals[g] += sums[g] = amount(cell(at + g * bins.count));
      light = std::accumulate(sums, sums + id_groups, 0.) * quantum;
      if (!(light > 0)) continue;  // of a large image most bins
      error = error_of_groups(sums) * quantum;
      out.vov[std::size_t(i)] = float(vov_of_groups(sums));
    }
    const double all = std::accumulate(out.light.begin(), out.light.end(), 0.);
    const double by_histories = std::max(squares - all * all / std::max(photons_of(output), 1.), 0.);
    out.total_error = bins.groups ? error_of_groups(totals) * quantum : std::sqrt(by_histories);
  });
  return out;
}

std::optional<double> Tally::error(std::size_t output, ErrorOf of) const {
  const BinnedLight binned = this->binned(output);
  const double light = std::accumulate(binned.light.begin(), binned.light.end(), 0.);
  if (!(light > 0)) return std::nullopt;
  if (of == ErrorOf::peak) {
    const auto peak = std::ranges::max_element(binned.light) - binned.light.begin();
    return binned.error[std::size_t(peak)] / binned.light[std::size_t(peak)];
  }
  if (of == ErrorOf::bin_median) {
    std::vector<std::pair<double, double>> bins;  // relative error, light
    for (std::size_t i = 0; i < binned.light.size(); ++i) {
      if (binned.light[i] > 0) bins.emplace_back(binned.error[i] / binned.light[i], binned.light[i]);
    }
    std::ranges::sort(bins);
    double sum = 0;
    for (const auto& [error, more] : bins) {
      if ((sum += more) >= light / 2) return error;
    }
    return bins.back().first;  // rounding
  }
  // Where every photon has added its light, the next one may not: nothing is known to better than 1/N.
  return std::max(binned.total_error / light, 1 / photons_of(output));
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

OutputLight Tally::light_of(std::size_t output, const BinnedLight& binned) const {
  const auto of = [&]<class T>(const T& o) -> OutputLight {
    bool observed = false;
    if constexpr (requires { o.sight; }) observed = !o.sight.observer.empty();
    double leaves = 0;
    const GeneratorRange range = generators_of(output);
    for (int g = range.first; g < range.end; ++g) {
      leaves += light(g, GeneratorCounter::light_escaped) + light(g, GeneratorCounter::light_stopped);
    }
    return {T::type,
            o.name,
            o.of,
            std::accumulate(binned.light.begin(), binned.light.end(), 0.),
            binned.beyond,
            observed,
            leaves,
            trusted_share(binned),
            !binned.vov.empty()};
  };
  return std::visit(of, outputs_[output]);
}

std::vector<OutputLight> Tally::light_of_outputs() const {
  std::vector<OutputLight> list;
  for (std::size_t i = 0; i < outputs_.size(); ++i) list.push_back(light_of(i, binned(i)));
  return list;
}

std::vector<OutputLight> Tally::write(io::ArrayOutput& file) const {
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
    set("rays_in_flight", (*this)[Counter::rays_in_flight]);
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
    file.attribute(group, "photons", std::uint64_t(cell(cell_of(g, GeneratorCounter::started))));
    set_light("luminosity_emitted", GeneratorCounter::light_emitted);
    set_light("luminosity_unresolved", GeneratorCounter::light_unresolved);
    for (int i = 0; i < fate_count; ++i) {
      set_light(name_of_light(i), GeneratorCounter(int(GeneratorCounter::light_escaped) + i));
    }
  }
  std::vector<OutputLight> list;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const BinnedLight light = binned(i);
    std::visit(
        [&](const auto& output) {
          using Plan = decltype(output.plan(std::declval<const OutputContext&>()));
          output.write(file, plans_[place_[i]].as<Plan>(), light);
        },
        outputs_[i]);
    list.push_back(light_of(i, light));
  }
  return list;
}

double Tally::light(int generator, GeneratorCounter c) const {
  return amount(cell(cell_of(generator, c))) * quantum_ / sharing_;
}

std::vector<std::uint64_t> Tally::write_cells(io::ArrayOutput& file, const std::string& group) const {
  constexpr int level = 4;  // of deflate
  std::vector<std::uint64_t> low(cells_.size()), high;
  for (std::int64_t i = 0; i < std::int64_t(cells_.size()); ++i) {
    const Wide sum = cell(i);
    low[std::size_t(i)] = std::uint64_t(sum);
    if (sum >> 64 > 0 && high.empty()) high.resize(cells_.size());
    if (!high.empty()) high[std::size_t(i)] = std::uint64_t(sum >> 64);
  }
  const std::vector<std::uint64_t> shape{low.size()};
  file.write<std::uint64_t>(group + "/cells", low, shape, "", "what was counted, in quanta", level);
  if (!high.empty()) {
    file.write<std::uint64_t>(group + "/carries", high, shape, "", "the same in units of 2^64 quanta", level);
  }
  file.attribute(group, "quantum", quantum_);
  file.attribute(group, "quantum_squared", quantum_squared_);
  return low;
}

std::string Tally::read_cells(const io::Input& file, const std::string& group) {
  if (file.number(group, "quantum") != quantum_ || file.number(group, "quantum_squared") != quantum_squared_) {
    return "its quanta are not those of this configuration";
  }
  const std::vector<std::uint64_t> shape{cells_.size()};
  const auto read = [&](const std::string& name, std::vector<std::uint64_t>& to) {
    if (file.array(group + name).shape == shape) to = file.read_all<std::uint64_t>(group + name);
  };
  read("/cells", before_);
  const bool carries = file.has(group + "/carries");
  if (carries) read("/carries", carries_);
  if (before_.size() != cells_.size() || (carries && carries_.size() != cells_.size())) {
    return "it has not as many cells as the outputs of this configuration";
  }
  return conserves() ? "" : "its photons are not conserved";
}

}  // namespace thor
