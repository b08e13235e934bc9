#pragma once
#include <fmt/format.h>

#include "thor/comm/world.hpp"
#include "thor/io/array/output.hpp"
#include "thor/line/line.hpp"
#include "thor/operators/sightline_list.hpp"

/// What a run with straight rays makes: images, spectra, traces.
namespace thor {

/// One that an operator makes. When they are built, products use the fields that they need.
class RayProduct {
 public:
  virtual ~RayProduct() = default;
  virtual double rays() const = 0;
  virtual double bytes() const = 0;    ///< of memory that it takes
  virtual double written() const = 0;  ///< bytes of the result file, at most
  /// On the first rank, before anything is traced: throws an Error(output) where files are in the way.
  virtual void open() {}
  /// All ranks trace, and the first one writes; others have no file.
  virtual void write(io::ArrayOutput* file) = 0;
};

/// What all products of a run share: the gas in parts, each with what follows its rays, and the other ranks.
class RayWork {
 public:
  RayWork(const comm::World& ranks, std::uint64_t s, int t) : world(ranks), seed(s), threads(t) {}
  virtual ~RayWork() = default;

  const comm::World& world;
  const std::uint64_t seed;
  const int threads;

  virtual bool is_cut() const = 0;        ///< the gas is in parts, of which this rank has some; else it has all of it
  virtual bool is_on_device() const = 0;  ///< rays are followed on a device
  virtual std::size_t parts() const = 0;  ///< of this rank
  virtual FieldSource& gas(std::size_t part) const = 0;
  virtual RayEngine& engine(std::size_t part) const = 0;  ///< once all products are built
  /// What all parts have in common.
  const GasOutline& outline() const { return gas(0).outline(); }

  static std::string key(std::size_t op) { return fmt::format("operators.{}", op); }
  /// Throws an Error(usage) that names the lines that there are.
  virtual Line line(const std::string& name, const std::string& key) const = 0;
  /// Throws an Error(device) where there is not so much.
  void require_memory(const std::string& key, double bytes) const;
  /// The sightlines of an operator, for which there is memory. Says how many do not meet the gas.
  SightlineList sightlines(std::size_t op, const config::Sightlines& keys) const;
  virtual void progress(double rays) = 0;  ///< more of them have been traced
  virtual void stop_if_due()
      const = 0;  ///< throws an Error(stopped) where a signal or the clock says so; progress() does, too
};

/// Numbers of all ranks at the first one, one after the other.
std::vector<double> at_first(const comm::World& world, const std::vector<double>& own);
/// Numbers of all ranks on all of them.
std::vector<double> everywhere(const comm::World& world, const std::vector<double>& own);

}  // namespace thor
