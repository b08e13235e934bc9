#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "thor/io/array/output.hpp"
#include "thor/outputs/frequency_axis.hpp"
#include "thor/outputs/observer.hpp"
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

/// Photons as they end, or the light that they send to an observer on their way.
enum class PhotonsOf { original, peel };
}  // namespace config

/// Request for raw photons.
struct PhotonsOutput {
  static constexpr const char* type = "photons";
  static constexpr const char* meaning = "every photon, or all light that is peeled off for an observer, one row each";

  config::PhotonsOf of = config::PhotonsOf::original;
  std::vector<config::PhotonField> fields;  ///< of original ones: each at most once, at least one
  std::string observer;                     ///< whom peeled light is sent to

  static const config::Section<PhotonsOutput>& section();
  bool operator==(const PhotonsOutput&) const = default;
};

/// Raw photons, streamed to disk as they finish: /photons/original/{id, weight, ...}. Those that escaped, were absorbed
/// or were lost are told apart by `fate`.
class PhotonStream {
 public:
  /// For photons with the weights that they would have alone, `sharing` of which share the light. `of_cells`: of each
  /// generator, whether its sources are the cells of the gas.
  PhotonStream(const PhotonsOutput& output, const Medium& medium, const std::vector<bool>& of_cells,
               const FrequencyAxis& axis, double sharing, io::ArrayOutput& file);

  void accept(std::span<const Photon> photons);
  void finish();  ///< to call after the last accept()
  std::uint64_t rows() const { return fate_.column.rows(); }

 private:
  template <class T>
  struct Field {
    io::Column<T> column;
    bool wanted = false;
  };
  io::ArrayOutput& file_;
  FrequencyAxis axis_;
  double size_, cross_section_, sharing_;
  std::vector<bool> of_cells_;
  std::vector<std::uint32_t> rows_;  ///< of the cells in their file, where that is another order
  Field<std::uint64_t> id_, source_;
  Field<std::int64_t> scatterings_, fate_, generator_;
  Field<double> weight_, velocity_initial_, velocity_final_, velocity_scattered_, position_, position_initial_,
      direction_, column_;
};

/// All light that is peeled off for one observer, streamed to disk: /photons/peel/{id, generator, light, velocity,
/// position}.
class PeelStream {
 public:
  PeelStream(const PhotonsOutput& output, const SkyFrame& sky, const FrequencyAxis& axis, double sharing,
             io::ArrayOutput& file);

  void accept(std::span<const Seen> light);
  std::uint64_t rows() const { return id_.rows(); }

 private:
  FrequencyAxis axis_;
  SkyFrame sky_;
  double sharing_;
  io::Column<std::uint64_t> id_;
  io::Column<std::int64_t> generator_;
  io::Column<double> light_, velocity_, position_;
};

}  // namespace thor
