#include "thor/gridding/plan/region.hpp"

#include <fmt/format.h>

#include <limits>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/units.hpp"
#include "thor/gridding/plan/survey.hpp"

namespace thor::gridding {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ExitCode::input, why); }

std::string in_kpc(const Vector& v) {
  const double kpc = 1e3 * constants::pc;
  return fmt::format("[{:.6g}, {:.6g}, {:.6g}] kpc", v[0] / kpc, v[1] / kpc, v[2] / kpc);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// The unit of the last value applies to those without a unit.
std::vector<double> parse_quantities(const std::string& text, Dimension dimension, const std::string& option) {
  std::vector<std::string> parts = split(text);
  const std::string& last = parts.back();
  const auto unit = last.find_first_of("abcdfghijklmnopqrstuvwxyzABCDFGHIJKLMNOPQRSTUVWXYZ");  // e is part of a number
  std::vector<double> out;
  for (std::string& part : parts) {
    try {
      if (unit != std::string::npos && parse_quantity(part).dimension == Dimension::none)
        part += " " + last.substr(unit);
      out.push_back(parse_quantity(part, dimension).value);
    } catch (const std::invalid_argument& e) {
      throw Error(ExitCode::usage, fmt::format("{} {}: {}", option, text, e.what()));
    }
  }
  return out;
}

bool is_periodic(const io::SnapshotHeader& header, const RegionOptions& options) {
  return header.box[0] > 0 && options.periodic.value_or(header.cosmological);
}

/// Half of the extent of the region along the axes of the box.
Vector half_extent(const Lattice& lattice, const Matrix& rotation) {
  Vector out{};
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      out[a] += 0.5 * lattice.cell * double(lattice.cells[b]) * std::abs(rotation[b][a]);
    }
  }
  return out;
}

void check(const GridRegion& region, bool allow_outside) {
  const Frame& f = region.frame;
  if (f.box[0] <= 0) return;
  const Vector half = half_extent(region.lattice, f.rotation);
  for (std::size_t a = 0; a < 3; ++a) {
    const double slack = 1e-9 * f.box[a];
    const double low = f.centre[a] - half[a], high = f.centre[a] + half[a];
    if (f.wraps ? f.centre[a] < -slack || f.centre[a] > f.box[a] + slack : high <= 0 || low >= f.box[a]) {
      refuse(fmt::format("the region lies outside the box: its centre is {}, the box extends from 0 to {}",
                         in_kpc(f.centre), in_kpc(f.box)));
    }
    if (f.wraps && 2 * half[a] > f.box[a] + slack) {
      refuse(
          fmt::format("the region spans {} along the axes of the box, more than the box of {}, which would be counted "
                      "more than once: choose a smaller --size{}",
                      in_kpc(2. * half), in_kpc(f.box),
                      f.rotation == unit_matrix ? "" : " (a rotated cube spans up to 1.73 times its side)"));
    }
    if (!f.wraps && !allow_outside && (low < -slack || high > f.box[a] + slack)) {
      refuse(fmt::format(
          "the region reaches beyond the box along {}: from {:.6g} to {:.6g} of the box's side; there is no "
          "gas there: move it or make it smaller, or accept this with --allow-outside",
          "xyz"[a], low / f.box[a], high / f.box[a]));
    }
  }
}

Vector middle(const io::SnapshotHeader& header) {
  if (header.box[0] <= 0) refuse("the snapshot does not give the size of its box: give --centre");
  return 0.5 * header.box;
}

}  // namespace

Lattice choose_lattice(const io::SnapshotHeader& header, const RegionOptions& options) {
  Vector size = header.box;
  if (options.size.size() == 1) size = {options.size[0], options.size[0], options.size[0]};
  if (options.size.size() == 3) std::copy(options.size.begin(), options.size.end(), size.begin());
  if (options.size.empty() && header.box[0] <= 0) {
    refuse("the snapshot does not give the size of its box: give the region with --centre and --size");
  }
  Lattice lattice;
  lattice.cell = size[0] / double(options.cells[0]);
  for (std::size_t a = 0; a < 3; ++a) {
    const double n = size[a] / lattice.cell;
    lattice.cells[a] = options.cells.size() == 3 ? options.cells[a] : std::llround(n);
    if (lattice.cells[a] < 1 || std::abs(double(lattice.cells[a]) - n) > 1e-6 * n) {
      throw Error(
          ExitCode::usage,
          fmt::format("--cells: cells must be cubic; sides of {} and {} cells along x give {:.6g} cells along {}",
                      in_kpc(size), options.cells[0], n, "xyz"[a]));
    }
  }
  lattice.periodic = options.size.empty() && is_periodic(header, options) && !options.is_rotated();
  return lattice;
}

