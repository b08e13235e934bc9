#include "thor/gridding/slab_output.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "thor/comm/together.hpp"

namespace thor::gridding {
namespace {

constexpr std::size_t most_at_once = 1 << 22;  ///< values of a message

}  // namespace

SlabOutput::SlabOutput(const comm::World& world, const std::string& path, bool overwrite)
    : world_(world), each_writes_(std::filesystem::path(path).extension() == ".zarr") {
  together([&] {
    if (world_.is_first()) file_.emplace(path, overwrite);
  });
  together([&] {
    if (!world_.is_first() && each_writes_) file_.emplace(io::ArrayOutput::join(path));
  });
}

void SlabOutput::together(const std::function<void()>& work) {
  comm::do_together(world_, work, [this] { file_.reset(); });
}

void SlabOutput::begin(const std::vector<CellArray>& arrays, const Lattice& lattice, const MemoryPlan& memory,
                       int compression) {
  arrays_ = arrays, lattice_ = lattice, layers_ = memory.layers;
  const std::vector<std::uint64_t> shape(lattice.cells.begin(), lattice.cells.end());
  together([&] {
    for (const CellArray& array : arrays) {
      if (!file_) break;
      file_->begin<float>(array.name, shape, std::uint64_t(layers_), array.units, array.description, compression);
    }
  });
}

std::size_t SlabOutput::cells_of(int rank) const {
  const std::int64_t first = (slab_ + rank) * layers_, all = lattice_.cells[0];
  return std::size_t(std::clamp<std::int64_t>(all - first, 0, layers_) * lattice_.cells[1] * lattice_.cells[2]);
}

float* SlabOutput::room() {
  if (!values_) values_.reset(new float[std::size_t(layers_ * lattice_.cells[1] * lattice_.cells[2])]);
  return values_.get();
}

void SlabOutput::write(const std::function<void(const CellArray&, float*)>& fill) {
  if (each_writes_ || world_.is_alone()) {
    together([&] { write_own(fill); });
  } else {
    write_in_turns(fill);
  }
  slab_ += world_.ranks();
}

void SlabOutput::write_own(const std::function<void(const CellArray&, float*)>& fill) {
  for (const CellArray& array : arrays_) {
    for (int rank = 0; rank < world_.ranks(); ++rank) {
      const std::size_t cells = cells_of(rank);
      if (cells == 0) break;
      if (rank != world_.rank()) {
        file_->skip(array.name);
        continue;
      }
      fill(array, room());
      file_->append<float>(array.name, std::span<const float>(room(), cells));
    }
  }
}

void SlabOutput::write_in_turns(const std::function<void(const CellArray&, float*)>& fill) {
  std::exception_ptr failure;
  for (int rank = 0; rank < world_.ranks() && cells_of(rank) > 0; ++rank) {
    world_.largest(0);  // the turn of this rank
    for (const CellArray& array : arrays_) {
      const std::span<float> values(world_.is_first() || world_.rank() == rank ? room() : nullptr, cells_of(rank));
      if (rank > 0 && world_.is_first()) receive(values);
      try {
        if (world_.rank() == rank && !failure) fill(array, values.data());
        if (world_.is_first() && !failure) file_->append<float>(array.name, values);
      } catch (...) {  // the others still send, or wait for what is sent
        failure = std::current_exception();
      }
      if (rank > 0 && world_.rank() == rank) send(values);
    }
  }
  together([&] {
    if (failure) std::rethrow_exception(failure);
  });
}

void SlabOutput::send(std::span<const float> values) const {
  for (; !values.empty(); values = values.subspan(std::min(most_at_once, values.size()))) {
    const auto bytes = std::as_bytes(values.first(std::min(most_at_once, values.size())));
    const auto sending = world_.send(0, {bytes.begin(), bytes.end()});
    while (!sending->is_done()) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void SlabOutput::receive(std::span<float> values) const {
  while (!values.empty()) {
    const std::vector<std::byte> message = world_.receive();
    if (message.empty()) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      continue;
    }
    std::memcpy(values.data(), message.data(), message.size());
    values = values.subspan(message.size() / sizeof(float));
  }
}

void SlabOutput::finish() {
  together([&] {
    if (!world_.is_first() && file_) file_->finish();
  });
}

}  // namespace thor::gridding
