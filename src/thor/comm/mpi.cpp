// World over MPI (THOR_MPI=ON), by the C interface of MPI 3.
#define OMPI_SKIP_MPICXX 1  // the C interface alone
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
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

/// One thread at a time calls MPI, and none waits in it for another rank while others have to: libraries that promise
/// MPI_THREAD_MULTIPLE have hung with less. Collective calls are made while no other thread has a reason to call.
std::mutex one_at_a_time;

/// Calls use(first, size) for pieces of so many words: MPI counts in int.
void for_pieces(std::size_t count, const auto& use) {
  for (std::size_t i = 0; i < count; i += most_at_once) use(i, int(std::min(most_at_once, count - i)));
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
                "the launcher has started several processes, which this MPI does not know of: each would do the whole "
                "run. Use the launcher of this MPI, or srun --mpi=pmix");
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
    throw Error(ExitCode::device,
                "this MPI serves the first thread only (MPI_THREAD_SERIALIZED is missing): use another");
  }
}

World::~World() {
  if (!owns_mpi_ || !is_running()) return;
  // One rank that fails while others wait for it would leave them waiting.
  if (std::uncaught_exceptions() > 0 && ranks_ > 1) MPI_Abort(MPI_COMM_WORLD, int(ExitCode::internal));
  MPI_Finalize();
}

void World::add_at_first(std::span<std::uint64_t> cells) const {
  if (ranks_ == 1) return;
  for_pieces(cells.size(), [&](std::size_t first, int size) {
    const auto part = cells.subspan(first, std::size_t(size));
    MPI_Reduce(is_first() ? MPI_IN_PLACE : part.data(), is_first() ? part.data() : nullptr, size, MPI_UINT64_T, MPI_SUM,
               0, MPI_COMM_WORLD);
    if (!is_first()) std::ranges::fill(part, 0);
  });
}

std::uint64_t World::largest(std::uint64_t value) const {
  if (ranks_ > 1) MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

std::vector<std::uint64_t> World::from_first(std::vector<std::uint64_t> values) const {
  if (ranks_ == 1) return values;
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

Words World::ask(const Words& question) const {
  constexpr int size = int(std::tuple_size_v<Words>);
  Words reply{};
  MPI_Request requests[2];
  {
    const std::lock_guard lock(one_at_a_time);
    MPI_Irecv(reply.data(), size, MPI_UINT64_T, 0, answer_tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(question.data(), size, MPI_UINT64_T, 0, question_tag, MPI_COMM_WORLD, &requests[1]);
  }
  for (auto pause = std::chrono::microseconds(5);; pause = std::min(2 * pause, std::chrono::microseconds(100))) {
    int done = 0;
    {
      const std::lock_guard lock(one_at_a_time);
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
    const std::lock_guard lock(one_at_a_time);
    int waiting = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, question_tag, MPI_COMM_WORLD, &waiting, &status);
    if (!waiting) return false;
    MPI_Recv(question.data(), size, MPI_UINT64_T, status.MPI_SOURCE, question_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const Words words = reply(status.MPI_SOURCE, question);
  const std::lock_guard lock(one_at_a_time);
  MPI_Send(words.data(), size, MPI_UINT64_T, status.MPI_SOURCE, answer_tag, MPI_COMM_WORLD);
  return true;
}

namespace {

class MpiSending : public World::Sending {
 public:
  MpiSending(int rank, std::vector<std::byte> message) : message_(std::move(message)) {
    const std::lock_guard lock(one_at_a_time);
    MPI_Isend(message_.data(), int(message_.size()), MPI_BYTE, rank, message_tag, MPI_COMM_WORLD, &request_);
  }
  ~MpiSending() override {
    if (is_running()) MPI_Wait(&request_, MPI_STATUS_IGNORE);  // done, but for a run that has failed
  }
  bool is_done() override {
    const std::lock_guard lock(one_at_a_time);
    int done = 0;
    MPI_Test(&request_, &done, MPI_STATUS_IGNORE);
    return done != 0;
  }

 private:
  std::vector<std::byte> message_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<World::Sending> World::send(int rank, std::vector<std::byte>&& message) const {
  return std::make_unique<MpiSending>(rank, std::move(message));
}

std::vector<std::byte> World::receive() const {
  if (ranks_ == 1) return {};
  const std::lock_guard lock(one_at_a_time);
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
