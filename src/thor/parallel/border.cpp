#include "thor/parallel/border.hpp"

#include <chrono>
#include <cstring>

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
      partition_(*medium.divided->partition),
      emitter_(emitter),
      build_(std::move(build)),
      pool_(pool),
      workers_(workers),
      most_waiting_(2 * options.in_flight),
      whole_(build_(medium.dataset)),
      memory_(lane_bytes<Real>(1) / sizeof(double) + 1),
      birth_(lane_arrays<Real>(memory_.data(), 1)),
      mail_(world, options.message),
      history_(cpu::history_kernel<Real>(whole_.history(), isa)) {
  for (int domain = 0; domain < partition_.count(); ++domain) {
    holders_.push_back(partition_.holders(domain, world.ranks()));
  }
  for (const auto& holders : holders_) next_holder_.push_back(std::size_t(world.rank()) % holders.size());
  for (const GasPart& part : medium.divided->parts) hold(part);
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
void Border<Real>::hold(GasPart part) {
  const int domain = part.domain;
  AnyProblem<Real> problem = build_(part.dataset);
  Emitter<Real> emitter = emitter_.of_domain(domain);
  const std::lock_guard lock(mutex_);
  parts_.try_emplace(domain, partition_, std::move(part), std::move(emitter), std::move(problem));
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
  const auto found = std::ranges::find_if(parts_, [&](const auto& part) { return &part.second.problem == &problem; });
  return found == parts_.end() ? -1 : found->first;
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
  for (Any& traveller : travellers) {
    if (traveller.kind != Any::birth) traveller.domain = partition_.owner(cell_of(traveller.lane));
  }
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

/// The domain in which a photon begins.
template <class Real>
int Border<Real>::domain_of_birth(std::uint64_t id) {
  const EmitterView<Real> emitter = emitter_.view();
  const auto [generator, number] = number_of(emitter, id);
  if (const auto& divided = emitter_.divided; divided && divided->generators[std::size_t(generator)]) {
    return divided->generators[std::size_t(generator)]->domain_of(number);
  }
  Origin origin;
  history_.start(birth_, 0, whole_.dataset(), whole_.numerics(), emitter, id, origin);
  return partition_.owner(cell_of(birth_, 0));
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
  Outbox outbox(this);
  for (std::uint64_t i = 0; i < births_at_a_time && !window_.empty(); ++i) {
    Any birth{};
    birth.kind = Any::birth;
    birth.origin.id = window_.next++;
    birth.domain = domain_of_birth(birth.origin.id);
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
    const bool has_lengths = medium_.cells->layout().core_skip;
    bool is_new = false;  // a rank is told again and again, and may hold the domain from the start
    {
      const std::lock_guard lock(mutex_);
      std::vector<int>& holders = holders_[std::size_t(domain)];
      is_new = std::ranges::count(holders, relief.idle) == 0;
      if (is_new) holders.push_back(relief.idle);
      if (relief.busy == world_.rank()) {
        Part& part = parts_.at(domain);
        std::deque<Any>& waiting = part.photons;
        for (std::size_t half = waiting.size() / 2; half > 0; --half, --waiting_, --part.waiting) {
          mail_.post(relief.idle, waiting.back());
          waiting.pop_back();
        }
      }
    }
    if (relief.busy == world_.rank() && is_new && has_lengths) send_core_scale(relief.idle, domain);
    if (relief.idle == world_.rank() && !holds(domain) && wanted_.insert(domain).second) {
      has_lengths ? read_when_known(domain) : read(domain, {});
    }
  }
}

/// Reads a domain, while the mail goes on.
template <class Real>
void Border<Real>::read(int domain, std::vector<float> core_scale) {
  reader_ = std::jthread([this, domain, lengths = std::move(core_scale)] {
    run_or_fail([&] { hold(medium_.divided->read(domain, lengths)); });
  });
}

namespace {

/// The head of a letter with lengths of core skipping, which take several letters.
struct Lengths {
  std::int64_t domain, first, all;
};
constexpr std::size_t lengths_of_letter = 1u << 24;

}  // namespace

/// The lengths of core skipping in all cells of a domain, for a rank that takes a copy of it: where a way out of thick
/// gas leads through other domains, only those who hold it know them.
template <class Real>
void Border<Real>::send_core_scale(int rank, int domain) {
  const std::shared_ptr<const CellRecords> cells = [&] {
    const std::lock_guard lock(mutex_);
    return parts_.at(domain).cells;
  }();
  const auto count = std::size_t(cells->cells());
  for (std::size_t first = 0; first < count; first += lengths_of_letter) {
    const Lengths head{domain, std::int64_t(first), std::int64_t(count)};
    std::vector<float> lengths(std::min(lengths_of_letter, count - first));
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      lengths[i] = float(cells->gas(std::int64_t(first + i)).core_scale);
    }
    std::vector<std::byte> letter(sizeof head + lengths.size() * sizeof(float));
    std::memcpy(letter.data(), &head, sizeof head);
    std::memcpy(letter.data() + sizeof head, lengths.data(), lengths.size() * sizeof(float));
    mail_.post_letter(rank, std::move(letter));
  }
}

template <class Real>
void Border<Real>::receive_core_scale(std::span<const std::byte> letter) {
  Lengths head{};
  std::memcpy(&head, letter.data(), sizeof head);
  const auto domain = int(head.domain);
  std::vector<float>& lengths = core_scales_[domain];
  lengths.reserve(std::size_t(head.all));
  const std::span body = letter.subspan(sizeof head);
  lengths.resize(std::size_t(head.first) + body.size() / sizeof(float));
  std::memcpy(lengths.data() + head.first, body.data(), body.size());
  if (std::int64_t(lengths.size()) == head.all) known_.insert(domain);
  read_when_known(domain);
}

/// Starts to read a domain once it is wanted and all its lengths are here, whichever comes first.
template <class Real>
void Border<Real>::read_when_known(int domain) {
  if (wanted_.contains(domain) && known_.erase(domain) > 0) read(domain, std::move(core_scales_[domain]));
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
    moved = mail_.move(deliver, [this](std::span<const std::byte> letter) { receive_core_scale(letter); }) || moved;
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
