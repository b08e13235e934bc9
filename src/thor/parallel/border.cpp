#include "thor/parallel/border.hpp"

#include <chrono>

#include "thor/core/error.hpp"

namespace thor {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr std::uint64_t births_at_a_time = 256;

/// Moves up to `count` entries; their number.
std::size_t move_front(auto& from, std::size_t count, auto& to) {
  count = std::min(count, from.size());
  to.insert(to.end(), from.begin(), from.begin() + std::ptrdiff_t(count));
  from.erase(from.begin(), from.begin() + std::ptrdiff_t(count));
  return count;
}

}  // namespace

template <class Real>
Border<Real>::Border(const comm::World& world, comm::Dealer& dealer, const Medium& medium, const Emitter<Real>& emitter,
                     BuildProblem build, Pool& pool, const BorderOptions& options, int workers, std::string_view isa)
    : world_(world),
      dealer_(dealer),
      medium_(medium),
      emitter_(emitter.view()),
      build_(std::move(build)),
      pool_(pool),
      workers_(workers),
      most_waiting_(2 * options.in_flight),
      whole_(convert<Real>(medium.divided->whole)),
      memory_(lane_bytes<Real>(1) / sizeof(double) + 1),
      birth_(lane_arrays<Real>(memory_.data(), 1)),
      mail_(world, options.message) {
  const Domains& domains = medium.divided->domains;
  for (int domain = 0; domain < domains.count(); ++domain) holders_.push_back(domains.holders(domain, world.ranks()));
  for (const auto& holders : holders_) next_holder_.push_back(std::size_t(world.rank()) % holders.size());
  for (const GridPart& part : medium.divided->parts) hold(part);
  any_problem_ = &parts_.begin()->second.problem;
  history_ = &cpu::history_kernel<Real>(any_problem_->history(), isa);
  thread_ = std::jthread([this](const std::stop_token& stop) { run_or_fail([&] { manage(stop); }); });
}

template <class Real>
void Border<Real>::run_or_fail(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    wake_.notify_all();
  }
}

template <class Real>
Border<Real>::~Border() {
  thread_.request_stop();
}

template <class Real>
void Border<Real>::hold(GridPart part) {
  const MediumOutline& m = medium_;
  const int domain = part.domain;
  AnyProblem<Real> problem = build_(part);
  const PartFrame frame{part.box, m.grid.count, m.grid.periodic};
  const std::lock_guard lock(mutex_);
  parts_.try_emplace(domain, std::move(part), frame, std::move(problem));
  for (const Any& traveller : strays_[domain]) {
    --waiting_;
    put(traveller);
  }
  strays_.erase(domain);
}

template <class Real>
typename Border<Real>::Part* Border<Real>::wait() {
  std::unique_lock lock(mutex_);
  const auto start = Clock::now();
  const auto fullest = [this] {
    Part* best = nullptr;
    for (auto& [domain, part] : parts_) {
      if (part.waiting > (best ? best->waiting.load() : 0)) best = &part;
    }
    return best;
  };
  Part* part = nullptr;
  ++idle_;
  wake_.wait(lock, [&] { return done_ || failure_ || (part = fullest()) != nullptr; });
  --idle_;
  seconds_waited_ += seconds_since(start);
  if (failure_) std::rethrow_exception(failure_);
  return part;
}

template <class Real>
int Border<Real>::domain_of(const AnyProblem<Real>& problem) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::find_if(parts_, [&](const auto& part) { return &part.second.problem == &problem; })->first;
}

template <class Real>
void Border<Real>::give_up() {
  const std::lock_guard lock(mutex_);
  done_ = true;
  wake_.notify_all();
}

