#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "thor/drivers/mcrt/config.hpp"
#include "thor/drivers/mcrt/mcrt.hpp"
#include "thor/drivers/mcrt/setup.hpp"

/// Whole runs inside a test, and the reference results next to the checkout.
namespace test {

/// Result of a whole run.
struct Outcome {
  std::vector<thor::Photon> photons;  ///< sorted by id
  thor::Tally tally;
};

/// Called with the set-up of a run before it starts, for tests that look at it.
inline std::function<void(const thor::Setup&)> on_setup;

/// Runs that do not choose an acceleration follow every scattering.
inline Outcome run_all(const std::string& yaml, std::vector<std::string> set, const thor::Compute& compute) {
  const auto chooses = [](const std::string& text) { return text.find("acceleration") != std::string::npos; };
  if (!chooses(yaml) && std::ranges::none_of(set, chooses)) set.emplace_back("acceleration.core_skip=none");
  const auto config = thor::config::parse(yaml, "test", set);
  const auto setup = thor::build_setup(config);
  if (on_setup) on_setup(setup);
  thor::Pool pool(0, setup.emitter.count(), std::uint64_t(compute.cpu.threads) * 16);
  thor::Control control;
  Outcome outcome{{}, thor::build_tally(config, setup)};
  thor::run_problem(config, setup, pool, compute, control, outcome.tally, [&](std::span<const thor::Photon> batch) {
    outcome.photons.insert(outcome.photons.end(), batch.begin(), batch.end());
  });
  std::ranges::sort(outcome.photons, {}, &thor::Photon::id);
  return outcome;
}

/// Every photon of a configuration, sorted by id.
inline std::vector<thor::Photon> run(const std::string& yaml, const std::vector<std::string>& set = {},
                                     thor::cpu::Options options = {2, false, ""}) {
  return run_all(yaml, set, {nullptr, {}, options}).photons;
}

template <class F>
std::vector<double> collect(const std::vector<thor::Photon>& photons, F value) {
  std::vector<double> values;
  for (const auto& p : photons) values.push_back(value(p));
  return values;
}
inline std::vector<double> frequencies(const std::vector<thor::Photon>& photons) {
  std::vector<double> x;
  for (const auto& p : photons) {
    if (p.fate == thor::Phase::escaped) x.push_back(p.frequency_final);
  }
  return x;
}
inline std::vector<double> magnitudes(std::vector<double> v) {
  for (double& x : v) x = std::abs(x);
  return v;
}
inline double escape_fraction(const std::vector<thor::Photon>& photons) {
  return double(frequencies(photons).size()) / double(photons.size());
}

/// Path of a file in ../shared/reference, or "" if it is missing.
inline std::string reference(const std::string& name) {
  const std::string path = std::string(THOR_SHARED) + "/reference/" + name;
  return std::filesystem::exists(path) ? path : "";
}
#define THOR_NEED_REFERENCE(path) \
  if ((path).empty()) GTEST_SKIP() << "SKIPPED: no reference data next to the checkout (" #path ")"

/// Numbers of a text file with one per line.
inline std::vector<double> read_numbers(const std::string& path) {
  std::ifstream file(path);
  std::vector<double> v;
  for (double x; file >> x;) v.push_back(x);
  return v;
}

/// Columns `axis` and `flux` of a CSV with a header line and # comments.
struct Curve {
  std::vector<double> x, flux;

  /// The fraction of the light below a value; bins are equally wide, x their centres.
  double cdf(double value) const {
    double sum = 0, below = 0;
    const double width = x[1] - x[0];
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += flux[i];
      below += flux[i] * std::clamp((value - (x[i] - width / 2)) / width, 0., 1.);
    }
    return below / sum;
  }
  double mean() const {
    double sum = 0, first = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += flux[i], first += flux[i] * x[i];
    return first / sum;
  }
};
inline Curve read_curve(const std::string& path, const std::string& axis, const std::string& flux) {
  std::ifstream file(path);
  Curve curve;
  int ix = -1, iy = -1;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::stringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    if (ix < 0) {
      ix = int(std::ranges::find(row, axis) - row.begin());
      iy = int(std::ranges::find(row, flux) - row.begin());
    } else {
      curve.x.push_back(std::stod(row.at(std::size_t(ix))));
      curve.flux.push_back(std::stod(row.at(std::size_t(iy))));
    }
  }
  return curve;
}

}  // namespace test
