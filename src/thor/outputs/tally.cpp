#include "thor/outputs/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "thor/core/parallel_for.hpp"
#include "thor/io/fingerprint.hpp"

namespace thor {
namespace {

/// The entries of one thread. Rays are counted by parts of a tally only.
struct PlainEntries {
  std::uint64_t* entries;
  std::uint64_t add(std::int64_t i, std::uint64_t value) const { return std::exchange(entries[i], entries[i] + value); }
  void raise(std::int64_t i, std::uint64_t value) const { entries[i] = std::max(entries[i], value); }
  void join(std::uint64_t, std::int64_t, std::uint64_t) const {}
};

/// Entries of one thread's own, and those that all threads share.
struct PartEntries {
  std::uint64_t* own;
  std::uint64_t* shared;
  std::int64_t count;  ///< number of its own entries
  std::vector<Share>& shares;
  std::uint64_t add(std::int64_t i, std::uint64_t value) const {
    if (i < count) return std::exchange(own[i], own[i] + value);
    return std::atomic_ref(shared[i]).fetch_add(value, std::memory_order_relaxed);
  }
  void add(Counter counter, std::uint64_t value) const { own[int(counter)] += value; }
  void raise(std::int64_t i, std::uint64_t value) const { own[i] = std::max(own[i], value); }
  void join(std::uint64_t id, std::int64_t entry, std::uint64_t share) const { shares.push_back({id, entry, share}); }
};

/// The unit of light of a plan, where that of the photons is `unit`: larger where all light in a cone, or in the peak
/// of a phase function, stands for much more.
template <class Plan>
double unit_of(const Plan& plan, double unit) {
  if constexpr (requires { plan.sky; }) {
    if (plan.sky.observer >= 0) {
      const double most = plan.sky.escaped ? 2 / (1 - plan.sky.cosine) : plan.sky.peak;
      return std::ldexp(unit, std::max(0, int(std::ceil(std::log2(most))) - 4));
    }
  }
  return unit;
}

/// The observer whose light a plan counts by rays; -1: none.
template <class Plan>
int observer_of(const Plan& plan) {
  if constexpr (requires { plan.sky; }) return plan.sky.escaped ? -1 : plan.sky.observer;
  return -1;
}

/// An error of 20 % is no more than that.
float rounded_down(double value) {
  const auto near = float(value);
  return double(near) > value ? std::nextafter(near, 0.f) : near;
}

/// As a number: gcc's own conversion of 128 bits takes software floats of 128 bits on some machines.
double amount(Wide entry) {
  const auto high = static_cast<std::uint64_t>(entry >> 64), low = static_cast<std::uint64_t>(entry);
  return high == 0 ? double(low) : double(high) * 0x1p64 + double(low);
}

}  // namespace

std::string hash_of_entries(std::span<const std::uint64_t> entries) {
  const auto* bytes = reinterpret_cast<const char*>(entries.data());
  return fmt::format("{:016x}", io::hash_of({bytes, bytes + entries.size_bytes()}));
}

Tally::Tally(std::vector<AnyOutput> outputs, const OutputContext& context, double luminosity, double luminosity_squared,
             int generators)
    : outputs_(std::move(outputs)),
      plans_(outputs_.size()),
      place_(outputs_.size()),
      generators_(generators),
      quantum_(std::ldexp(luminosity, -62)),
      unit_(luminosity_squared / luminosity) {
  const auto plan_of = [&](std::size_t i, const auto& use) {
    std::visit([&](const auto& output) { use(output.plan(context)); }, outputs_[i]);
  };
  std::vector<std::int64_t> sizes(outputs_.size());
  std::vector<int> observers(outputs_.size());
  std::vector<std::size_t> order(outputs_.size());
  std::iota(order.begin(), order.end(), 0);
  for (const std::size_t i : order) {
    plan_of(i, [&](const auto& plan) { sizes[i] = plan.bins.entries(), observers[i] = observer_of(plan); });
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return observers[i]; });
  for (std::size_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
  std::ranges::sort(order);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return sizes[i]; });
  counters_ = entry_of(generators, GeneratorCounter(0));
  std::int64_t entries = own_ = first_bin();
  for (const std::size_t i : order) {
    plan_of(i, [&](auto plan) {
      plan.bins.first = entries;
      plan.bins.joined = observers[i] >= 0;
      plan.bins.quanta_per_light = 0x1p32 / unit_of(plan, unit_);
      entries += plan.bins.entries();
      OutputPlan& any = plans_[place_[i]];
      any.type = int(outputs_[i].index()), any.observer = observers[i];
      any.generators = std::visit([&](const auto& output) { return context.range_of(output.generator); }, outputs_[i]);
      std::memcpy(any.bytes, &plan, sizeof(plan));
    });
    if (entries <= most_own) own_ = entries;
  }
  entries_.resize(std::size_t(entries));
}

