#pragma once
#include <span>

#include "thor/datasets/medium.hpp"
#include "thor/io/hdf5/hdf5.hpp"
#include "thor/outputs/frequency_axis.hpp"
#include "thor/transport/photon.hpp"

namespace thor {

/// Raw photons, streamed to disk as they finish: /photons/original/{id, weight, ...}. Those that escaped, were absorbed
/// or were lost are told apart by `fate`.
class PhotonStream {
 public:
  PhotonStream(const config::PhotonsOutput& output, const Medium& medium, const FrequencyAxis& axis, io::File& file);

  void accept(std::span<const Photon> photons);
  void finish();  ///< after the last one

 private:
  template <class T>
  struct Field {
    io::Column<T> column;
    bool wanted = false;
  };
  io::File& file_;
  FrequencyAxis axis_;
  double size_, cross_section_;
  Field<std::uint64_t> id_, source_;
  Field<std::int64_t> scatterings_, fate_, generator_;
  Field<double> weight_, velocity_initial_, velocity_final_, velocity_scattered_, position_, position_initial_,
      direction_, column_;
};

}  // namespace thor
