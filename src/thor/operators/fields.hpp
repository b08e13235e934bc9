#pragma once
#include <string>

#include "thor/operators/scene.hpp"

namespace thor {

struct Line;

namespace config {
enum class FieldScale { log, linear };
}

/// A quantity as an operator reads it, and what its numbers are.
struct FieldUse {
  FieldProduct quantity;
  double unit = 1;      ///< of the numbers
  std::string units{};  ///< that unit is in: "g cm-3"
};

/// The ion that absorbs in a line: number density, temperature and velocity in cgs.
struct Absorber {
  FieldUse density, temperature, velocity;
};

/// The gas as operators know it when they make their plans. What they use is read, and stays in memory.
class FieldSource {
 public:
  virtual ~FieldSource() = default;
  /// A product of fields, in the units of the file. Errors name the fields that there are.
  virtual FieldUse use(const std::string& product) = 0;
  /// The same as the place in a range, 0 to 1.
  virtual FieldUse place(const std::string& product, config::FieldScale scale, double low, double high) = 0;
  /// The same over its mean in all of the gas.
  virtual FieldUse over_mean(const std::string& product) = 0;
  virtual Absorber absorber(const Line& line, const std::string& density_field) = 0;

  virtual double length() const = 0;   ///< unit of length [cm]
  virtual double longest() const = 0;  ///< side of the gas [cm]
  virtual double hubble() const = 0;   ///< [1/s]
  virtual bool repeats() const = 0;    ///< a periodic box in the Hubble flow: its images are at other velocities
  virtual double b_turb() const = 0;   ///< [cm/s]
};

}  // namespace thor
