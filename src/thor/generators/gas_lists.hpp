#pragma once
#include <map>

#include "thor/generators/emitter.hpp"

namespace thor {

/// The cells of a generator of type gas with their shares of its photons, as build_source_list() has them: of all
/// cells, or of the domains that this process holds. The slots are the same however the cells are shared out, and so
/// are all sums: they are exact.
class GasLists {
 public:
  /// Collective where processes share the cells.
  GasLists(const config::Generator& generator, const Medium& medium, std::uint64_t seed, const EmitterOptions& options,
           Light& light);

  const DividedLight::Slots& slots() const { return slots_; }
  /// Of a domain (0: of all cells); where another process holds it at first, this reads its light.
  std::shared_ptr<const SourceList> list(int domain) const;

 private:
  std::shared_ptr<const HostMesh> mesh_of(int domain) const;
  std::vector<float> light_of(int domain) const;
  void add_up(const std::map<int, std::vector<float>>& lights, const comm::World& world, bool silent, Light& light);
  SourceList list_of(int domain, const std::vector<float>& light) const;

  const config::Generator generator_;
  const std::shared_ptr<const HostMesh> mesh_;
  const std::vector<std::int64_t> dropped_;  ///< numbers of bad cells, which are dark
  const std::shared_ptr<const Partition> partition_;
  double sum_ = 0;  ///< luminosity [erg/s]
  DividedLight::Slots slots_;
  std::map<int, std::shared_ptr<const SourceList>> held_;
};

}  // namespace thor
