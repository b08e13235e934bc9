#pragma once
#include <span>

#include "thor/io/array/output.hpp"
#include "thor/outputs/frequency_axis.hpp"
#include "thor/transport/photon.hpp"

namespace thor {

struct Medium;
namespace config {
template <class T>
class Section;

enum class PhotonField {
  id,
  weight,
  velocity_initial,
  velocity_final,
  velocity_scattered,
  position,
  direction,
  scatterings,
  column,
  position_initial,
  generator,
  source
};
}  // namespace config

/// Request for raw photons.
struct PhotonsOutput {
  static constexpr const char* type = "photons";
  static constexpr const char* meaning = "every photon, one row each";

  std::vector<config::PhotonField> fields;  ///< each at most once, at least one

  static const config::Section<PhotonsOutput>& section();
  bool operator==(const PhotonsOutput&) const = default;
};

/// Raw photons, streamed to disk as they finish: /photons/original/{id, weight, ...}. Those that escaped, were absorbed
/// or were lost are told apart by `fate`.
class PhotonStream {
 public:
  /// For photons with the weights that they would have alone, `sharing` of which share the light.
  PhotonStream(const PhotonsOutput& output, const Medium& medium, const FrequencyAxis& axis, double sharing,
               io::ArrayOutput& file);

  void accept(std::span<const Photon> photons);
  void finish();  ///< to call after the last accept()

 private:
  template <class T>
  struct Field {
    io::Column<T> column;
    bool wanted = false;
  };
  io::ArrayOutput& file_;
  FrequencyAxis axis_;
  double size_, cross_section_, sharing_;
  Field<std::uint64_t> id_, source_;
  Field<std::int64_t> scatterings_, fate_, generator_;
  Field<double> weight_, velocity_initial_, velocity_final_, velocity_scattered_, position_, position_initial_,
      direction_, column_;
};

}  // namespace thor
