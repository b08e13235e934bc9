#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// The processes of a run. The only code that knows MPI is mpi.cpp; a build without it has alone.cpp in its place.
namespace thor::comm {

/// A question to the first rank, or its answer.
using Words = std::array<std::uint64_t, 6>;

/// The ranks that a launcher of MPI (mpirun, srun) has started together. A process that was started without one is
/// alone, and takes no time to find that out. What is collective is called by all ranks, in the same order.
class World {
 public:
  /// Collective. Throws thor::Error(ExitCode::device) where MPI cannot serve several threads.
  World();
  /// A process alone, whatever has started it.
  struct Alone {};
  explicit World(Alone) {}
  ~World();  // NOLINT(performance-trivially-destructible): that of mpi.cpp is not
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool is_first() const { return rank_ == 0; }
  bool is_alone() const { return ranks_ == 1; }
  int rank_on_node() const { return rank_on_node_; }  ///< among the ranks that share this machine
  int ranks_on_node() const { return ranks_on_node_; }

  /// Collective: adds the numbers of all ranks. The first one has the sums, the others are left with zeros.
  void add_at_first(std::span<std::uint64_t> numbers) const;
  /// Collective: the largest of the values of all ranks.
  std::uint64_t largest(std::uint64_t value) const;
  /// Collective: the values of the first rank, of which the others give none.
  std::vector<std::uint64_t> from_first(std::vector<std::uint64_t> values) const;
  /// Collective: the values of all ranks, one after the other, at the first; nothing elsewhere.
  std::vector<std::uint64_t> at_first(const std::vector<std::uint64_t>& values) const;
  /// Collective: gives each rank its values, and returns what all have for this one, one after the other.
  std::vector<std::uint64_t> exchange(std::vector<std::vector<std::uint64_t>> values) const;

  /// Asks the first rank, and waits for its answer: one question of a rank at a time. Not for the first rank.
  Words ask(const Words& question) const;
  /// For the first rank: answers a question, if one is there. False if there is none.
  bool answer(const std::function<Words(int rank, const Words&)>& reply) const;

  /// A message on its way; its bytes are kept until it has left.
  class Sending {
   public:
    virtual ~Sending() = default;
    virtual bool is_done() = 0;
  };
  /// Sends to another rank, without waiting for it.
  std::unique_ptr<Sending> send(int rank, std::vector<std::byte>&& message) const;
  /// A message that has come; nothing if none has.
  std::vector<std::byte> receive() const;

  /// Ends all ranks.
  [[noreturn]] void abort(int exit_code) const;

 private:
  int rank_ = 0, ranks_ = 1, rank_on_node_ = 0, ranks_on_node_ = 1;
  bool owns_mpi_ = false;
};

/// The library of MPI and its version; "not in this build".
std::string mpi_version();

}  // namespace thor::comm
