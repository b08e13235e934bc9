#include "thor/io/snapshot/header.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "thor/core/cosmology.hpp"
#include "thor/core/error.hpp"
#include "thor/io/snapshot/error.hpp"

namespace thor::io {
namespace {

constexpr double most_omega = 2;  ///< of --omega-m and --omega-lambda

constexpr const char* swift_length = "Unit length in cgs (U_L)";

struct Found {
  double value = 0;
  std::string where;
};
struct AttributeName {
  const char *group, *name;
};
using AttributeNames = std::vector<AttributeName>;

class Header {
 public:
  Header(const Input& input, const SnapshotOptions& options, SnapshotHeader& header)
      : input_(input), options_(options), header_(header) {}

  SnapshotUnits read() {
    check_options();
    units_.code = first({{"/Units", swift_length}}) ? Code::swift : Code::gadget;
    header_.code = units_.code == Code::swift ? "SWIFT" : "Gadget/AREPO";
    read_units();
    read_cosmology();
    return units_;
  }

 private:
  template <class... T>
  void note(fmt::format_string<T...> format, T&&... arguments) {
    header_.notes.push_back(fmt::format(format, std::forward<T>(arguments)...));
  }
  [[noreturn]] void fail(const std::string& why) const { fail_snapshot(input_.path(), why); }

  std::optional<Found> first(const AttributeNames& places) const {
    for (const auto& [group, name] : places) {
      const auto numbers = input_.numbers(group, name);
      if (numbers.size() != 1) continue;
      Found found{numbers[0], fmt::format("{}@{}", group, name)};
      if (!std::isfinite(found.value)) fail(fmt::format("{} is {}", found.where, found.value));
      return found;
    }
    return {};
  }
  /// The user's, else the file's.
  std::optional<Found> choose(const std::optional<double>& option, const char* flag,
                              const AttributeNames& places) const {
    if (!option) return first(places);
    return Found{*option, flag};
  }

  void check_options() const {
    const std::pair<const char*, std::optional<double>> positive[] = {
        {"--unit-length", options_.unit_length},
        {"--unit-mass", options_.unit_mass},
        {"--unit-velocity", options_.unit_velocity},
        {"--hubble", options_.h},
        {"--box", options_.box},
    };
    for (const auto& [flag, value] : positive) {
      if (value && !(*value > 0 && std::isfinite(*value))) {
        throw Error(ExitCode::usage, fmt::format("{} must be a positive number", flag));
      }
    }
    for (const auto& [flag, value] :
         {std::pair{"--omega-m", options_.omega_m}, std::pair{"--omega-lambda", options_.omega_lambda}}) {
      if (value && !(*value >= 0 && *value <= most_omega)) {
        throw Error(ExitCode::usage, fmt::format("{} {:g}: expected 0 to {:g}", flag, *value, most_omega));
      }
    }
    if (options_.h && !is_hubble(*options_.h)) {
      throw Error(ExitCode::usage, fmt::format("--hubble {:g}: {}", *options_.h, not_hubble));
    }
    if (options_.redshift && !(*options_.redshift > -1 && std::isfinite(*options_.redshift))) {
      throw Error(ExitCode::usage, "--redshift must be more than -1");
    }
  }

  /// Refuses a unit that another place gives otherwise, but for its rounding.
  void require_one(const char* what, double value, const std::string& where, const char* flag,
                   const AttributeNames& places) const {
    for (const auto& place : places) {
      const auto other = first({place});
      if (!other || std::abs(other->value - value) <= 1e-3 * std::abs(value)) continue;
      fail(fmt::format("the unit of {} is {:g} by {} and {:g} by {}: they contradict each other; give {}", what, value,
                       where, other->value, other->where, flag));
    }
  }

