#pragma once
#include <memory>
#include <string>

#include "thor/operators/sightlines.hpp"

namespace thor {

class RayProduct;
class RayWork;

namespace config {

struct TracerOperator {
  static constexpr const char* type = "tracer";
  static constexpr const char* meaning = "fields along sightlines, piece by piece";
  static const Section<TracerOperator>& section();
  std::string name, fields;
  Sightlines sightlines;

  std::unique_ptr<RayProduct> product(RayWork& work, std::size_t op) const;
  bool operator==(const TracerOperator&) const = default;
};

}  // namespace config
}  // namespace thor
