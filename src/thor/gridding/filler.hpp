#pragma once
#include <string>

#include "thor/core/progress.hpp"
#include "thor/gridding/deposit/nearest.hpp"
#include "thor/gridding/job.hpp"

namespace thor::gridding {

/// Fills slabs of a grid in their order: all, or with others the share of one rank. For the first one of the grid all
/// gas is looked at and counted; for the others it is read again, but only what reaches them is used.
class Filler {
 public:
  Filler(const Job& job, const MemoryPlan& memory);

  /// Adds star-forming gas to the sources with the first slab, if they are made of it.
  template <class T>
  void fill(CellSums<T>& sums, Sources& sources);

  const Gatherer& census() const { return census_; }  ///< what was counted

 private:
  template <class T>
  void count_all(CellSums<T>& sums, Sources& sources);
  void read_nearest();
  template <class T>
  void read_again(CellSums<T>& sums);
  void show(const Layers& slab, std::uint64_t more);

  const Job& job_;
  const MemoryPlan& memory_;
  Progress progress_;
  Gatherer census_;
  NearestSampler sampler_;
  std::uint64_t done_ = 0;
  bool filled_ = false;  ///< some slab
};

}  // namespace thor::gridding
