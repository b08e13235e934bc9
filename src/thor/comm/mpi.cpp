// World over MPI (THOR_MPI=ON), by the C interface of MPI 3.
#define OMPI_SKIP_MPICXX 1  // the C interface alone
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "thor/comm/world.hpp"
#include "thor/core/error.hpp"

namespace thor::comm {
namespace {

constexpr int question_tag = 1, answer_tag = 2, message_tag = 3, gather_tag = 4;
constexpr std::size_t most_at_once = 1 << 20;  ///< words of a call: bounds the memory that MPI takes for it

/// One thread at a time calls MPI, and none waits in it for another rank that another thread here has to answer. Open
/// MPI 4.1 and 5.0 promise MPI_THREAD_MULTIPLE, but on AArch64 a thread that waits inside MPI can miss the end of its
/// request when another thread completes it (open-mpi/ompi issue 13761): the rank then waits for ever.
std::mutex one_at_a_time;
std::atomic<bool> in_collective{false};

/// A call of MPI. A collective call waits for other ranks, so no other thread may be in MPI, or come to it meanwhile.
class Call {
 public:
  enum Kind { of_one_rank, collective };
  explicit Call(Kind kind = of_one_rank) : lock_(one_at_a_time, std::try_to_lock), kind_(kind) {
    if (!lock_ && (kind == collective || in_collective)) {
      throw Error(ExitCode::internal, "MPI is called by another thread during a collective call (please report)");
    }
    if (!lock_) lock_.lock();
    if (kind == collective) in_collective = true;
  }
  ~Call() {
    if (kind_ == collective) in_collective = false;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  const Kind kind_;
};

/// Calls use(first, size) for pieces of so many words: MPI counts in int.
void for_pieces(std::size_t count, const auto& use, std::size_t most = most_at_once) {
  for (std::size_t i = 0; i < count; i += most) use(i, int(std::min(most, count - i)));
}

/// Whether a launcher has started this process: MPI_Init takes some tenths of a second, which a process alone saves.
bool is_launched() {
  constexpr const char* marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MPI_LOCALNRANKS"};
  return std::ranges::any_of(marks, [](const char* name) { return std::getenv(name) != nullptr; });
}

bool is_running() {
  int started = 0, ended = 0;
  MPI_Initialized(&started), MPI_Finalized(&ended);
  return started && !ended;
}

/// The number of processes that a launcher says that it has started; 1 if it says nothing.
int ranks_expected() {
  int most = 1;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (const char* text = std::getenv(name)) most = std::max(most, std::atoi(text));
  }
  return most;
}

}  // namespace

World::World() {
  const auto require_all = [&] {
    if (ranks_ > 1 || ranks_expected() == 1) return;
    throw Error(ExitCode::device,
                "the launcher started several processes that this MPI does not see, so each would do the whole run: "
                "use the launcher of this MPI, or srun --mpi=pmix");
  };
  if (!is_launched()) {
    require_all();
    return;
  }
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  owns_mpi_ = true;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_), MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &rank_on_node_), MPI_Comm_size(node, &ranks_on_node_);
  MPI_Comm_free(&node);
  require_all();
  if (level < MPI_THREAD_SERIALIZED && ranks_ > 1) {
    throw Error(ExitCode::device, "this MPI lacks MPI_THREAD_SERIALIZED: use another MPI");
  }
}

World::~World() {
  if (!owns_mpi_ || !is_running()) return;
  // One rank that fails while others wait for it would leave them waiting.
  if (std::uncaught_exceptions() > 0 && ranks_ > 1) MPI_Abort(MPI_COMM_WORLD, int(ExitCode::internal));
  MPI_Finalize();
}

void World::add_at_first(std::span<std::uint64_t> numbers) const {
  if (ranks_ == 1) return;
  const Call call(Call::collective);
  for_pieces(numbers.size(), [&](std::size_t first, int size) {
    const auto part = numbers.subspan(first, std::size_t(size));
    MPI_Reduce(is_first() ? MPI_IN_PLACE : part.data(), is_first() ? part.data() : nullptr, size, MPI_UINT64_T, MPI_SUM,
               0, MPI_COMM_WORLD);
    if (!is_first()) std::ranges::fill(part, 0);
  });
}

