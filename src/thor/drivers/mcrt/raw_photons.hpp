#pragma once
#include <functional>
#include <optional>

#include "thor/core/error.hpp"
#include "thor/drivers/mcrt/setup.hpp"
#include "thor/outputs/photons.hpp"

namespace thor {

/// Raw photons that a configuration asks for, streamed into a file as they end. A disk that is full must not cost the
/// binned outputs, which are in memory: the photons are dropped then, and the run goes on.
class RawPhotons {
 public:
  /// Called when photons were dropped and their columns closed: why, and what there is to say while the run goes on (""
  /// at its end).
  using Dropped = std::function<void(const Error& why, const std::string& text)>;

  /// For `sharing` photons in all.
  RawPhotons(const config::Config& config, const Setup& setup, std::uint64_t sharing, io::ArrayOutput& file,
             Dropped dropped);
  RawPhotons(const RawPhotons&) = delete;
  RawPhotons& operator=(const RawPhotons&) = delete;

  Sink sink();  ///< for as long as this lives
  /// Whether there are photons, and none was dropped.
  explicit operator bool() const { return photons_ || peeled_; }
  void drop(const Error& why, const std::string& text = "");
  void finish();  ///< to call after the last photon
  std::optional<std::uint64_t> rows() const;
  std::optional<std::uint64_t> rows_of_peel() const;

 private:
  template <class Stream, class Batch>
  void put(std::optional<Stream>& stream, const Batch& batch);

  Dropped dropped_;
  std::optional<PhotonStream> photons_;
  std::optional<PeelStream> peeled_;
};

}  // namespace thor