template <class Real>
void Border<Real>::take(Part& part, std::size_t count, std::vector<Any>& into) {
  if (part.waiting.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  std::size_t moved = move_front(part.rays, count, into);
  if (into.empty()) moved = move_front(part.photons, count, into);
  part.waiting -= moved, waiting_ -= moved;
}

template <class Real>
typename Border<Real>::Part* Border<Real>::take_rays(std::size_t count, std::vector<Any>& into) {
  const std::lock_guard lock(mutex_);
  for (auto& [domain, part] : parts_) {
    if (part.rays.empty()) continue;
    const std::size_t moved = move_front(part.rays, count, into);
    part.waiting -= moved, waiting_ -= moved;
    return &part;
  }
  return nullptr;
}

template <class Real>
void Border<Real>::post(std::span<Any> travellers) {
  for (Any& traveller : travellers) traveller.domain = medium_.divided->domains.owner(cell_of(traveller.lane));
  const std::lock_guard lock(mutex_);
  for (const Any& traveller : travellers) send(traveller);
}

template <class Real>
void Border<Real>::send(const Any& traveller) {
  const auto domain = std::size_t(traveller.domain);
  const std::vector<int>& holders = holders_[domain];
  // A birth is dealt in turn; what has come this far stays here if it can.
  if (traveller.kind != Any::birth && std::ranges::count(holders, world_.rank()) > 0) return put(traveller);
  const int rank = holders[next_holder_[domain]++ % holders.size()];
  if (rank == world_.rank()) return put(traveller);
  mail_.post(rank, traveller);
}

template <class Real>
void Border<Real>::put(const Any& traveller) {
  ++waiting_;
  const auto found = parts_.find(traveller.domain);
  if (found == parts_.end()) return strays_[traveller.domain].push_back(traveller);
  Part& part = found->second;
  (traveller.kind == Any::ray ? part.rays : part.photons).push_back(traveller);
  ++part.waiting;
  if (idle_ > 0) wake_.notify_one();
}

template <class Real>
UniformGrid<Real> Border<Real>::whole_with(const float* cell) const {
  UniformGrid<Real> grid = whole_;
  grid.gas.numbers = {cell, 0};
  grid.gas.stride = 0;  // every cell is this one
  return grid;
}

template <class Real>
UniformGrid<Real> Border<Real>::whole_with_gas_of(const Part& part, const CellIndex& cell) const {
  const CellIndex c = part.frame.to_part(cell);
  const UniformGrid<double>& grid = part.grid.dataset;
  const LaneAddress<double> record = view<double>(grid).record({c[0], c[1], c[2]}, unsigned(grid.gas.stride));
  return whole_with(grid.gas.numbers.data + record.of[0]);
}

/// Finds out where some of the ids that this rank was dealt begin, and sends them there.
template <class Real>
bool Border<Real>::deal() {
  if (window_.empty() && !dealt_all_ && !pool_.closed() && waiting_ < births_at_a_time * std::uint64_t(4 + workers_)) {
    const comm::Dealer::Window window = dealer_.take(births_at_a_time);
    window_ = {window.next, window.end};
    dealt_all_ = window_.empty() && !window.more;
  }
  if (window_.empty()) return false;
  if (pool_.closed()) {
    pool_.give_back(window_);
    window_ = {};
    return true;
  }
  const UniformGrid<Real> blank = whole_with(blank_);
  Outbox outbox(this);
  for (std::uint64_t i = 0; i < births_at_a_time && !window_.empty(); ++i) {
    Any birth{};
    birth.kind = Any::birth;
    history_->start(birth_, 0, &blank, any_problem_->numerics(), emitter_, window_.next++, birth.origin);
    birth.lane = load_lane<Real>(birth_, 0);
    outbox.post(birth);
  }
  outbox.send();
  return true;
}

/// Learns of ranks that take copies of domains: this one reads a domain, or gives away half of what waits here.
template <class Real>
void Border<Real>::obey(std::uint64_t copies) {
  for (; copies_ < copies; ++copies_) {
    const comm::Dealer::Relief relief = dealer_.relief(copies_);
    const int domain = relief.busy % int(holders_.size());
    {
      const std::lock_guard lock(mutex_);
      std::vector<int>& holders = holders_[std::size_t(domain)];
      if (std::ranges::count(holders, relief.idle) == 0) holders.push_back(relief.idle);
      if (relief.busy == world_.rank()) {
        Part& part = parts_.at(domain);
        std::deque<Any>& waiting = part.photons;
        for (std::size_t half = waiting.size() / 2; half > 0; --half, --waiting_, --part.waiting) {
          mail_.post(relief.idle, waiting.back());
          waiting.pop_back();
        }
      }
    }
    if (relief.idle == world_.rank() && !read_.contains(domain) && !holds(domain)) {
      read_.insert(domain);
      reader_ = std::jthread([this, domain] {  // while the mail goes on
        run_or_fail([&] { hold(medium_.divided->read(domain)); });
      });
    }
  }
}

template <class Real>
comm::Dealer::State Border<Real>::state() {
  const std::lock_guard lock(mutex_);
  const bool idle = idle_ == workers_ && waiting_ == 0 && window_.empty();
  return {ended_, mail_.posted(), mail_.delivered(), waiting_, idle};
}

template <class Real>
void Border<Real>::manage(const std::stop_token& stop) {
  const auto deliver = [this](std::span<const Any> travellers) {
    const std::lock_guard lock(mutex_);
    for (const Any& traveller : travellers) put(traveller);
  };
  const auto when_idle = std::chrono::microseconds(500 + 20 * world_.ranks());
  Clock::time_point next_report = Clock::now();
  for (auto pause = std::chrono::microseconds(100); !stop.stop_requested();) {
    const auto start = Clock::now();
    bool moved = deal();
    moved = mail_.move(deliver) || moved;
    if (Clock::now() >= next_report) {
      const comm::Dealer::State now = state();
      const comm::Dealer::Orders orders = dealer_.report(now);
      congested_ = orders.waiting > most_waiting_;
      obey(orders.copies);
      if (orders.done) break;
      next_report = Clock::now() + (now.idle ? when_idle : 10 * when_idle);
    }
    seconds_managed_ += seconds_since(start);
    pause = moved ? std::chrono::microseconds(100) : std::min(2 * pause, std::chrono::microseconds(500));
    std::this_thread::sleep_for(pause);
  }
  give_up();
}

template <class Real>
BorderTimes Border<Real>::times() const {
  const std::lock_guard lock(mutex_);
  return {seconds_waited_, seconds_managed_, mail_.posted(), mail_.messages(), mail_.sent_bytes(), copies_};
}

template class Border<float>;
template class Border<double>;

}  // namespace thor
