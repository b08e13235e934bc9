#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "thor/core/derived.hpp"
#include "thor/datasets/cell_numbers.hpp"
#include "thor/io/array/input.hpp"
#include "thor/io/array/output.hpp"

namespace thor {

/// The cells of a dataset as the host sees them, all or those of a domain, whatever their shape: where sources lie,
/// what files hold of a cell, and what a result says of them. Positions are in units of the dataset from its origin,
/// along each axis.
class HostMesh {
 public:
  using Position = std::array<double, 3>;
  /// A point as its dataset keeps it: the integers of the place, and the coordinates that go with it.
  struct Site {
    std::array<std::int32_t, 3> place{};
    Position offset{};
  };

  virtual ~HostMesh() = default;

  virtual const char* name() const = 0;  ///< in messages: "grid"
  virtual std::int64_t cells() const = 0;
  virtual CellNumbers numbers() const = 0;  ///< of the cells among those of the whole mesh
  /// The row of each cell in a file that has a number for each; none: they stand there in their order.
  virtual std::vector<std::uint32_t> rows() const { return {}; }
  virtual std::array<std::int32_t, 3> place(std::int64_t number) const = 0;  ///< of a cell of the whole mesh
  virtual Position centre(const std::array<std::int32_t, 3>& place) const = 0;
  virtual double volume(std::int64_t cell) const = 0;  ///< [cm^3]
  virtual Position low() const = 0;                    ///< the corner of the box around the whole mesh,
  virtual Position sides() const = 0;                  ///< and its sides
  virtual bool periodic() const = 0;
  /// Memory on the host, beside the gas [bytes].
  virtual double bytes() const { return 0; }

  /// None: outside, also of a periodic box.
  virtual std::optional<Site> locate(const Position& position) const = 0;
  /// Copies of a point where a mesh repeats what its file holds, in their order: at least one. In a periodic box a
  /// point outside has its image inside.
  virtual std::vector<std::optional<Site>> copies(const Position& position) const = 0;

  /// Error(input) if an array of a file has not one number for each cell.
  virtual void check_field(const io::Input& file, const std::string& field) const = 0;
  /// An array of a file, in threads: take(cell, value), for these cells.
  virtual void read_field(const std::string& path, const std::string& field, int threads,
                          const std::function<void(std::int64_t cell, double value)>& take) const = 0;

  /// Numbers for `thor check`.
  virtual std::vector<Derived> derived() const = 0;
  /// What a result says of its cells.
  virtual void write(io::ArrayOutput& file) const = 0;
};

}  // namespace thor