Vector parse_vector(const std::string& text, bool velocity, const std::string& option) {
  const auto values = parse_quantities(text, velocity ? Dimension::velocity : Dimension::length, option);
  if (values.size() != 3)
    throw Error(ExitCode::usage, fmt::format("{} {}: expected three, for x, y and z", option, text));
  return {values[0], values[1], values[2]};
}

std::vector<double> parse_lengths(const std::string& text, const std::string& option) {
  auto values = parse_quantities(text, Dimension::length, option);
  const bool positive = std::all_of(values.begin(), values.end(), [](double v) { return v > 0; });
  if ((values.size() != 1 && values.size() != 3) || !positive) {
    throw Error(ExitCode::usage, fmt::format("{} {}: expected one length or three, above 0", option, text));
  }
  return values;
}

Matrix parse_rotation(const std::string& text, const std::string& option) {
  Matrix out = unit_matrix;
  if (text.empty()) throw Error(ExitCode::usage, option + ": expected turns such as x:30,z:-90 (degrees)");
  for (const std::string& part : split(text)) {
    const auto axis = std::string("xyz").find(part.empty() ? ' ' : part[0]);
    try {
      if (axis == std::string::npos || part.size() < 3 || part[1] != ':') throw std::invalid_argument("");
      const double degrees = parse_quantity(part.substr(2), Dimension::none).value;
      out = rotation_about(int(axis), degrees * constants::pi / 180) * out;
    } catch (const std::invalid_argument&) {
      throw Error(ExitCode::usage,
                  fmt::format("{} {}: expected turns such as x:30,z:-90 (degrees), got \"{}\"", option, text, part));
    }
  }
  return out;
}

GridRegion choose_region(const io::SnapshotHeader& header, const RegionOptions& options, const Vector& centre) {
  GridRegion region{choose_lattice(header, options), {}};
  region.frame.centre = centre;
  region.frame.box = header.box;
  region.frame.wraps = is_periodic(header, options);
  region.frame.rotation = options.rotation;
  if (const auto* v = std::get_if<Vector>(&options.velocity)) region.frame.velocity = *v;
  if (options.orientation == Orientation::as_is) check(region, options.allow_outside);
  return region;
}

GridRegion choose_region(const io::Snapshot& snapshot, const RegionOptions& options) {
  Vector centre{};
  if (const auto* given = std::get_if<Vector>(&options.centre)) {
    centre = *given;
  } else {
    centre = std::get<Centre>(options.centre) == Centre::box ? middle(snapshot.header()) : densest(snapshot);
  }
  GridRegion region = choose_region(snapshot.header(), options, centre);
  const bool oriented = options.orientation != Orientation::as_is;
  const auto* bulk = std::get_if<Bulk>(&options.velocity);
  if (!oriented && !(bulk && *bulk == Bulk::subtract)) return region;

  const auto& cells = region.lattice.cells;
  const double radius = 0.5 * region.lattice.cell * double(*std::min_element(cells.begin(), cells.end()));
  const Motion motion = motion_within(snapshot, region.frame, radius);
  if (!(motion.mass > 0))
    refuse("no gas in the region to define its velocity and orientation: check --centre and --size");
  if (bulk && *bulk == Bulk::subtract) region.frame.velocity = motion.velocity;
  if (oriented) {
    if (!(dot(motion.angular_momentum, motion.angular_momentum) > 0)) {
      refuse("the gas of the region has no angular momentum to define its orientation");
    }
    const int axis = options.orientation == Orientation::face_on ? 2 : 0;
    region.frame.rotation = options.rotation * rotation_towards(motion.angular_momentum, axis);
    check(region, options.allow_outside);
  }
  return region;
}

}  // namespace thor::gridding