std::uint64_t World::largest(std::uint64_t value) const {
  if (ranks_ == 1) return value;
  const Call call(Call::collective);
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

std::vector<std::uint64_t> World::from_first(std::vector<std::uint64_t> values) const {
  if (ranks_ == 1) return values;
  const Call call(Call::collective);
  std::uint64_t count = values.size();
  MPI_Bcast(&count, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  values.resize(count);
  for_pieces(values.size(), [&](std::size_t first, int size) {
    MPI_Bcast(values.data() + first, size, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  });
  return values;
}

std::vector<std::uint64_t> World::at_first(const std::vector<std::uint64_t>& values) const {
  if (ranks_ == 1) return values;
  const Call call(Call::collective);
  const std::uint64_t own = values.size();
  std::vector<std::uint64_t> counts(std::size_t(ranks_), 0);
  MPI_Gather(&own, 1, MPI_UINT64_T, counts.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (!is_first()) {
    for_pieces(values.size(), [&](std::size_t first, int size) {
      MPI_Send(values.data() + first, size, MPI_UINT64_T, 0, gather_tag, MPI_COMM_WORLD);
    });
    return {};
  }
  std::vector<std::uint64_t> all(std::accumulate(counts.begin(), counts.end(), std::size_t(0)));
  std::ranges::copy(values, all.begin());
  std::size_t place = values.size();
  for (int rank = 1; rank < ranks_; ++rank) {
    const std::size_t count = counts[std::size_t(rank)];
    for_pieces(count, [&](std::size_t first, int size) {
      MPI_Recv(all.data() + place + first, size, MPI_UINT64_T, rank, gather_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    place += count;
  }
  return all;
}

std::vector<std::uint64_t> World::exchange(std::vector<std::vector<std::uint64_t>> values) const {
  if (ranks_ == 1) return std::move(values.front());
  const Call call(Call::collective);
  std::vector<std::uint64_t> sent, received(std::size_t(ranks_), 0);
  for (const auto& list : values) sent.push_back(list.size());
  MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, received.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  constexpr std::size_t most = 1 << 14;  // so that small runs have several pieces, too
  std::vector<std::uint64_t> all = std::move(values[std::size_t(rank_)]);
  for (int step = 1; step < ranks_; ++step) {  // every rank sends to one and receives from one
    const int to = (rank_ + step) % ranks_, from = (rank_ - step + ranks_) % ranks_;
    const std::vector<std::uint64_t> list = std::move(values[std::size_t(to)]);
    const std::size_t place = all.size(), coming = received[std::size_t(from)];
    all.resize(place + coming);
    std::vector<MPI_Request> requests;
    for_pieces(
        list.size(),
        [&](std::size_t first, int size) {
          MPI_Isend(list.data() + first, size, MPI_UINT64_T, to, gather_tag, MPI_COMM_WORLD, &requests.emplace_back());
        },
        most);
    for_pieces(
        coming,
        [&](std::size_t first, int size) {
          MPI_Recv(all.data() + place + first, size, MPI_UINT64_T, from, gather_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        },
        most);
    MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
  return all;
}

Words World::ask(const Words& question) const {
  constexpr int size = int(std::tuple_size_v<Words>);
  Words reply{};
  MPI_Request requests[2];
  {
    const Call call;
    MPI_Irecv(reply.data(), size, MPI_UINT64_T, 0, answer_tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(question.data(), size, MPI_UINT64_T, 0, question_tag, MPI_COMM_WORLD, &requests[1]);
  }
  for (auto pause = std::chrono::microseconds(5);; pause = std::min(2 * pause, std::chrono::microseconds(100))) {
    int done = 0;
    {
      const Call call;
      MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    }
    if (done) return reply;
    std::this_thread::sleep_for(pause);
  }
}

bool World::answer(const std::function<Words(int, const Words&)>& reply) const {
  constexpr int size = int(std::tuple_size_v<Words>);
  Words question{};
  MPI_Status status;
  {
    const Call call;
    int waiting = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, question_tag, MPI_COMM_WORLD, &waiting, &status);
    if (!waiting) return false;
    MPI_Recv(question.data(), size, MPI_UINT64_T, status.MPI_SOURCE, question_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const Words words = reply(status.MPI_SOURCE, question);
  const Call call;
  MPI_Send(words.data(), size, MPI_UINT64_T, status.MPI_SOURCE, answer_tag, MPI_COMM_WORLD);
  return true;
}

namespace {

class MpiSending : public World::Sending {
 public:
  MpiSending(int rank, std::vector<std::byte> message) : message_(std::move(message)) {
    const Call call;
    MPI_Isend(message_.data(), int(message_.size()), MPI_BYTE, rank, message_tag, MPI_COMM_WORLD, &request_);
  }
  ~MpiSending() override {
    // A run that has failed does not wait for a rank that may have failed too; MPI keeps the bytes until it ends.
    while (is_running() && !is_done()) {
      if (std::uncaught_exceptions() > 0) {
        leave_behind(std::move(message_));
        return;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  bool is_done() override {
    const Call call;
    int done = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }

 private:
  static void leave_behind(std::vector<std::byte>&& message) {
    static std::vector<std::vector<std::byte>> messages;
    messages.push_back(std::move(message));
  }

  std::vector<std::byte> message_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<World::Sending> World::send(int rank, std::vector<std::byte>&& message) const {
  return std::make_unique<MpiSending>(rank, std::move(message));
}

std::vector<std::byte> World::receive() const {
  if (ranks_ == 1) return {};
  const Call call;
  int waiting = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, message_tag, MPI_COMM_WORLD, &waiting, &status);
  if (!waiting) return {};
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, message_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return bytes;
}

void World::abort(int exit_code) const {
  if (is_running()) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text, std::size_t(length));
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace thor::comm
