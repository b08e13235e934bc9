#pragma once
#include <cstdint>
#include <string>

namespace thor::config {

template <class T>
class Section;

enum class CoreSkipMode { none, local, global, fixed };  ///< `smith15` is local

struct CoreSkip {
  CoreSkipMode mode = CoreSkipMode::none;
  double x_crit = 0;  ///< fixed

  bool operator==(const CoreSkip&) const = default;
};

struct Acceleration {
  CoreSkip core_skip;
  bool jumps = false;
  struct Note {
    std::string text;
    bool operator==(const Note&) const { return true; }
  } note;                    ///< on what the two mean together as they are written, for the user
  double jump_depth = 0;     ///< largest line-centre optical depth of a sphere
  double jump_shear = 0;     ///< largest change of velocity over its radius, in thermal speeds
  double jump_gradient = 0;  ///< largest relative change of density
  std::string jump_tables;   ///< a file of tables; "": those of the program

  bool operator==(const Acceleration&) const = default;
};

/// A photon beyond these is counted as lost.
struct Limits {
  static constexpr std::uint64_t most = 2'000'000'000;  ///< and the default

  std::uint64_t max_scatterings = 0;
  std::uint64_t max_steps = 0;

  bool operator==(const Limits&) const = default;
};

const Section<Acceleration>& acceleration_section();
const Section<Limits>& limits_section();

}  // namespace thor::config