  void read_units() {
    units_.overridden = options_.unit_length || options_.unit_mass || options_.unit_velocity;
    const auto take = [&](const char* what, const char* unit, std::optional<double>& value,
                          const std::optional<double>& option, const char* flag, const AttributeNames& places,
                          double tng) {
      auto found = choose(option, flag, places);
      if (!found && units_.code == Code::gadget && options_.assume_tng_units) {
        found = Found{tng, "--assume-tng-units"};
        assumed_tng_ = true;
      }
      if (!found) return;
      if (!option) require_one(what, found->value, found->where, flag, places);
      if (!(found->value > 0)) {
        fail(fmt::format("{} is {:g}, which is not a unit of {}; give the right one with {}", found->where,
                         found->value, what, flag));
      }
      value = found->value;
      note("unit of {} {:.8g} {}: {}", what, found->value, unit, found->where);
    };
    take("length", "cm", units_.length, options_.unit_length, "--unit-length",
         {{"/Header", "UnitLength_in_cm"},
          {"/Header", "UnitLength_In_CGS"},
          {"/Parameters", "UnitLength_in_cm"},
          {"/Units", "UnitLength_in_cm"},
          {"/Units", swift_length}},
         3.085678e21);
    take("mass", "g", units_.mass, options_.unit_mass, "--unit-mass",
         {{"/Header", "UnitMass_in_g"},
          {"/Header", "UnitMass_In_CGS"},
          {"/Parameters", "UnitMass_in_g"},
          {"/Units", "UnitMass_in_g"},
          {"/Units", "Unit mass in cgs (U_M)"}},
         1.989e43);
    take("velocity", "cm/s", units_.velocity, options_.unit_velocity, "--unit-velocity",
         {{"/Header", "UnitVelocity_in_cm_per_s"},
          {"/Header", "UnitVelocity_In_CGS"},
          {"/Parameters", "UnitVelocity_in_cm_per_s"},
          {"/Units", "UnitVelocity_in_cm_per_s"}},
         1e5);
    if (const auto time = first({{"/Units", "Unit time in cgs (U_t)"}}); !units_.velocity && time && units_.length) {
      if (!(time->value > 0)) fail(fmt::format("{} is {:g}, which is not a unit of time", time->where, time->value));
      units_.velocity = *units_.length / time->value;
      note("unit of velocity {:.8g} cm/s: unit of length over {}", *units_.velocity, time->where);
    }
  }

  void read_cosmology() {
    const auto omega_m = choose(
        options_.omega_m, "--omega-m",
        {{"/Header", "Omega0"}, {"/Header", "Omega_Matter"}, {"/Parameters", "Omega0"}, {"/Cosmology", "Omega_m"}});
    read_time(omega_m && omega_m->value > 0);
    const Cosmology planck;
    const bool cosmological = header_.cosmological;
    const auto take = [&](const char* name, double& value, const std::optional<Found>& found, double otherwise,
                          const char* why) {
      value = found ? found->value : otherwise;
      if (found) {
        note("{} = {:.6g}: {}", name, value, found->where);
      } else if (cosmological) {
        note("{} = {:.6g}: {}", name, value, why);
      }
      if (found && value < 0) fail(fmt::format("{} is {:g}: it cannot be negative", found->where, value));
    };
    const char* planck_says = "the file has none; Planck 2015 is used";
    take("Omega_m", header_.omega_m, omega_m, cosmological ? planck.omega_m : 0, planck_says);
    take("Omega_Lambda", header_.omega_lambda,
         choose(options_.omega_lambda, "--omega-lambda",
                {{"/Header", "OmegaLambda"},
                 {"/Header", "Omega_Lambda"},
                 {"/Parameters", "OmegaLambda"},
                 {"/Cosmology", "Omega_lambda"}}),
         !cosmological ? 0
         : omega_m     ? 1 - omega_m->value
                       : planck.omega_lambda,
         omega_m ? "the file has none; a flat universe is assumed" : planck_says);
    const auto h = choose(options_.h, "--hubble",
                          {{"/Header", "HubbleParam"}, {"/Parameters", "HubbleParam"}, {"/Cosmology", "h"}});
    if (h && !is_hubble(h->value)) {
      fail(fmt::format("{} is {:g}: {}; give the right one with --hubble", h->where, h->value, not_hubble));
    }
    take("h", header_.h, h, cosmological ? planck.h : 1, "the file has none; Planck 2015 is used, also in its units");
    if (!h && !cosmological) note("the file has no h: its units are assumed not to contain it");
    units_.h = header_.h;
  }

