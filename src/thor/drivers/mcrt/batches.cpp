#include "thor/drivers/mcrt/batches.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <deque>
#include <iterator>
#include <optional>
#include <thread>

#include "thor/comm/dealer.hpp"

namespace thor {
namespace {

constexpr int least_octave = 30;
constexpr std::uint64_t first_batch = 1024, first_on_device = 1 << 20;  ///< photons, where batches are to be whole

/// The next power of two, the same for numbers that differ by rounding from each other.
int power_of_two(double value) { return int(std::ceil(std::log2(value * (1 + 1e-9)))); }

std::uint64_t count(const std::vector<Ids>& list) {
  std::uint64_t sum = 0;
  for (const Ids& ids : list) sum += ids.end - ids.next;
  return sum;
}

}  // namespace

int Sample::doublings(std::uint64_t id) const { return std::max(int(std::bit_width(id)) - first_octave, 0); }

std::vector<Ids> Sample::octaves(Ids ids) const {
  std::vector<Ids> parts;
  while (!ids.empty()) {
    const std::uint64_t end = std::uint64_t(1) << (first_octave + doublings(ids.next));
    parts.push_back({ids.next, std::min(ids.end, end)});
    ids.next = parts.back().end;
  }
  return parts;
}

void Sample::put_back(std::vector<Ids> left, std::uint64_t end) {
  std::ranges::sort(left, {}, &Ids::next);
  missing.clear();
  for (const Ids& ids : left) {
    if (!missing.empty() && missing.back().end == ids.next) {
      missing.back().end = ids.end;
    } else {
      missing.push_back(ids);
    }
  }
  next = end;
  if (missing.empty() || missing.back().end != end) return;
  next = missing.back().next;
  missing.pop_back();
}

Sample build_sample(const config::Config& config, const Setup& setup) {
  const Emitter<double>& emitter = setup.emitter;
  const auto photons = double(emitter.count());
  const double light = emitter.luminosity();
  // The mean one, in powers of two of the square of the mean: equal weights are whole numbers of quanta.
  const double square =
      light * light * std::exp2(power_of_two(emitter.luminosity_squared() * photons / (light * light)));
  double brightest = 0;
  for (const Light& l : emitter.light) brightest = std::max(brightest, l.brightest * photons);
  // The quanta of a batch have room for some photons more than there are on the average.
  const double bright = 8 * std::max(brightest / light, brightest * brightest / square);
  const int octave = std::max(least_octave, power_of_two(bright));
  return {build_tally(config, setup, std::ldexp(light, octave), std::ldexp(square, octave)), octave};
}

std::vector<Ids> Batches::run_batch(Ids ids, int doublings, Tally& tally, bool may_drop) const {
  if (world.is_first()) world.from_first({ids.next, ids.end, std::uint64_t(doublings)});
  tally.next_batch(doublings, world.is_first() && may_drop);
  const Setup& setup = kernels.setup;
  const Compute& compute = kernels.compute;
  const bool divided = setup.medium.divided != nullptr;
  // A rank that holds several domains has enough of them.
  const bool relief = divided && !domains.border.no_relief && domains.count <= world.ranks();
  comm::Dealer dealer(world, {ids.next, ids.end}, divided ? domains.border.in_flight : ~0ull, relief, watch.allowed());
  std::atomic<bool> held = false;  // ids are left that are not dealt before a stop
  const auto deal = [&] {
    if (divided) return Ids{};  // the border deals
    const comm::Dealer::Window window = dealer.take(compute.device ? first_on_device : 1);
    held = window.more;
    return Ids{window.next, window.end};
  };
  Pool pool(deal, std::uint64_t(compute.cpu.threads) * 16);
  Control control;
  std::optional<Watch::Batch> watched(std::in_place, watch, pool, control, dealer);
  BorderTimes times;
  if (divided) {
    times = kernels.run(dealer, domains, {pool, control, tally, sink});
  } else {
    while (!pool.is_empty()) kernels.run({pool, control, tally, sink});
    while (held && watch.stopped() == Watch::Stop::none) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // The first rank listens to the others until they are done; their last word comes before that.
  if (!world.is_first()) watched.reset();
  const comm::Dealer::Window untouched = dealer.finish();
  watched.reset();
  if (divided) tally.join_histories(world, compute.cpu.threads);
  tally.add_at_first(world);
  if (divided) add_times(times);
  std::vector<std::uint64_t> ends;
  for (const Ids& left : pool.left()) ends.insert(ends.end(), {left.next, left.end});
  ends = world.at_first(ends);
  std::vector<Ids> rest;
  for (std::size_t i = 0; i < ends.size(); i += 2) rest.push_back({ends[i], ends[i + 1]});
  if (untouched.next < untouched.end) rest.push_back({untouched.next, untouched.end});
  return rest;
}

void Batches::add_times(const BorderTimes& own) const {
  const auto microseconds = [](double seconds) { return std::uint64_t(1e6 * seconds); };
  std::vector<std::uint64_t> all = world.at_first(
      {microseconds(own.waiting), microseconds(own.managing), own.travellers, own.messages, own.bytes, own.copies});
  for (std::size_t i = 0; traffic && i + 5 < all.size(); i += 6) {
    traffic->waiting += 1e-6 * double(all[i]), traffic->managing += 1e-6 * double(all[i + 1]);
    traffic->travellers += all[i + 2], traffic->messages += all[i + 3], traffic->bytes += all[i + 4];
    traffic->copies = std::max(traffic->copies, all[i + 5]);
  }
}

void Batches::serve(Tally& tally) const {
  tally.drop_batch();  // what an earlier run has counted is the first rank's
  for (;;) {
    const std::vector<std::uint64_t> batch = world.from_first({});
    if (batch.empty()) return;
    run_batch({batch[0], batch[1]}, int(batch[2]), tally);
  }
}

void Batches::end() const { world.from_first({}); }

std::uint64_t Batches::most_in_batch() const {
  const Compute& compute = kernels.compute;
  const std::uint64_t least = compute.device ? first_on_device : first_batch, done = watch.finished();
  if (!keeps()) return std::max(done, least);
  // Each batch waits for its last photon: with fewer than these, short intervals would leave most threads idle.
  const std::uint64_t fewest =
      compute.device ? first_on_device / 16 : 16 * std::uint64_t(compute.cpu.threads) * std::uint64_t(world.ranks());
  if (done == 0) return fewest;
  const double now = watch.seconds(), rate = double(done) / std::max(now, 1e-3);
  const double left = std::max(checkpoints->last + checkpoints->interval - now, 0.1 * checkpoints->interval);
  return std::clamp<std::uint64_t>(std::uint64_t(rate * left), fewest, std::max(4 * done, fewest));
}

std::uint64_t Batches::most_joined(const Tally& tally, std::uint64_t last) const {
  constexpr double bytes = 3 * sizeof(Share);  // here, on its way, and there
  if (!kernels.setup.medium.divided || !kernels.config.sends_rays()) return ~0ull;
  constexpr double first = 64;  // shares of a photon, as long as nothing is known of them
  const double shares = last > 0 ? double(tally.most_waited()) / double(last) : first;
  constexpr double most = 1 << 29;  // tables of a device tell ids apart by 30 bits
  return std::uint64_t(std::clamp(kernels.config.peel.memory / (bytes * std::max(shares, 0.01)), 1024., most));
}

bool Batches::run(Sample& sample, std::uint64_t end, bool whole) const {
  end = std::max(end, sample.next);
  std::deque<Ids> todo;
  std::vector<Ids> left;
  std::uint64_t last = 0;  // photons of the last batch
  for (const Ids& ids : sample.missing) std::ranges::copy(sample.octaves(ids), std::back_inserter(todo));
  std::ranges::copy(sample.octaves({sample.next, end}), std::back_inserter(todo));
  while (!todo.empty()) {
    Ids ids = todo.front();
    todo.pop_front();
    if (watch.stopped() != Watch::Stop::none) {
      left.push_back(ids);
      continue;
    }
    const std::uint64_t most =
        std::min<std::uint64_t>(whole ? most_in_batch() : ~0ull, most_joined(sample.tally, last));
    if (ids.end - ids.next > most) {
      todo.push_front({ids.next + most, ids.end});
      ids.end = ids.next + most;
    }
    Tally& tally = sample.tally;
    const std::uint64_t before = tally[Counter::started], in_flight = tally.unfinished();
    last = ids.end - ids.next;
    std::vector<Ids> rest = run_batch(ids, sample.doublings(ids.next), tally, whole);
    const auto are_known = [&] { return tally[Counter::started] - before + count(rest) == ids.end - ids.next; };
    // A device that was stopped does not say which ids it has not started.
    if (whole && before > 0 && (tally.unfinished() > in_flight || !are_known())) {
      tally.drop_batch();
      rest = {ids};
    }
    sample.known = sample.known && are_known();
    left.insert(left.end(), rest.begin(), rest.end());
    const bool goes_on = !todo.empty() && watch.stopped() == Watch::Stop::none;
    if (keeps() && goes_on && sample.known && !sample.in_flight() && tally.photons() > 0 &&
        watch.seconds() >= checkpoints->last + 0.9 * checkpoints->interval) {
      std::vector<Ids> not_yet = left;
      not_yet.insert(not_yet.end(), todo.begin(), todo.end());
      sample.put_back(not_yet, end);
      checkpoints->write(end);
      checkpoints->last = watch.seconds();
    }
  }
  sample.put_back(left, end);
  return left.empty() && sample.known;
}

}  // namespace thor
