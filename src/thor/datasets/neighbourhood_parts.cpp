#include "thor/datasets/neighbourhood_sheet.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

#include "thor/datasets/counted_cells.hpp"
#include "thor/datasets/grid_partition.hpp"
#include "thor/datasets/mesh_lengths.hpp"
#include "thor/datasets/neighbourhood.hpp"

namespace thor {
namespace {

/// A part, as this process holds it.
struct HeldSheet {
  CellBox box;  ///< with its margin
  Sheet sheet;
  bool lowered = true;  ///< whether lengths at its borders have become less since it was relaxed

  /// Calls f for each row of some cells, with the number of those before.
  void for_each_row(const CellBox& cells, const auto& f) {
    std::int64_t before = 0;
    for (std::int64_t x = 0; x < cells.count[0]; ++x) {
      for (std::int64_t y = 0; y < cells.count[1]; ++y, before += cells.count[2]) {
        const auto row = sheet.row(cells.first[0] - box.first[0] + x, cells.first[1] - box.first[1] + y);
        f(row.subspan(std::size_t(cells.first[2] - box.first[2]), std::size_t(cells.count[2])), std::size_t(before));
      }
    }
  }
};

/// Cells of a margin, and the domain that they belong to.
struct Piece {
  int owner;
  CellBox there, here;  ///< where they are in the box of the owner, and in the padded one: copies of a periodic grid
};

/// What the margin of a domain consists of, in an order that all ranks agree on.
std::vector<Piece> pieces_of_margin(const Domains& domains, const GridShape& whole, int domain) {
  std::vector<Piece> pieces;
  const CellBox padded = domains.padded(domain);
  const std::int64_t most = whole.periodic ? 1 : 0;
  for (int owner = 0; owner < domains.count(); ++owner) {
    if (owner == domain) continue;
    const CellBox& box = domains.box(owner);
    for (std::int64_t copy = 0; copy < (whole.periodic ? 27 : 1); ++copy) {
      const CellIndex shift{copy / 9 - most, copy / 3 % 3 - most, copy % 3 - most};
      Piece piece{owner, {}, {}};
      bool meets = true;
      for (std::size_t k = 0; k < 3; ++k) {
        const std::int64_t by = whole.periodic ? shift[k] * whole.count[k] : 0;
        const std::int64_t low = std::max(padded.first[k], box.first[k] + by);
        const std::int64_t high = std::min(padded.first[k] + padded.count[k], box.first[k] + by + box.count[k]);
        meets = meets && low < high;
        piece.here.first[k] = low, piece.there.first[k] = low - by;
        piece.here.count[k] = piece.there.count[k] = high - low;
      }
      if (meets) pieces.push_back(piece);
    }
  }
  return pieces;
}

/// Lengths that go from the part of one rank to the margin of a part of a rank.
struct Delivery {
  int rank, domain;
  std::uint64_t number;  ///< among the pieces of the margin
  Piece piece;
};

/// Tells the lengths at borders to those who have them in a margin.
class Exchange {
 public:
  Exchange(const comm::World& world, const GridPartition& partition, const GridShape& whole,
           std::map<int, HeldSheet>& sheets)
      : world_(world), sheets_(sheets) {
    const Domains& domains = partition.domains();
    std::vector<std::vector<int>> holders;
    for (int domain = 0; domain < domains.count(); ++domain)
      holders.push_back(partition.holders(domain, world.ranks()));
    for (int domain = 0; domain < domains.count(); ++domain) {
      const std::vector<Piece> pieces = pieces_of_margin(domains, whole, domain);
      if (sheets.contains(domain)) pieces_[domain] = pieces;
      for (const int rank : holders[std::size_t(domain)]) {
        for (std::size_t i = 0; i < pieces.size(); ++i) {
          const std::vector<int>& owners = holders[std::size_t(pieces[i].owner)];
          const bool own = std::ranges::count(owners, rank) > 0;
          const int from = own ? rank : owners[std::size_t(rank) % owners.size()];
          if (from == world.rank()) deliveries_.push_back({rank, domain, i, pieces[i]});
          if (from != rank && rank == world.rank()) ++expected_;
        }
      }
    }
  }