TallyPlan Tally::plan() const {
  return {1 / std::ldexp(quantum_, doublings_), plans_.data(), int(plans_.size()), own_, std::int64_t(entries_.size())};
}

void Tally::start(double weight, double left, int generator) {
  count_start(plan(), weight, left, generator, PlainEntries{entries_.data()});
}

void Tally::accept(const Photon& photon) { count_end(plan(), photon, PlainEntries{entries_.data()}); }

TallyPart::TallyPart(Tally& tally)
    : plan_(tally.plan()), own_(std::size_t(plan_.own)), shared_(tally.entries_.data()) {}

void TallyPart::start(double weight, double left, int generator) {
  count_start(plan_, weight, left, generator, PartEntries{own_.data(), shared_, plan_.own, shares_});
}

void TallyPart::accept(const Photon& photon) {
  count_end(plan_, photon, PartEntries{own_.data(), shared_, plan_.own, shares_});
}

void TallyPart::accept(const Seen& seen) {
  count_seen(plan_, seen, PartEntries{own_.data(), shared_, plan_.own, shares_});
  if (seen.observer == kept_ && !seen.emitted) list_->push_back(seen);
}

void TallyPart::count_ray(Phase end) {
  PartEntries entries{own_.data(), shared_, plan_.own, shares_};
  thor::count_ray(end, entries);
}

void TallyPart::join_histories(std::span<const std::uint64_t> on_their_way) {
  join(shares_);
  PartEntries entries{own_.data(), shared_, plan_.own, shares_};
  std::size_t left = 0;
  for (const Share s : shares_) {
    if (std::ranges::find(on_their_way, s.id) != on_their_way.end()) {
      shares_[left++] = s;
    } else {
      add_sums(entries, s.entry, sums_of(s.share, s.id));
    }
  }
  shares_.resize(left);
  room_ = std::max(room_, 4 * left);
}

void TallyPart::count_hidden(std::uint64_t rays) {
  own_[std::size_t(Counter::rays)] += rays;
  own_[std::size_t(Counter::rays_cut)] += rays;
}

void Tally::for_each_bin(std::int64_t from, std::int64_t end, const auto& bin, const auto& single) const {
  for (const OutputPlan& any : plans_) {
    any.visit([&](const auto& plan) {
      const Bins& bins = plan.bins;
      if (bins.first >= end || bins.first + bins.entries() <= from) return;
      const std::int64_t step = bins.errors ? bin_entries : 1;
      const std::int64_t first = bins.first + std::max<std::int64_t>(from - bins.first, 0) / step * step;
      for (std::int64_t i = first; i < std::min(bins.beyond(), end); i += step) bins.errors ? bin(i) : single(i);
      if (bins.beyond() >= from && bins.beyond() < end) single(bins.beyond());
    });
  }
}

/// The sums in `part`, whose entry i is at place(i), without what a sum has above the highest bit that it may reach.
static BinSums sums_at(const std::uint64_t* part, std::int64_t at, const auto& place) {
  BinSums sums{part[place(at)], part[place(at + 1)], part[place(at + 2)], part[place(at + 3)]};
  if (sums.high & full_light) sums.high = (sums.high & ~high_light) | full_light;
  if (sums.high & full_square) sums.high = (sums.high & ~high_square) | full_square;
  if (sums.high & full_fourth) sums.high = (sums.high & ~high_fourth) | full_fourth;
  return sums;
}

