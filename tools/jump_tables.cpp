// Makes the tables of sphere jumps from exact histories.
//   jump_tables make FOLDER [--device cuda] [--photons 262144] [--most 1e6] [--seconds 500] [--threads N] [--part 1/3]
//       adds the tables that FOLDER does not have yet, the quick ones first, until the time is over; several parts can
//       be made side by side, so that a GPU has work while the last photons of one table are on their way
//   jump_tables deep FOLDER [--device cuda] [--photons 524288] [--seconds 500] [--threads N] [--part 1/3]
//       the same for the deep tables, with jumps of the program's other tables
//   jump_tables split FILE FOLDER     the tables of a file, to add others
//   jump_tables join FOLDER FILE
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "thor/core/error.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/drivers/mcrt/jump_histories.hpp"

namespace {

using namespace thor;
namespace fs = std::filesystem;

/// a = 1e-5 to 0.1 in quarters of a decade, depths from 30 on in halves.
JumpAxes axes(int depths) { return {17, depths, 1e-5, std::pow(10., 0.25), 30, std::sqrt(10.)}; }

fs::path name(const fs::path& folder, int i, int k) { return folder / fmt::format("a{:02}_tau{:02}.table", i, k); }

fs::path deep_name(const fs::path& folder, int row, int node) {
  return folder / fmt::format("deep{:02}_{}.table", row, node);
}

void save(const fs::path& path, const JumpNode& node) {
  const fs::path partial = path.string() + ".partial";
  std::ofstream file(partial, std::ios::binary);
  file.write(reinterpret_cast<const char*>(node.frequency.data()), std::streamsize(4 * node.frequency.size()));
  file.write(reinterpret_cast<const char*>(node.exits.data()), std::streamsize(sizeof(JumpExit) * node.exits.size()));
  if (!file.flush()) throw Error(ExitCode::output, partial.string() + ": cannot be written");
  fs::rename(partial, path);
}

JumpNode load(const fs::path& path) {
  JumpNode node{std::vector<float>(jump_knots), std::vector<JumpExit>(jump_exits)};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(node.frequency.data()), 4 * jump_knots);
  file.read(reinterpret_cast<char*>(node.exits.data()), std::streamsize(sizeof(JumpExit) * jump_exits));
  if (!file) throw Error(ExitCode::input, path.string() + ": missing or incomplete; run `jump_tables make` again");
  return node;
}

struct Options {
  fs::path folder;
  std::string device = "cpu";
  std::uint64_t photons = 0;
  double most = 1e6, seconds = 1e9;
  int threads = available_threads();
  int part = 0, parts = 1;
};

int depths_up_to(double most) { return 1 + int(std::floor(2 * std::log10(most / 30) + 1e-9)); }

/// A table that may have to be made.
struct Wanted {
  fs::path path;
  double a, depth;
  std::function<std::vector<SphereExit>(const Compute&)> histories;
  std::function<JumpNode(std::vector<SphereExit>)> node;
};

void make(const Options& o, const std::vector<Wanted>& all) {
  fs::create_directories(o.folder);
  const auto device = o.device == "cpu" ? nullptr : device::open(o.device);
  const Compute compute{device.get(), {}, {o.threads, false, ""}};
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  int missing = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Wanted& w = all[i];
    if (int(i) % o.parts != o.part || fs::exists(w.path)) continue;
    if (passed() > o.seconds) {
      ++missing;
      continue;
    }
    const double before = passed();
    const auto exits = w.histories(compute);
    double x = 0, path = 0, scatterings = 0;
    for (const SphereExit& e : exits)
      x += std::abs(double(e.x)), path += double(e.path), scatterings += double(e.scatterings);
    const double n = double(exits.size());
    save(w.path, w.node(exits));
    fmt::print("a {:.4g} tau {:.4g}: mean |x| {:.4f}, path/tau {:.4f}, scatterings/tau {:.4f}, {:.2f} s\n", w.a,
               w.depth, x / n, path / n / w.depth, scatterings / n / w.depth, passed() - before);
    std::fflush(stdout);
  }
  fmt::print("{} tables are missing\n", missing);
}

std::vector<Wanted> core_tables(const Options& o) {
  const JumpAxes all = axes(depths_up_to(o.most));
  const std::uint64_t photons = o.photons ? o.photons : 262144;
  std::vector<Wanted> wanted;
  for (int k = 0; k < all.depth_count; ++k) {
    for (int i = 0; i < all.a_count; ++i) {
      const double a = all.a(i), depth = all.depth(k);
      const std::uint64_t seed = 1 + std::uint64_t(100 * k + i);
      wanted.push_back({name(o.folder, i, k), a, depth,
                        [=](const Compute& compute) { return sphere_exits(a, depth, photons, seed, compute); },
                        [=](std::vector<SphereExit> exits) { return JumpNode::from(std::move(exits), depth); }});
    }
  }
  return wanted;
}