  /// Collective. Whether any length has become less, on any rank.
  bool run() {
    bool lowered = false;
    std::vector<std::unique_ptr<comm::World::Sending>> sending;
    for (const Delivery& d : deliveries_) {
      std::vector<std::byte> message = packed(d);
      if (d.rank == world_.rank()) {
        lowered = unpack(message) || lowered;
      } else {
        sending.push_back(world_.send(d.rank, std::move(message)));
      }
    }
    for (std::size_t received = 0; received < expected_;) {
      const std::vector<std::byte> message = world_.receive();
      if (message.empty()) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        continue;
      }
      lowered = unpack(message) || lowered;
      ++received;
    }
    sending.clear();  // waits
    return world_.largest(lowered) > 0;
  }

 private:
  struct Head {
    std::int64_t domain;
    std::uint64_t number;
  };
  std::vector<std::byte> packed(const Delivery& d) {
    const Head head{d.domain, d.number};
    std::vector<std::byte> message(sizeof(Head) + sizeof(Length) * std::size_t(d.piece.there.cells()));
    std::memcpy(message.data(), &head, sizeof head);
    sheets_.at(d.piece.owner).for_each_row(d.piece.there, [&](std::span<const Length> row, std::size_t before) {
      std::memcpy(message.data() + sizeof head + sizeof(Length) * before, row.data(), row.size_bytes());
    });
    return message;
  }
  bool unpack(const std::vector<std::byte>& message) {
    Head head{};
    std::memcpy(&head, message.data(), sizeof head);
    HeldSheet& part = sheets_.at(int(head.domain));
    bool lowered = false;
    const CellBox& here = pieces_.at(int(head.domain)).at(head.number).here;
    part.for_each_row(here, [&](std::span<Length> row, std::size_t before) {
      for (std::size_t z = 0; z < row.size(); ++z) {
        Length length = 0;
        std::memcpy(&length, message.data() + sizeof head + sizeof length * (before + z), sizeof length);
        lowered |= length < row[z];
        row[z] = std::min(row[z], length);
      }
    });
    part.lowered = part.lowered || lowered;
    return lowered;
  }

  const comm::World& world_;
  std::map<int, HeldSheet>& sheets_;
  std::map<int, std::vector<Piece>> pieces_;  ///< of the margins here
  std::vector<Delivery> deliveries_;
  std::size_t expected_ = 0;
};

}  // namespace

std::vector<std::vector<float>> neighbourhood_scales(const comm::World& world, const GridPartition& partition,
                                                     const GridShape& whole, std::span<const HeldCells> held,
                                                     int threads) {
  const Domains& domains = partition.domains();
  std::map<int, HeldSheet> sheets;
  for (const HeldCells& part : held) {
    const CellBox padded = domains.padded(part.domain);
    Sheet sheet(padded.count, {});
    CellBox own = domains.box(part.domain);
    for (std::size_t k = 0; k < 3; ++k) {
      sheet.wraps[k] = whole.periodic && padded.count[k] == whole.count[k];
      own.first[k] -= padded.first[k];
    }
    set_gradients(*part.cells, own, sheet, threads);
    sheets.emplace(part.domain, HeldSheet{padded, std::move(sheet)});
  }
  Exchange exchange(world, partition, whole, sheets);
  do {
    for (auto& [domain, part] : sheets) {
      if (part.lowered) relax(part.sheet);
      part.lowered = false;
    }
  } while (exchange.run());
  std::vector<std::vector<float>> scales;
  for (const HeldCells& part : held) {
    Sheet& sheet = sheets.at(part.domain).sheet;
    scales.push_back(in_cells(sheet));
    sheet.length = {};
  }
  return scales;
}

std::vector<std::vector<float>> core_lengths(const comm::World& world, const Medium& medium, int threads) {
  if (std::dynamic_pointer_cast<const MeshCells>(medium.cells)) {
    std::vector<const MeshCells*> parts;
    for (const CountedCells& part : counted_cells(medium, world)) {
      parts.push_back(dynamic_cast<const MeshCells*>(part.cells));
    }
    std::vector<std::vector<float>> all;
    for (MeshLengths& part : mesh_lengths(medium.divided ? &world : nullptr, parts, threads)) {
      all.push_back(std::move(part.at_middle));
    }
    return all;
  }
  if (!medium.divided) return {neighbourhood_scale(dynamic_cast<const Cells&>(*medium.cells), threads)};
  std::vector<HeldCells> held;
  for (const GasPart& part : medium.divided->parts)
    held.push_back({part.domain, &dynamic_cast<const Cells&>(*part.cells)});
  const auto& partition = dynamic_cast<const GridPartition&>(*medium.divided->partition);
  return neighbourhood_scales(world, partition, medium.grid, held, threads);
}

}  // namespace thor
