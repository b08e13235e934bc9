#include "thor/drivers/mcrt/jumps.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include "thor/comm/together.hpp"
#include "thor/core/message.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/datasets/counted_cells.hpp"
#include "thor/datasets/octree_mesh.hpp"
#include "thor/datasets/voronoi_mesh.hpp"
#include "thor/drivers/mcrt/jump_histories.hpp"
#include "thor/interactors/build.hpp"
#include "thor/transport/lane.hpp"

namespace thor {
namespace {

/// Limits of a sphere: docs/acceleration.md#sphere-jumps has the errors that they stand for.
constexpr double largest_dust_depth = 0.05;
/// Isotopes that are rarer than this count as rare.
constexpr double rare = 1e-3;

/// The absorbers in all cells, and in those whose Voigt parameter lies outside.
struct Absorbers {
  double all = 0, outside = 0;
  void add(const Absorbers& more) { all += more.all, outside += more.outside; }
};

/// Collective: the share of a grid's absorbers in cells whose Voigt parameter lies outside.
double share_outside(const Medium& medium, double low, double high, const comm::World& world, int threads) {
  Absorbers own, sum;
  for (const CountedCells& cells : counted_cells(medium, world)) {
    own.add(cells.sum<Absorbers>(threads, [&](Absorbers& some, std::int64_t i, const CellGas<double>& gas) {
      if (!(gas.opacity > 0)) return;
      const double absorbers = gas.opacity / gas.inverse_width * std::pow(cells.cells->side(i), 3);
      const double a = medium.a * gas.inverse_width;
      some.all += absorbers;
      if (a < low || a > high) some.outside += absorbers;
    }));
  }
  for (const Absorbers& some : comm::of_all(world, own)) sum.add(some);
  return sum.outside / std::max(sum.all, 1e-300);
}

/// The gas at its most favourable for jumps.
struct Rooms {
  double depth = 0;          ///< largest optical depth of a homogeneous sphere, for the first transition
  double inverse_width = 1;  ///< of the coldest gas
};

template <class C, class D>
Rooms rooms_of_cells(const C& cells, const D& mesh, const Jumps<double>& limits, int threads) {
  Rooms rooms;
  std::mutex mutex;
  const double elsewhere = cells.layout().joined ? 0.5 : 0;  // in a cell, its centre has the largest room
  parallel_for(threads, std::size_t(cells.cells()), 1 << 16, [&](std::size_t first, std::size_t end) {
    Rooms here;
    for (std::size_t i = first; i < end; ++i) {
      const CellGas<double> gas = cells.gas(std::int64_t(i));
      Lane<double, PlaceIn<D>> lane{};
      lane.px = lane.py = lane.pz = cells.middle(std::int64_t(i));
      lane.place = cells.place(std::int64_t(i));
      double room = view<double>(mesh).room(lane, gas, limits);
      if constexpr (requires { cells.largest_room(0); }) {  // where it is, is not known
        room = cells.largest_room(std::int64_t(i));
        if (mesh.physics.hubble > 0) room = std::min(room, limits.shear / (gas.inverse_width * mesh.physics.hubble));
      }
      here.depth = std::max(here.depth, gas.opacity * (room + elsewhere));
      here.inverse_width = std::max(here.inverse_width, gas.inverse_width);
    }
    const std::lock_guard lock(mutex);
    rooms.depth = std::max(rooms.depth, here.depth);
    rooms.inverse_width = std::max(rooms.inverse_width, here.inverse_width);
  });
  return rooms;
}

/// Along a radius, at places close enough that a room between them is hardly larger.
template <class D>
Rooms rooms_of_model(const D& dataset, const Jumps<double>& limits) {
  const auto gas_at = view<double>(dataset);
  Rooms rooms;
  constexpr int count = 4096;
  for (int i = 0; i < count; ++i) {
    const double u = (i + 0.5) / count;
    for (const double r : {u, std::pow(10., 6 * (u - 1))}) {
      const Vec3<double> p{0, 0, r};
      if (gas_at.locate(p) != gas) continue;
      Lane<double, PlaceIn<D>> lane{};
      lane.place = {gas, gas_at.depth_at(gas, p)};
      const auto here = lane.place;
      lane.px = p.x, lane.py = p.y, lane.pz = p.z;
      rooms.depth = std::max(rooms.depth, gas_at.opacity(here, p) * gas_at.room(lane, here, limits));
    }
  }
  return rooms;
}

/// Whether some sphere of gas holds the smallest table for some transition, and the smallest deep one. Where none does,
/// a run with the tables has the same photons and takes longer.
struct Uses {
  bool jumps = false, deep = false;
};
Uses uses_of_jumps(const config::Config& config, const Line& line, const Medium& medium, double smallest, int threads) {
  Jumps<double> limits{};
  limits.shear = config.acceleration.jump_shear, limits.gradient = config.acceleration.jump_gradient;
  const Rooms rooms = std::visit(
      [&]<class D>(const D& dataset) {
        if constexpr (std::is_same_v<typename decltype(view<double>(dataset))::Here, CellGas<double>>)
          return rooms_of_cells(cells_of_dataset(dataset, *medium.cells), dataset, limits, threads);
        else
          return rooms_of_model(dataset, limits);
      },
      medium.dataset);
  const auto absorbing = line.absorbing();
  Uses uses;
  for (std::size_t i = 0; i < absorbing.size(); ++i) {
    const AtomicTransition& t = *absorbing[i];
    const double speed = t.thermal_speed(medium.temperature, medium.b_turb);
    const double strength = t.population * t.cross_section(speed) / medium.cross_section;
    // As MultipletView::jump_depth, where gas is coldest.
    const double half = 0.5 * jump_clearance(line, medium, int(i)).distance * rooms.inverse_width;
    const double clear = half < 20 ? 0 : std::pow(half / 8, 3) / (t.voigt_parameter(speed) * rooms.inverse_width);
    const double depth = 1.1 * std::min(strength * rooms.depth, clear);
    uses.jumps = uses.jumps || depth >= smallest;
    uses.deep = uses.deep || depth * t.voigt_parameter(speed) * rooms.inverse_width >= std::exp(deep_log_wing);
  }
  return uses;
}

/// The tables of a file ("": those of thor), which take longer to read than a small model to run: one copy for all
/// set-ups that there are at a time.
class KnownTables {
 public:
  static KnownTables& of(const std::string& file) {
    static std::mutex mutex;
    static std::map<std::string, KnownTables> known;
    const std::lock_guard lock(mutex);
    return known.try_emplace(file, file).first->second;
  }
  explicit KnownTables(std::string file) : file_(std::move(file)) {}