void Tally::merge(TallyPart& part) {
  merge_own(part.own_.data(), 1);
  std::ranges::fill(part.own_, 0);
}

void Tally::wait_for_others(std::vector<Share>& shares) {
  waiting_.insert(waiting_.end(), shares.begin(), shares.end());
  shares.clear();
}

void Tally::join_histories(const comm::World& world, int threads) {
  waited_ = world.largest(waiting_.size());
  // Those of a photon come together, at a rank and in a group.
  const auto ranks = std::uint64_t(world.ranks());
  std::vector<std::vector<Share>> groups(std::size_t(std::max(threads, 1)));
  const auto put = [&](const Share& s) { groups[mix64(s.id) / ranks % groups.size()].push_back(s); };
  if (world.is_alone()) {
    std::ranges::for_each(waiting_, put);
    waiting_.clear(), waiting_.shrink_to_fit();
  } else {
    std::vector<std::vector<std::uint64_t>> words(ranks);
    for (const Share& s : waiting_) {
      auto& to = words[mix64(s.id) % ranks];
      to.insert(to.end(), {s.id, std::uint64_t(s.entry), s.share});
    }
    waiting_.clear(), waiting_.shrink_to_fit();
    const std::vector<std::uint64_t> own = world.exchange(std::move(words));
    for (std::size_t i = 0; i + 2 < own.size(); i += 3) put({own[i], std::int64_t(own[i + 1]), own[i + 2]});
  }
  const auto join_group = [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) join(groups[i]);
  };
  parallel_for(threads, groups.size(), 1, join_group, true);
  const PlainEntries entries{entries_.data()};
  for (const auto& group : groups) {
    for (const Share& s : group) add_sums(entries, s.entry, sums_of(s.share, s.id));
  }
}

void Tally::add_at_first(const comm::World& world) {
  std::uint64_t& longest = entries_[std::size_t(Counter::longest)];
  const std::uint64_t most = world.largest(longest);
  longest = 0;
  world.add_at_first(std::span(entries_).first(std::size_t(counters_)));
  if (world.is_first()) longest = most;
  if (world.is_alone()) return;
  // Of large outputs most bins are empty. Each rank adds up some of the bins of all ranks, for the first one.
  constexpr std::int64_t at_once = 1 << 22, of_a_rank = 1 << 12;
  constexpr std::uint64_t single = 1ull << 63;
  const PlainEntries entries{entries_.data()};
  const auto here = [](std::int64_t i) { return i; };
  for (std::int64_t from = counters_; from < std::int64_t(entries_.size()); from += at_once) {
    const std::int64_t end = std::min(from + at_once, std::int64_t(entries_.size()));
    /// Takes the bins out of the entries whose owner is wanted.
    const auto take = [&](const auto& wanted, const auto& list_of) {
      const auto put = [&](std::int64_t i, BinSums s, std::int64_t count) {
        const auto owner = std::size_t(i / of_a_rank) % std::size_t(world.ranks());
        if ((s.light | s.square | s.fourth | s.high) == 0 || !wanted(owner)) return;
        auto& words = list_of(owner);
        words.insert(words.end(), {std::uint64_t(i) | (count == 1 ? single : 0), s.light, s.square, s.fourth, s.high});
        std::fill_n(entries_.begin() + i, count, 0);
      };
      for_each_bin(
          from, end, [&](std::int64_t i) { put(i, sums_at(entries_.data(), i, here), bin_entries); },
          [&](std::int64_t i) { put(i, {entries_[std::size_t(i)]}, 1); });
    };
    const auto add = [&](const std::vector<std::uint64_t>& words) {
      for (std::size_t k = 0; k + 4 < words.size(); k += 5) {
        const auto at = std::int64_t(words[k] & ~single);
        if (words[k] & single) {
          entries.add(at, words[k + 1]);
        } else {
          add_sums(entries, at, {words[k + 1], words[k + 2], words[k + 3], words[k + 4]});
        }
      }
    };
    const auto own = std::size_t(world.rank());
    std::vector<std::vector<std::uint64_t>> words(std::size_t(world.ranks()));
    take([&](std::size_t owner) { return owner != own; }, [&](std::size_t owner) -> auto& { return words[owner]; });
    add(world.exchange(std::move(words)));
    std::vector<std::uint64_t> sums;
    if (!world.is_first()) take([](std::size_t) { return true; }, [&](std::size_t) -> auto& { return sums; });
    add(world.at_first(sums));
  }
}

