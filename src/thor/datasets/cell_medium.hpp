#pragma once
#include "thor/datasets/cell_gas.hpp"
#include "thor/datasets/dataset.hpp"
#include "thor/datasets/width.hpp"

namespace thor {

/// What a run makes of gas in cells: its expansion, and where light ends.
template <class R>
struct CellPhysics {
  using Real = R;
  Real hubble;       ///< H per unit length
  Real step_scale;   ///< f/H, the longest step in units of w profile_scale(x)
  Real stop;         ///< a photon this far to the red of the line is stopped; 0: none is,
  Real stop_flight;  ///< once it has flown so far since its last scattering: for dust, and for decays out there
  Real dust_reach;   ///< dust counts on a path so long since the last scattering; 0: everywhere

  static void for_each_field(auto f, auto&... p) {
    f(p.hubble...), f(p.step_scale...), f(p.stop...), f(p.stop_flight...), f(p.dust_reach...);
  }
};

inline namespace THOR_ISA {

/// Gas in cells, each with its own density, temperature, velocity and dust: all that a step asks of a dataset beside
/// its mesh. `View` is the mesh (MeshFor), whose data has the members `gas` (GasRecords) and `physics` (CellPhysics).
template <class View, class V>
struct CellMedium {
  static constexpr bool substeps = true, dusty = true, redshifts = true, stops = true;
  using Real = RealOf<V>;
  using Mask = MaskOf<V>;
  using Here = CellGas<V>;
  using Width = CellWidth<V>;

  THOR_FN bool varies() const { return physics().hubble > Real(0); }

  THOR_FN Here at(const auto& place) const {
    const GasRecords& gas = mesh().data.gas;
    return gas_at<V>(gas, mesh().record(place, static_cast<unsigned>(gas.stride)));
  }
  template <class Lane>
  THOR_FN Here here(const Lane& lane) const {
    return at(lane.place);
  }
  template <class Birth>
  THOR_FN Here gas_at_birth(const Birth& birth) const {
    return at(birth.place);
  }
  /// The gas of a cell is the same everywhere in it.
  template <class Lane>
  THOR_FN Here arrived(const Lane&, const Here& here) const {
    return here;
  }

  THOR_FN Width width(const Here& h) const { return {divide(V(Real(1)), h.inverse_width), h.inverse_width}; }
  THOR_FN V opacity(const Here& h, Vec3<V>) const { return h.opacity; }
  THOR_FN V velocity_along(const Here& h, Vec3<V>, Vec3<V> d) const { return dot(h.velocity, d); }
  template <class Dust>
  THOR_FN V dust_ratio(const Here& h, const Dust&) const {
    return h.dust_ratio;
  }
  /// The Hubble flow shifts the frequency by at most f w profile_scale(x) in a step.
  THOR_FN V max_step(const Here& h, Vec3<V>, Vec3<V>, V x) const {
    return V(physics().step_scale) * profile_scale(x) * divide(V(Real(1)), h.inverse_width);
  }

  /// The way to the face; in the Hubble flow a sub-step, with the frequency of its middle.
  template <class Segment, class I>
  THOR_FN Leg<V> leg(const Here& here, Vec3<V> p, Vec3<V> d, const Segment& segment, V frequency,
                     const I& interactor) const {
    const auto w = width(here);
    Leg<V> leg{w.over(frequency - velocity_along(here, p, d)), segment.length(), p, V(Real(0)), V(Real(0))};
    if (varies()) {
      leg.limit = min(max_step(here, p, d, interactor.detuning(leg.x, w)), leg.limit);
      leg.shear = w.over(V(-physics().hubble));
      leg.x = fma(V(Real(0.5)) * leg.limit, leg.shear, leg.x);
    }
    return leg;
  }
  THOR_FN V redshifted(V frequency, V s) const { return fma(V(-physics().hubble), s, frequency); }
  /// In a periodic box dust counts up to `dust_reach` of a flight: a leg ends there, and meets none behind.
  THOR_FN void limit_dust(Here& here, Leg<V>& leg, V flown) const {
    if (!(physics().dust_reach > Real(0))) return;
    const V zero(Real(0)), left = V(physics().dust_reach) - flown;
    here.dust_ratio = select(left > zero, here.dust_ratio, zero);
    leg.limit = select(left > zero, min(leg.limit, left), leg.limit);
  }
  THOR_FN bool may_stop() const { return physics().stop > Real(0); }
  /// Far enough to the red of every absorbing transition in the fastest gas.
  template <class Lane>
  THOR_FN Mask stopped(const Lane& lane) const {
    return lane.frequency < V(-physics().stop) && lane.flown >= V(physics().stop_flight);
  }

  /// The core scale at a face plus the distance to the nearest face; at most the distance over which the Hubble flow
  /// shifts by a thermal width.
  THOR_FN V core_scale(const auto& place, const Here& h, Vec3<V> p, Vec3<V>) const {
    V scale = h.core_scale + mesh().nearest_face(place, p);
    if (varies()) scale = min(scale, divide(V(Real(1)), h.inverse_width * V(physics().hubble)));
    return scale;
  }
  /// Within the cell, or the cells around it that hold the same gas.
  template <class Lane>
  THOR_FN V room(const Lane& lane, const Here& h, const auto& limits) const {
    V radius = mesh().nearest_face(lane.place, {lane.px, lane.py, lane.pz});
    if (mesh().joins_equal_cells()) [[unlikely]]
      radius = mesh().room_in_equal_cells(lane);
    if (varies()) radius = min(radius, divide(V(limits.shear), h.inverse_width * V(physics().hubble)));
    return radius;
  }
  THOR_FN V density_slope(Vec3<V>, Vec3<V>) const { return V(Real(0)); }
  THOR_FN V velocity_slope(const Here& h, Vec3<V>) const { return h.inverse_width * V(physics().hubble); }

  template <class Lane>
  THOR_FN double frequency_scattered(const Lane& lane) const {
    return double(lane.frequency) + double(physics().hubble) * double(lane.flown);
  }
  /// Gas in cells shines by a table of them.
  THOR_FN void place_in_medium(auto&, Real, Vec3<Real>) const {}
  THOR_FN bool has_gas(const auto&) const { return true; }

 private:
  THOR_FN const View& mesh() const { return static_cast<const View&>(*this); }
  THOR_FN const auto& physics() const { return mesh().data.physics; }
};

}  // namespace THOR_ISA
}  // namespace thor
