// The smallest output there can be, as docs/contributing/output.md says: light by the number of scatterings. It
// compiles against the concept of the list, counts photons and writes what was counted.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "thor/io/array/input.hpp"
#include "thor/io/array/output.hpp"
#include "thor/outputs/keys.hpp"
#include "thor/outputs/list.hpp"

namespace thor {

struct ScatteringsPlan {
  Bins bins;
  config::Fate of;
};

struct ScatteringsOutput {
  static constexpr const char* type = "scatterings";
  static constexpr const char* meaning = "light by the number of scatterings";

  std::string name;
  config::Fate of = config::Fate::escaped;
  std::uint64_t bins = 4;
  std::string reference{}, generator{};
  bool errors = true;

  static const config::Section<ScatteringsOutput>& section() {
    static const config::Section<ScatteringsOutput> section = [] {
      config::Section<ScatteringsOutput> s("");
      s.integer("bins", &ScatteringsOutput::bins, 1, 1000, {.meaning = "number of bins", .fallback = "4"});
      return s;
    }();
    return section;
  }
  ScatteringsPlan plan(const OutputContext&) const { return {{.count = std::int64_t(bins), .errors = errors}, of}; }
  void write(io::ArrayOutput& file, const ScatteringsPlan& plan, const BinnedLight& light) const {
    write_bins(file, "/scatterings/" + name, "luminosity", {std::uint64_t(plan.bins.count)}, "erg s-1", meaning, light,
               [](std::size_t) { return 1.; });
  }
  bool operator==(const ScatteringsOutput&) const = default;
};

inline namespace THOR_ISA {

template <class Contributions>
void count(const ScatteringsPlan& plan, const Photon& photon, Contributions& bins) {
  const CountedLight counted = counted_light(plan.of, photon);
  if (counted.any) bins.add(bin_at(double(photon.scatterings), plan.bins.count), counted.light);
}

}  // namespace THOR_ISA

namespace {

using Toys = OutputList<ScatteringsOutput>;

/// What a list of outputs calls for each photon.
struct Sums {
  std::map<std::int64_t, double> of;
  void add(std::int64_t bin, double light) { of[bin] += light; }
};

TEST(ToyOutput, CountsAndWrites) {
  const ScatteringsOutput output{"toy"};
  const OutputContext context{[](const std::string&) { return FrequencyAxis{1e6, 1e-5}; }, 1};
  Toys::Plan any{};
  new (any.bytes) ScatteringsPlan(output.plan(context));
  Sums sums;
  for (const auto& [scatterings, fate] :
       {std::pair(0, Phase::escaped), {2, Phase::escaped}, {2, Phase::escaped}, {3, Phase::absorbed}}) {
    Photon photon{};
    photon.scatterings = scatterings, photon.fate = fate, photon.weight = 2;
    any.visit([&](const auto& plan) { count(plan, photon, sums); });
  }
  EXPECT_EQ(sums.of, (std::map<std::int64_t, double>{{0, 2.}, {2, 4.}}));

  BinnedLight light;
  light.light = {2, 0, 4, 0}, light.relative_error = {1, 0, 0.5f, 0}, light.vov = {0, 0, 0, 0};
  const auto path = std::filesystem::temp_directory_path() / fmt::format("thor_toy_{}.h5", getpid());
  {
    io::ArrayOutput file(path.string(), true);
    output.write(file, output.plan(context), light);
    file.commit(true);
  }
  const io::Input in(path);
  EXPECT_EQ(in.read_all<double>("/scatterings/toy/luminosity"), light.light);
  EXPECT_EQ(in.text("/scatterings/toy/luminosity", "units"), "erg s-1");
  EXPECT_EQ(ScatteringsOutput::section().schema().parameters.size(), 1u);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace thor