/// Histories of the node before, scaled to a width that is `ratio` times as large.
std::vector<SphereExit> scaled(std::vector<SphereExit> exits, double depth, double ratio) {
  const auto factor = float(ratio);
  for (SphereExit& e : exits) {
    e.x *= factor, e.path = std::max(e.path * factor, float(depth)), e.last /= factor;
  }
  return exits;
}

/// Nodes of small a tau have an a in the middle of its range, the others one with large exact tables. Fewer photons
/// where each takes thousands of steps; where it would take tens of thousands, the histories of the node before.
std::vector<Wanted> deep_tables(const Options& o) {
  std::vector<Wanted> wanted;
  for (int node = 0; node < deep_nodes; ++node) {
    for (int row = 0; row < deep_rows; ++row) {
      const bool copies = node == 4 && row > 0 && row < deep_core_rows;
      const int made = copies ? node - 1 : node;
      const double a = std::pow(10., made == 0 ? -3 : made == 1 ? -2 : -1.5), a_tau = deep_a_tau(row, made);
      const double depth = a_tau / a, x = deep_xi(row) * std::cbrt(a_tau);
      const double ratio = std::cbrt(deep_a_tau(row, node) / a_tau);
      const int fewer = row >= 6 ? 1 : made == 4 ? 4 : made == 3 ? 2 : 1;
      const std::uint64_t photons = (o.photons ? o.photons : 524288) / std::uint64_t(fewer);
      const std::uint64_t seed = 10000 + std::uint64_t(100 * row + made);
      wanted.push_back({deep_name(o.folder, row, node), a, depth,
                        [=](const Compute& compute) { return deep_exits(a, depth, x, photons, seed, compute); },
                        [=](std::vector<SphereExit> exits) {
                          return JumpNode::deep(scaled(std::move(exits), depth, ratio), depth, row, node);
                        }});
    }
  }
  return wanted;
}

void split(const std::string& path, const fs::path& folder) {
  fs::create_directories(folder);
  const JumpTables tables = JumpTables::read(path);
  for (int i = 0; i < tables.axes().a_count; ++i) {
    for (int k = 0; k < tables.axes().depth_count; ++k) save(name(folder, i, k), tables.node(i, k));
  }
  for (int row = 0; row < deep_rows && tables.has_deep(); ++row) {
    for (int node = 0; node < deep_nodes; ++node) save(deep_name(folder, row, node), tables.deep_node(row, node));
  }
}

void join(const fs::path& folder, const std::string& path) {
  int depths = 0;
  while (fs::exists(name(folder, 0, depths))) ++depths;
  JumpTables tables(axes(depths));
  for (int i = 0; i < tables.axes().a_count; ++i) {
    for (int k = 0; k < depths; ++k) tables.add(load(name(folder, i, k)));
  }
  for (int node = 0; node < deep_nodes && fs::exists(deep_name(folder, 0, 0)); ++node) {
    for (int row = 0; row < deep_rows; ++row) tables.add_deep(load(deep_name(folder, row, node)));
  }
  tables.write(path);
  fmt::print("{}: {} Voigt parameters, {} depths up to {:.3g}, {} deep tables, {} bytes\n", path, tables.axes().a_count,
             depths, tables.axes().depth(depths - 1), tables.has_deep() ? deep_rows * deep_nodes : 0,
             fs::file_size(path));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() >= 2 && (arguments[0] == "make" || arguments[0] == "deep")) {
      Options o;
      o.folder = arguments[1];
      for (std::size_t i = 2; i + 1 < arguments.size(); i += 2) {
        const std::string &key = arguments[i], &value = arguments[i + 1];
        if (key == "--device")
          o.device = value;
        else if (key == "--photons")
          o.photons = std::stoull(value);
        else if (key == "--most")
          o.most = std::stod(value);
        else if (key == "--seconds")
          o.seconds = std::stod(value);
        else if (key == "--threads")
          o.threads = std::stoi(value);
        else if (key == "--part")
          o.part = std::stoi(value) - 1, o.parts = std::stoi(value.substr(value.find('/') + 1));
        else
          throw Error(ExitCode::usage, "unknown option " + key);
      }
      make(o, arguments[0] == "deep" ? deep_tables(o) : core_tables(o));
    } else if (arguments.size() == 3 && arguments[0] == "split") {
      split(arguments[1], arguments[2]);
    } else if (arguments.size() == 3 && arguments[0] == "join") {
      join(arguments[1], arguments[2]);
    } else {
      throw Error(
          ExitCode::usage,
          "usage: jump_tables make FOLDER [options], deep FOLDER [options], split FILE FOLDER, or join FOLDER FILE");
    }
  } catch (const std::exception& e) {
    fmt::print(stderr, "jump_tables: {}\n", e.what());
    return 2;
  }
}
