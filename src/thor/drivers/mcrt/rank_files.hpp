#pragma once
#include "thor/drivers/mcrt/mcrt.hpp"
#include "thor/drivers/mcrt/raw_photons.hpp"
#include "thor/io/result/parts.hpp"

namespace thor {

/// Raw photons of a run on several ranks: each streams those that end on it into a file of its own
/// (io/result/parts.hpp), and the first writes the result. What any disk does not take is dropped on all ranks, since a
/// part is worth nothing without the others.
class RankFile {
 public:
  /// Identity of a run, for all ranks. Collective.
  static std::string identity(const comm::World& world, const config::Config& config);
  /// For `sharing` photons in all.
  RankFile(const comm::World& world, const config::Config& config, const Setup& setup, const RunOptions& options,
           std::uint64_t sharing, std::string run);
  /// Where the run has failed, nothing half-written of it is left, on any rank.
  ~RankFile();
  RankFile(const RankFile&) = delete;
  RankFile& operator=(const RankFile&) = delete;

  Sink sink() { return photons_->sink(); }

  /// Collective, after the last photon: completes the files, with attributes that `header` writes. False if photons of
  /// a rank were dropped, and with them all; the first rank then has its reason.
  bool finish(const std::function<void(io::ArrayOutput&)>& header);
  const std::string& dropped() const { return dropped_; }
  const io::Parts& parts() const { return parts_; }  ///< of the first rank, after finish()

  /// For the first rank, after a finish() that kept photons: either puts all files into their places, which is false if
  /// some are not, or drops them.
  bool commit();
  void drop();
  /// For the others: waits for that.
  void follow();

 private:
  enum class Order : std::uint64_t { drop, commit };
  void forget(const std::string& why);
  /// Collective.
  bool obey(Order order);

  const comm::World& world_;
  const RunOptions& options_;
  std::string run_, dropped_;
  std::optional<io::ArrayOutput> file_;
  std::optional<RawPhotons> photons_;
  io::Parts parts_;
  bool settled_ = false;  ///< whether the files of all ranks are in their places, or gone
};

}  // namespace thor