void Tally::merge_own(const std::uint64_t* parts, int copies) {
  const PlainEntries entries{entries_.data()};
  for (int c = 0; c < copies; ++c) {
    const auto place = [&](std::int64_t i) { return place_of(i, own_, copies, c); };
    for (std::int64_t i = 0; i < counters_; ++i) {
      i == std::int64_t(Counter::longest) ? entries.raise(i, parts[place(i)]) : (void)entries.add(i, parts[place(i)]);
    }
    for_each_bin(
        counters_, own_, [&](std::int64_t i) { add_sums(entries, i, sums_at(parts, i, place)); },
        [&](std::int64_t i) { entries.add(i, parts[place(i)]); });
  }
}

void Tally::merge_shared(std::int64_t from, std::span<const std::uint64_t> shared) {
  const PlainEntries entries{entries_.data()};
  const auto place = [&](std::int64_t i) { return i - from; };
  for_each_bin(
      from, from + std::int64_t(shared.size()),
      [&](std::int64_t i) { add_sums(entries, i, sums_at(shared.data(), i, place)); },
      [&](std::int64_t i) { entries.add(i, shared[std::size_t(place(i))]); });
}

void Tally::merge(const Tally& other) {
  merge_own(other.entries_.data(), 1);
  merge_shared(own_, std::span(other.entries_).subspan(std::size_t(own_)));
}

bool Tally::joins() const {
  bool joins = false;
  for (const OutputPlan& any : plans_) {
    any.visit([&](const auto& plan) { joins = joins || (plan.bins.joined && plan.bins.errors); });
  }
  return joins;
}

bool Tally::is_light(std::int64_t i) const {
  if (i >= std::int64_t(Counter::count)) {
    return (i - std::int64_t(Counter::count)) % std::int64_t(GeneratorCounter::count) !=
           std::int64_t(GeneratorCounter::started);
  }
  const auto counter = Counter(i);
  return (counter >= Counter::light_escaped && counter <= Counter::light_in_flight) ||
         counter == Counter::light_emitted || counter == Counter::light_unresolved || counter == Counter::light_sent;
}

Wide Tally::counter(std::int64_t i) const {
  const auto at = std::size_t(i);
  const Wide now = entries_[at];
  if (before_.empty()) return is_light(i) ? now << doublings_ : now;
  const Wide before = before_[at] + (carries_.empty() ? 0 : Wide(carries_[at]) << 64);
  if (i == std::int64_t(Counter::longest)) return std::max(before, now);
  return before + (is_light(i) ? now << doublings_ : now);
}

/// Other threads may add to the shared entries meanwhile.
BinSums Tally::sums(std::int64_t entry) const {
  const auto load = [&](std::int64_t i) {
    return std::atomic_ref(const_cast<std::uint64_t&>(entries_[std::size_t(i)])).load(std::memory_order_relaxed);
  };
  return {load(entry), load(entry + 1), load(entry + 2), load(entry + 3)};
}

void Tally::next_batch(int doublings, bool may_drop) {
  const auto now = std::span(entries_).first(std::size_t(counters_));
  const bool counted = std::ranges::any_of(now, [](std::uint64_t value) { return value > 0; });
  if (counted && before_.empty()) before_.resize(now.size());
  for (std::size_t i = 0; counted && i < now.size(); ++i) {
    const Wide sum = counter(std::int64_t(i));
    const auto carry = std::uint64_t(sum >> 64);
    if (carry > 0 && carries_.empty()) carries_.resize(now.size());
    before_[i] = std::uint64_t(sum);
    if (!carries_.empty()) carries_[i] = carry;
    now[i] = 0;
  }
  if (may_drop && !before_.empty()) kept_.assign(entries_.begin() + counters_, entries_.end());
  doublings_ = doublings;
}

