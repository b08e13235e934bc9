#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "thor/datasets/medium.hpp"
#include "thor/generators/emitter_view.hpp"
#include "thor/generators/parameters.hpp"

namespace thor {

/// The light of a generator, as its photons carry it.
struct Light {
  double luminosity = 0;                   ///< that they stand for together [erg/s]
  double squares = 0;                      ///< sum of the squares of their weights
  double faintest = 1e300, brightest = 0;  ///< of one
  std::uint64_t sources = 1;

  void add(double weight, std::uint64_t photons);
};

/// What a SourceTable points to.
struct SourceList {
  std::vector<std::uint64_t> end;
  std::vector<double> weight;
  std::vector<std::int32_t> cell;
  std::vector<float> offset;

  SourceTable table() const {
    return {end.size(), end.data(), weight.data(), cell.data(), offset.empty() ? nullptr : offset.data()};
  }
};

/// All sources of a run; see EmitterView.
template <class Real>
struct Emitter {
  std::uint64_t seed;
  std::vector<Source<Real>> sources;
  std::vector<std::uint64_t> end;  ///< first id after each source
  std::vector<double> weight;      ///< luminosity per photon [erg/s], of those without a table
  std::vector<Light> light;        ///< of each source
  std::vector<std::shared_ptr<const SourceList>> lists;

  std::uint64_t count() const { return end.empty() ? 0 : end.back(); }
  double luminosity() const;          ///< that all photons together stand for [erg/s]
  double luminosity_squared() const;  ///< sum of the squares of their weights
  EmitterView<Real> view() const { return {seed, sources.data(), end.data(), weight.data(), int(sources.size())}; }
};

/// A source that the medium cannot hold is refused. Before the cells of a grid are loaded, tables are left empty.
Emitter<double> build_emitter(std::span<const config::Generator> generators, std::uint64_t seed, const Medium& medium,
                              const Line& line, const Refuse& refuse = refuse_at_once);

template <class Real>
Emitter<Real> convert(const Emitter<double>& emitter);

}  // namespace thor
