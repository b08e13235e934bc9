#pragma once
#include "thor/outputs/bin_axis.hpp"
#include "thor/outputs/binned.hpp"
#include "thor/outputs/sight.hpp"

namespace thor {

/// A profile as it is counted: plain data.
struct ProfilePlan {
  Bins bins;
  FrequencyAxis frequency;
  config::Fate of;
  SkyFrame sky;
  BinAxis rings;  ///< distance from the centre, on the sky [cm]

  bool operator==(const ProfilePlan&) const = default;
};

/// Surface brightness in rings around a centre, as an observer sees it.
struct ProfileOutput {
  static constexpr const char* type = "profile";
  static constexpr const char* meaning = "surface brightness in rings around a centre, with its Monte Carlo error";

  std::string name;
  config::Fate of = config::Fate::escaped;
  double inner = 0, radius = 0;  ///< [cm]
  std::uint64_t bins = 0;
  bool logarithmic = false;
  config::Sight sight{};
  std::string reference{};  ///< the transition of lambda0; "" is the line's first
  std::string generator{};  ///< those whose photons it counts; "" are all
  bool errors = true;

  static const config::Section<ProfileOutput>& section();
  ProfilePlan plan(const OutputContext& context) const;
  void write(io::ArrayOutput& file, const ProfilePlan& plan, const BinnedLight& light) const;

  bool operator==(const ProfileOutput&) const = default;
};

inline namespace THOR_ISA {

template <class Contributions>
THOR_FN void count(const ProfilePlan& p, const Seen& seen, Contributions& bins) {
  const SkyPlace place = record(p.sky, seen).place;
  bins.add(bin_on(p.rings, sqrt(place.right * place.right + place.up * place.up)), seen.light);
}

template <class Contributions>
THOR_FN void count(const ProfilePlan& p, const Photon& photon, Contributions& bins) {
  look_at(p.sky, photon, [&](const Seen& seen) { count(p, seen, bins); });
}

}  // namespace THOR_ISA
}  // namespace thor
