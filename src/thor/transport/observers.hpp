#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace thor {

/// Which events send rays towards observers, and when rays end: plain data.
struct RayRules {
  double cut = 30;      ///< optical depth at which every ray ends
  double roulette = 3;  ///< optical depth from which rays end at random
  double depth = 0;     ///< path at which they end and are seen, in the lanes' unit of length; 0: none
  /// After so many steps of a photon, one in `thin` of its scatterings in the core sends rays, with the light of all.
  int thin_after = 1 << 18, thin = 8;
};

/// Limits within which successive rays of a photon towards an observer are alike and fused (transport/fuse.hpp): plain
/// data, 0 where fusing is off.
struct FuseRules {
  double velocity = 0;  ///< in the lanes' unit of frequency
  double distance = 0;  ///< in the lanes' unit of length
};

/// An event of a photon for an observer: the key of all that is random about its ray, which has no stream of a photon.
struct RayKey {
  std::uint64_t seed, id, event;
  int observer;
};

/// The observers of a run that a step looks at, plain data: a ray that the gas around its event hides is not logged.
template <class Real>
struct Lookout {
  static constexpr int most = 16;
  int count = 0;                                      ///< 0: there are more, and all events are logged for all of them
  Real towards[most][3] = {}, inverse[most][3] = {};  ///< unit vectors, and 1 over the amounts of their components
  Real roulette = 0, cut = 0;                         ///< as in RayRules
};

/// The observers of a run, as the engines need them.
struct Observers {
  std::vector<std::array<double, 3>> towards;  ///< unit vectors from the object to each of them
  RayRules rules{};
  FuseRules fuse{};
  double memory = 2e9;  ///< of a device, for events whose rays wait [byte]
  int recorded = -1;    ///< the one whose light goes to the sink; -1: none

  bool empty() const { return towards.empty(); }
  bool fuses() const { return fuse.distance > 0 && !empty(); }

  template <class Real>
  Lookout<Real> lookout() const {
    Lookout<Real> out;
    out.roulette = Real(rules.roulette), out.cut = Real(rules.cut);
    if (towards.size() > std::size_t(Lookout<Real>::most)) return out;
    for (const auto& n : towards) {
      for (std::size_t k = 0; k < 3; ++k) {
        const auto component = Real(n[k]);
        out.towards[out.count][k] = component;
        out.inverse[out.count][k] = 1 / std::max(component < 0 ? -component : component, Real(1e-20));
      }
      ++out.count;
    }
    return out;
  }
};

}  // namespace thor
