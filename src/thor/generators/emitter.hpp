#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "thor/datasets/medium.hpp"
#include "thor/generators/emitter_view.hpp"
#include "thor/generators/parameters.hpp"

namespace thor {

/// The light of a generator, as its photons carry it at emission.
struct Light {
  double luminosity = 0;                   ///< total luminosity of the photons [erg/s]
  double squares = 0;                      ///< sum of the squares of their weights
  double faintest = 1e300, brightest = 0;  ///< weights of single photons
  std::uint64_t photons = 0, sources = 1;
  bool by_source = false;  ///< the list of sources gives the weights of photons

  void add(double weight, std::uint64_t more);  ///< adds `more` photons of this weight
  void share(double all, std::uint64_t more);   ///< adds `more` photons that share the luminosity `all` equally
};

/// Memory that a SourceTable points to.
struct SourceList {
  std::vector<std::uint64_t> end;
  std::uint64_t slots = 0, start = 0, step = 0;
  CellNumbers number{};
  std::vector<double> weight;
  std::vector<std::int32_t> place;
  std::vector<float> offset, velocity;

  void set_order(const SourceTable& order) { slots = order.slots, start = order.start, step = order.step; }
  SourceTable table() const {
    const auto data = [](const auto& array) { return array.empty() ? nullptr : array.data(); };
    return {end.size(),
            end.data(),
            slots,
            start,
            step,
            number,
            data(weight),
            data(place),
            data(offset),
            data(velocity),
            end.empty() ? 0 : int(place.size() / end.size())};
  }
};

/// The light of gas that processes hold in parts: each part has the lists of its own cells, and all processes know in
/// which domain a photon begins.
struct DividedLight {
  /// The slots of a generator (emitter_view.hpp), by runs of consecutive cells of one domain.
  struct Slots {
    SourceTable table{};              ///< without sources: how photons take their slots
    std::vector<std::uint64_t> cell;  ///< number of the cell, and the slot, at which each run ends
    std::vector<std::uint64_t> end;
    std::vector<int> domain;

    int domain_of(std::uint64_t number) const;  ///< of photon `number` of the generator
  };
  std::vector<std::shared_ptr<const Slots>> generators;  ///< null: another kind of generator
  /// The list of a generator in a domain; reads the file unless this process has held the domain from the start.
  std::function<std::shared_ptr<const SourceList>(std::size_t generator, int domain)> list;
};

/// All generators of a run; see EmitterView.
template <class Real>
struct Emitter {
  std::uint64_t seed;
  std::vector<Source<Real>> sources;  ///< one for each generator
  std::vector<Light> light;           ///< one for each generator
  std::vector<std::shared_ptr<const SourceList>> lists;
  std::shared_ptr<const DividedLight> divided{};  ///< null: each process has all lists

  /// The same with the lists of the gas of a domain.
  Emitter of_domain(int domain) const;

  std::uint64_t count() const;        ///< number of photons
  double luminosity() const;          ///< total luminosity of the photons at emission [erg/s]
  double luminosity_squared() const;  ///< sum of the squares of their weights
  bool equal_weights() const;         ///< whether all photons end with the same weight
  EmitterView<Real> view() const { return {seed, sources.data(), int(sources.size())}; }
};

/// The same photons with the weights that they would have in a run of one photon: N times those of a run of N. They are
/// the same, bit for bit, however many photons are asked for, if all generators keep their shares of them.
Emitter<double> for_one_photon(const Emitter<double>& emitter);

/// Refuses sources that the medium cannot hold. No file of sources is opened.
void check_generators(std::span<const config::Generator> generators, const MediumOutline& medium, const Line& line,
                      const Refuse& refuse);

/// How processes share the cells that shine.
struct EmitterOptions {
  const comm::World* world = nullptr;            ///< processes of the run; null: this one alone
  std::shared_ptr<const Partition> partition{};  ///< null: each process has the light of all cells
  bool silent = false;                           ///< what there is to say of sources is said later
};

/// Collective where processes share the cells. A source that the medium cannot hold is refused.
Emitter<double> build_emitter(std::span<const config::Generator> generators, std::uint64_t seed, const Medium& medium,
                              const Line& line, const Refuse& refuse = refuse_at_once,
                              const EmitterOptions& options = {});

/// ceil(2^64 part/whole), at most 2^64 - 1.
std::uint64_t fraction64(std::uint64_t part, std::uint64_t whole);

template <class Real>
Emitter<Real> convert(const Emitter<double>& emitter);

}  // namespace thor