void Tally::drop_batch() {
  std::ranges::fill(entries_, 0);
  std::ranges::copy(kept_, entries_.begin() + counters_);
}

bool Tally::operator==(const Tally& other) const {
  if (outputs_ != other.outputs_ || quantum_ != other.quantum_ || unit_ != other.unit_ ||
      entries_.size() != other.entries_.size()) {
    return false;
  }
  for (std::int64_t i = 0; i < counters_; ++i) {
    if (counter(i) != other.counter(i)) return false;
  }
  return std::equal(entries_.begin() + counters_, entries_.end(), other.entries_.begin() + counters_);
}

std::uint64_t Tally::photons() const {
  std::uint64_t sum = 0;
  for (int fate = 0; fate < fate_count; ++fate) sum += (*this)[Counter(fate)];
  return sum;
}

bool Tally::conserves() const {
  Wide light = counter(std::int64_t(Counter::light_unresolved));
  for (int fate = 0; fate < fate_count; ++fate) light += counter(std::int64_t(Counter::light_escaped) + fate);
  return photons() == (*this)[Counter::started] && counter(std::int64_t(Counter::light_emitted)) == light;
}

GeneratorRange Tally::generators_of(std::size_t output) const {
  const GeneratorRange range = plans_[place_[output]].generators;
  return {range.first, std::min(range.end, generators_)};
}

double Tally::photons_of(std::size_t output) const {
  const GeneratorRange range = generators_of(output);
  if (range == GeneratorRange{0, generators_}) return double(photons());
  double sum = 0;
  for (int g = range.first; g < range.end; ++g) sum += amount(counter(entry_of(g, GeneratorCounter::started)));
  return sum;
}

BinnedLight Tally::binned(std::size_t output) const {
  BinnedLight out;
  plans_[place_[output]].visit([&]<class Plan>(const Plan& plan) {
    const Bins& bins = plan.bins;
    const double quantum = 1 / bins.quanta_per_light / sharing_, coarse = 0x1p12 * quantum;
    const auto single = [&](std::int64_t entry) { return double(entries_[std::size_t(entry)]) * coarse; };
    const double photons = std::max(photons_of(output), 1.);
    out.beyond = single(bins.beyond());
    out.light.resize(std::size_t(bins.count));
    if (!bins.errors) {
      for (std::int64_t i = 0; i < bins.count; ++i) out.light[std::size_t(i)] = single(bins.entry(i));
      out.total = std::accumulate(out.light.begin(), out.light.end(), 0.);
      return;
    }
    out.relative_error.resize(std::size_t(bins.count)), out.vov.resize(std::size_t(bins.count));
    BinError all{};
    double squares = 0;
    for (std::int64_t i = 0; i < bins.count; ++i) {
      const BinSums sums = this->sums(bins.entry(i));
      if (sums.light == 0 && sums.high == 0) continue;  // of a large image most bins
      const BinError bin = error_of(sums, photons);
      out.light[std::size_t(i)] = bin.light * quantum;
      out.relative_error[std::size_t(i)] = rounded_down(bin.error / bin.light);
      out.vov[std::size_t(i)] = float(bin.vov);
      all.light += bin.light, squares += bin.error * bin.error;
    }
    all.error = std::sqrt(squares);
    if (bins.joined) all = error_of(this->sums(bins.entry(bins.count)), photons);
    out.total = all.light * quantum;
    out.total_error = std::sqrt(std::max(all.error * all.error - all.light * all.light / photons, 0.)) * quantum;
  });
  return out;
}

