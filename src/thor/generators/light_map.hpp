#pragma once
#include <array>

#include "thor/generators/emitter.hpp"

namespace thor {

/// How many photons begin in a box of a mesh, to within a block of some cells: what is known of the work that a mesh
/// will be before a photon has been followed. Places are fractions of its sides.
class LightMap {
 public:
  using Place = std::array<double, 3>;

  /// Collective where processes share the cells that shine (`options`).
  LightMap(const Emitter<double>& emitter, const HostMesh& mesh, const EmitterOptions& options = {});
  /// Share of all photons.
  double operator()(const Place& low, const Place& high) const;

 private:
  static constexpr std::int64_t most_blocks = 64;  ///< along an axis
  using Block = std::array<std::int64_t, 3>;

  void add(const Source<double>& source, double share);
  void add(const SourceTable& table, const DividedLight::Slots* slots, double share);
  void add_light(const std::array<std::int32_t, 3>& place, double share);
  void add_up();
  double below(const Place& corner) const;
  std::size_t index(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return std::size_t((x * (blocks_[1] + 1) + y) * (blocks_[2] + 1) + z);
  }

  const HostMesh& mesh_;
  Block blocks_{};
  std::vector<double> sums_;  ///< photons in all blocks below a corner along every axis
};

}  // namespace thor
