#pragma once
#include <string>
#include <vector>

#include "thor/outputs/photons.hpp"

namespace thor::sweep {

/// Raw photons of a model, for reweighting: those that escaped, in the order of their ids, some numbers of each.
class KeptPhotons {
 public:
  struct Field {
    config::PhotonField field;
    const char *name, *unit, *meaning;
  };

  /// None, or those of an output, which has fields that a sweep keeps: Error(usage) else.
  explicit KeptPhotons(const std::optional<PhotonsOutput>& output);

  explicit operator bool() const { return !fields_.empty(); }
  const std::vector<Field>& fields() const { return fields_; }
  /// A row for each photon.
  std::vector<float> rows(std::vector<Photon> photons, const FrequencyAxis& axis, double cross_section) const;

 private:
  std::vector<Field> fields_{};
};

}  // namespace thor::sweep