  /// Sets the redshift, and whether lengths are comoving.
  void read_time(bool matter) {
    const auto flag = first({{"/Header", "ComovingIntegrationOn"},
                             {"/Parameters", "ComovingIntegrationOn"},
                             {"/Header", "Cosmological run"},
                             {"/Cosmology", "Cosmological run"}});
    const auto z = first({{"/Header", "Redshift"}, {"/Cosmology", "Redshift"}});
    auto a = first({{"/Header", "Scale-factor"}, {"/Cosmology", "Scale-factor"}});
    const auto time = first({{"/Header", "Time"}});
    const bool time_is_a = units_.code == Code::gadget;
    header_.cosmological = is_cosmological(flag, z, a, time_is_a ? time : std::nullopt, matter);
    if (!a && time_is_a && header_.cosmological) a = time;

    if (options_.redshift) {
      header_.redshift = *options_.redshift;
    } else if (header_.cosmological) {
      if (!z && !a) fail("neither /Header@Redshift nor /Header@Time exists: give --redshift");
      if (a && !(a->value > 0)) {
        fail(fmt::format("{} is {:g}, which is not a scale factor; give --redshift", a->where, a->value));
      }
      if (z && !(z->value > -1)) fail(fmt::format("{} is {:g}; give --redshift", z->where, z->value));
      if (z && a && std::abs(a->value * (1 + z->value) - 1) > 1e-3) {
        fail(fmt::format("{} = {:g} and {} = {:g} contradict each other, since a = 1/(1 + z): give --redshift",
                         a->where, a->value, z->where, z->value));
      }
      header_.redshift = z ? z->value : 1 / a->value - 1;
    }
    header_.scale_factor = 1 / (1 + header_.redshift);
    if (!header_.cosmological && time) units_.time = time->value;

    const bool comoving = options_.comoving.value_or(header_.cosmological);
    units_.a = comoving ? header_.scale_factor : 1;
    note("redshift {:.6g}: {}", header_.redshift,
         options_.redshift       ? "--redshift"
         : !header_.cosmological ? "not a cosmological run"
                                 : (z ? z->where : a->where));
    note("lengths are {}: {}", comoving ? "comoving" : "not comoving",
         options_.comoving                            ? "--comoving"
         : flag                                       ? flag->where
         : !comoving                                  ? "neither a flag nor a redshift says that they are"
         : a && time && a->where == time->where && !z ? "/Header@Time is taken as the scale factor, since Omega0 > 0"
                                                      : "the run is cosmological");
  }

  bool is_cosmological(const std::optional<Found>& flag, const std::optional<Found>& z, const std::optional<Found>& a,
                       const std::optional<Found>& time, bool matter) const {
    const bool told = options_.comoving || options_.redshift;
    if (flag && flag->value == 0 && z && z->value > 1e-6 && !told) {
      fail(fmt::format(
          "{} = 0 and {} = {:g} contradict each other: give --comoving no, or --comoving yes and --redshift",
          flag->where, z->where, z->value));
    }
    if (flag) return flag->value != 0;
    if (z && z->value > 0) return true;
    if (a) return a->value != 1 || matter;
    // Gadget writes Redshift = 0 in non-cosmological runs, where Time is a time; a Time that could be a scale factor,
    // in a universe with matter, may also belong to a cosmological run.
    if (z && time && matter && time->value > 0 && time->value < 1 - 1e-3) {
      if (options_.comoving) return *options_.comoving;
      fail(
          fmt::format("{} = {:g} and {} = {:g} contradict each other if Time is a scale factor, as Omega0 > 0 suggests"
                      ": give --comoving no if the run is not cosmological, otherwise --comoving yes and --redshift",
                      time->where, time->value, z->where, z->value));
    }
    if (z && time) return matter && std::abs(time->value - 1) < 1e-3;
    if (z) return matter;
    if (time) return matter && time->value > 0 && time->value <= 1.001;
    if (matter || assumed_tng_) return true;
    if (options_.comoving) return *options_.comoving;
    if (options_.redshift) {
      fail("nothing in the file says whether its lengths are comoving: give --comoving yes or --comoving no");
    }
    return false;
  }

  const Input& input_;
  const SnapshotOptions& options_;
  SnapshotHeader& header_;
  SnapshotUnits units_;
  bool assumed_tng_ = false;
};

}  // namespace

SnapshotUnits read_header(const Input& input, const SnapshotOptions& options, SnapshotHeader& header) {
  return Header(input, options, header).read();
}

void read_box(const Input& input, double length_factor, const SnapshotOptions& options, SnapshotHeader& header) {
  if (options.box) {
    header.box.fill(*options.box);
    header.notes.push_back("box: --box");
    return;
  }
  for (const char* group : {"/Header", "/Parameters"}) {
    const auto size = input.numbers(group, "BoxSize");
    if (size.size() != 1 && size.size() != 3) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      const double side = size[size.size() == 1 ? 0 : k];
      if (!(side >= 0 && std::isfinite(side))) {
        throw Error(ExitCode::input,
                    fmt::format("{}: {}@BoxSize is {:g}; give --box", input.path().string(), group, side));
      }
      // AREPO stretches the box with these build options.
      const char* stretch[] = {"LONG_X", "LONG_Y", "LONG_Z"};
      const auto factor = input.numbers("/Config", stretch[k]);
      header.box[k] = side * length_factor * (factor.size() == 1 && factor[0] > 0 ? factor[0] : 1);
    }
    header.notes.push_back(fmt::format("box: {}@BoxSize", group));
    return;
  }
  header.notes.push_back("the file has no BoxSize: the box is unknown (give it with --box)");
}

}  // namespace thor::io