std::optional<double> Tally::error(std::size_t output, ErrorOf of) const {
  const BinnedLight binned = this->binned(output);
  const double light = binned.total;
  if (!(light > 0) || !binned.has_errors()) return std::nullopt;
  if (of == ErrorOf::peak) {
    const auto peak = std::ranges::max_element(binned.light) - binned.light.begin();
    return double(binned.relative_error[std::size_t(peak)]);
  }
  if (of == ErrorOf::bin_median) {
    std::vector<std::pair<double, double>> bins;  // relative error, light
    for (std::size_t i = 0; i < binned.light.size(); ++i) {
      if (binned.light[i] > 0) bins.emplace_back(double(binned.relative_error[i]), binned.light[i]);
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
  const double light = first.total;
  double errors = 0;
  for (std::size_t i = 0; i < first.relative_error.size(); ++i) errors += first.error(i);
  return light > 0 ? errors / light : 0;
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
    return {T::type,       o.name,   o.of,   binned.total,
            binned.beyond, observed, leaves, binned.has_errors() ? trusted_share(binned) : 1};
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
    file.attribute(group, "photons", std::uint64_t(counter(entry_of(g, GeneratorCounter::started))));
    set_light("luminosity_emitted", GeneratorCounter::light_emitted);
    set_light("luminosity_unresolved", GeneratorCounter::light_unresolved);
    for (int i = 0; i < fate_count; ++i) {
      set_light(name_of_light(i), GeneratorCounter(int(GeneratorCounter::light_escaped) + i));
    }
  }
  std::vector<OutputLight> list;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    BinnedLight light = binned(i);
    list.push_back(light_of(i, light));
    std::visit(
        [&](const auto& output) {
          using Plan = decltype(output.plan(std::declval<const OutputContext&>()));
          output.write(file, plans_[place_[i]].as<Plan>(), std::move(light));
        },
        outputs_[i]);
  }
  return list;
}

double Tally::light(int generator, GeneratorCounter c) const {
  return amount(counter(entry_of(generator, c))) * quantum_ / sharing_;
}

void Tally::write_entries(io::ArrayOutput& file, const std::string& group) const {
  constexpr int level = 4;  // of deflate
  std::vector<std::uint64_t> low, high;
  for (std::int64_t i = 0; i < counters_; ++i) {
    low.push_back(std::uint64_t(counter(i))), high.push_back(std::uint64_t(counter(i) >> 64));
  }
  const auto bins = std::span(entries_).subspan(std::size_t(first_bin()));
  const std::vector<std::uint64_t> shape{low.size()};
  file.write<std::uint64_t>(group + "/cells", low, shape, "", "what was counted, in quanta", level);
  file.write<std::uint64_t>(group + "/carries", high, shape, "", "the same in units of 2^64 quanta", level);
  file.write<std::uint64_t>(group + "/bins", bins, {bins.size()}, "", "sums over histories of the outputs", level);
  file.attribute(group, "cells_hash", hash_of_entries(low)), file.attribute(group, "bins_hash", hash_of_entries(bins));
  file.attribute(group, "quantum", quantum_);
  file.attribute(group, "unit", unit_);
}

std::string Tally::read_entries(const io::Input& file, const std::string& group) {
  if (file.number(group, "quantum") != quantum_ || file.number(group, "unit") != unit_) {
    return "its quanta are not those of this configuration";
  }
  const auto read = [&](const std::string& name, std::size_t count) {
    const std::string path = group + name;
    if (!file.has(path) || file.array(path).shape != std::vector<std::uint64_t>{count}) {
      return std::vector<std::uint64_t>();
    }
    return file.read_all<std::uint64_t>(path);
  };
  before_ = read("/cells", std::size_t(counters_)), carries_ = read("/carries", std::size_t(counters_));
  const std::vector<std::uint64_t> bins = read("/bins", entries_.size() - std::size_t(first_bin()));
  if (before_.empty() || carries_.empty() || bins.size() + std::size_t(first_bin()) != entries_.size()) {
    return "it has not as many cells as the outputs of this configuration";
  }
  std::ranges::copy(bins, entries_.begin() + first_bin());
  return conserves() ? "" : "its photons are not conserved";
}

}  // namespace thor
