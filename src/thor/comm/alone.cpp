// A build without MPI (THOR_MPI=OFF): every process is alone.
#include <cstdlib>

#include "thor/comm/world.hpp"
#include "thor/core/error.hpp"

namespace thor::comm {

World::World() {
  for (const char* size : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* ranks = std::getenv(size);
    if (ranks && std::atoi(ranks) > 1) {
      throw Error(ExitCode::device,
                  "this build has no MPI, so every process of mpirun would do the whole run: configure with "
                  "-DTHOR_MPI=ON, or run without mpirun");
    }
  }
}
World::~World() = default;

void World::add_at_first(std::span<std::uint64_t>) const {}
std::uint64_t World::largest(std::uint64_t value) const { return value; }
std::vector<std::uint64_t> World::from_first(std::vector<std::uint64_t> values) const { return values; }
std::vector<std::uint64_t> World::at_first(const std::vector<std::uint64_t>& values) const { return values; }
std::vector<std::uint64_t> World::exchange(std::vector<std::vector<std::uint64_t>> values) const {
  return std::move(values.front());
}
Words World::ask(const Words& question) const { return question; }
bool World::answer(const std::function<Words(int, const Words&)>&) const { return false; }
std::unique_ptr<World::Sending> World::send(int, std::vector<std::byte>&&) const { return nullptr; }
std::vector<std::byte> World::receive() const { return {}; }
void World::abort(int exit_code) const { std::_Exit(exit_code); }

std::string mpi_version() { return "not in this build"; }

}  // namespace thor::comm