  /// Where the tables have to be read for this, `whole` keeps them.
  JumpAxes axes(std::shared_ptr<const JumpTables>& whole) {
    const std::lock_guard lock(mutex_);
    if (!axes_) axes_ = (whole = get(true))->axes();
    return *axes_;
  }
  /// Without those of deep spheres unless `deep`.
  std::shared_ptr<const JumpTables> tables(bool deep) {
    const std::lock_guard lock(mutex_);
    return get(deep);
  }

 private:
  std::shared_ptr<const JumpTables> get(bool deep) {
    std::weak_ptr<const JumpTables>& place = deep ? deep_ : flat_;
    if (auto tables = place.lock()) return tables;
    const auto whole = deep_.lock();
    auto tables = std::make_shared<JumpTables>(whole           ? *whole
                                               : file_.empty() ? JumpTables::built_in()
                                                               : JumpTables::read(file_));
    if (!deep) tables->drop_deep();
    place = tables;
    return tables;
  }

  std::string file_;
  std::mutex mutex_;
  std::optional<JumpAxes> axes_;
  std::weak_ptr<const JumpTables> deep_, flat_;
};

}  // namespace

std::shared_ptr<const JumpTables> build_jump_tables(const config::Config& config, const Line& line,
                                                    const Medium& medium, const comm::World& world, int threads) {
  if (!config.acceleration.jumps) return nullptr;
  const auto follow = [](const std::string& why) {
    message("thor: acceleration.jumps is off: {}\n", why);
    return nullptr;
  };
  if (config.limits.max_scatterings < config::Limits::most) {
    return follow("limits.max_scatterings is set");
  }
  KnownTables& known = KnownTables::of(config.acceleration.jump_tables);
  std::shared_ptr<const JumpTables> whole;
  const JumpAxes axes = known.axes(whole);
  const double low = axes.a(0), high = axes.a(axes.a_count - 1);
  // Where ranks share the gas, none of them knows all of it.
  const Uses uses = medium.divided ? Uses{true, true} : uses_of_jumps(config, line, medium, axes.depth(0), threads);
  if (!uses.jumps) return nullptr;
  auto tables = known.tables(uses.deep);
  if (medium.cells) {
    const double outside = share_outside(medium, low, high, world, threads);
    if (outside > 0) {
      message(
          "thor: acceleration.jumps is off for {:.3g} % of the absorbers, in cells with a Voigt parameter outside "
          "{:.3g} to {:.3g}\n",
          100 * outside, low, high);
    }
    return tables;
  }
  const auto inside = [&](const AtomicTransition* t) {
    const double a = t->voigt_parameter(t->thermal_speed(medium.temperature, medium.b_turb));
    return a >= low && a <= high;
  };
  if (!std::ranges::any_of(line.absorbing(), inside)) {
    return follow(
        fmt::format("the Voigt parameter {:.3g} is outside its tables ({:.3g} to {:.3g})", medium.a, low, high));
  }
  return tables;
}

template <class Real>
Jumps<Real> build_jumps(const config::Config& config, const JumpTables& tables) {
  const config::Acceleration& acceleration = config.acceleration;
  const JumpAxes& axes = tables.axes();
  int depths = 0;
  while (depths < axes.depth_count && axes.depth(depths) <= acceleration.jump_depth * (1 + 1e-9)) ++depths;
  Jumps<Real> jumps = tables.view<Real>(depths);
  jumps.trigger = Real(jump_trigger);
  jumps.shear = Real(acceleration.jump_shear), jumps.gradient = Real(acceleration.jump_gradient);
  jumps.dust_depth = Real(largest_dust_depth);
  jumps.recoils = config.physics.recoil;
  jumps.deep_depth = Real(std::min(acceleration.jump_depth, 1e30));
  jumps.wing_trigger = Real(deep_xi(1) * std::cbrt(deep_a_tau(1, 0)));
  jumps.wing_least = Real(1.5 * std::exp(deep_log_wing));
  jumps.wing_depth = Real(3 * std::sqrt(std::numbers::pi));
  return jumps;
}

JumpClearance jump_clearance(const Line& line, const Medium& medium, int transition) {
  const auto absorbing = line.absorbing();
  const AtomicTransition& t = *absorbing[std::size_t(transition)];
  if (!line.fluorescence(t).empty()) return {};
  const double speed = t.thermal_speed(medium.temperature, medium.b_turb);
  JumpClearance clear{1e10};
  for (const AtomicTransition* other : absorbing) {
    if (other == &t) continue;
    const double offset = frequency_offset(*other, line, medium) - frequency_offset(t, line, medium);
    const double distance = std::abs(offset) * medium.thermal_speed / speed;
    const double share = other->population * other->oscillator_strength / (t.population * t.oscillator_strength);
    if (other->ion != t.ion && share < rare) {
      clear.isotope = std::min(clear.isotope, distance), clear.isotope_share += share;
    } else {
      clear.distance = std::min(clear.distance, distance);
    }
  }
  return clear;
}

template Jumps<float> build_jumps(const config::Config&, const JumpTables&);
template Jumps<double> build_jumps(const config::Config&, const JumpTables&);

}  // namespace thor
