// Makes the tables of sphere jumps from exact histories.
//   jump_tables make FOLDER [--device cuda] [--photons 262144] [--most 1e6] [--seconds 500] [--threads N] [--part 1/3]
//       adds the tables that FOLDER does not have yet, the quick ones first, until the time is over; several parts can
//       be made side by side, so that a GPU has work while the last photons of one table are on their way
//   jump_tables split FILE FOLDER     the tables of a file, to add others
//   jump_tables join FOLDER FILE
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "thor/core/error.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/drivers/jump_histories.hpp"

namespace {

using namespace thor;
namespace fs = std::filesystem;

/// a = 1e-5 to 0.1 in quarters of a decade, depths from 30 on in halves.
JumpAxes axes(int depths) { return {17, depths, 1e-5, std::pow(10., 0.25), 30, std::sqrt(10.)}; }

fs::path name(const fs::path& folder, int i, int k) { return folder / fmt::format("a{:02}_tau{:02}.table", i, k); }

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
  std::uint64_t photons = 262144;
  double most = 1e6, seconds = 1e9;
  int threads = available_threads();
  int part = 0, parts = 1;
};

int depths_up_to(double most) { return 1 + int(std::floor(2 * std::log10(most / 30) + 1e-9)); }

void make(const Options& o) {
  fs::create_directories(o.folder);
  const auto device = o.device == "cpu" ? nullptr : device::open(o.device);
  const Compute compute{device.get(), {}, {o.threads, false, ""}};
  const JumpAxes all = axes(depths_up_to(o.most));
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  int missing = 0;
  for (int k = 0; k < all.depth_count; ++k) {
    for (int i = 0; i < all.a_count; ++i) {
      if (i % o.parts != o.part || fs::exists(name(o.folder, i, k))) continue;
      if (passed() > o.seconds) {
        ++missing;
        continue;
      }
      const double before = passed();
      const auto exits = sphere_exits(all.a(i), all.depth(k), o.photons, 1 + std::uint64_t(100 * k + i), compute);
      double x = 0, path = 0, scatterings = 0;
      for (const SphereExit& e : exits)
        x += std::abs(double(e.x)), path += double(e.path), scatterings += double(e.scatterings);
      const double n = double(exits.size());
      save(name(o.folder, i, k), JumpNode::from(exits, all.depth(k)));
      fmt::print("a {:.4g} tau {:.4g}: mean |x| {:.4f}, path/tau {:.4f}, scatterings/tau {:.4f}, {:.2f} s\n", all.a(i),
                 all.depth(k), x / n, path / n / all.depth(k), scatterings / n / all.depth(k), passed() - before);
      std::fflush(stdout);
    }
  }
  fmt::print("{} tables are missing\n", missing);
}

void split(const std::string& path, const fs::path& folder) {
  fs::create_directories(folder);
  const JumpTables tables = JumpTables::read(path);
  for (int i = 0; i < tables.axes().a_count; ++i) {
    for (int k = 0; k < tables.axes().depth_count; ++k) save(name(folder, i, k), tables.node(i, k));
  }
}

void join(const fs::path& folder, const std::string& path) {
  int depths = 0;
  while (fs::exists(name(folder, 0, depths))) ++depths;
  JumpTables tables(axes(depths));
  for (int i = 0; i < tables.axes().a_count; ++i) {
    for (int k = 0; k < depths; ++k) tables.add(load(name(folder, i, k)));
  }
  tables.write(path);
  fmt::print("{}: {} Voigt parameters, {} depths up to {:.3g}, {} bytes\n", path, tables.axes().a_count, depths,
             tables.axes().depth(depths - 1), fs::file_size(path));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() >= 2 && arguments[0] == "make") {
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
      make(o);
    } else if (arguments.size() == 3 && arguments[0] == "split") {
      split(arguments[1], arguments[2]);
    } else if (arguments.size() == 3 && arguments[0] == "join") {
      join(arguments[1], arguments[2]);
    } else {
      throw Error(ExitCode::usage, "usage: jump_tables make FOLDER [options], split FILE FOLDER, or join FOLDER FILE");
    }
  } catch (const std::exception& e) {
    fmt::print(stderr, "jump_tables: {}\n", e.what());
    return 2;
  }
}
