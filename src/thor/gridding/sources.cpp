#include "thor/gridding/sources.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "thor/core/constants.hpp"
#include "thor/core/error.hpp"
#include "thor/core/gas_limits.hpp"
#include "thor/emission/stars.hpp"
#include "thor/gridding/job.hpp"
#include "thor/gridding/plan/survey.hpp"

namespace thor::gridding {
namespace {

void add(const GridRegion& region, const Vector& position, const Vector& velocity, double luminosity, double made_from,
         Sources& sources) {
  ++sources.found;
  if (!std::isfinite(dot(position, position)) || !(std::sqrt(dot(velocity, velocity)) <= fastest_gas) ||
      !(luminosity >= 0) || !std::isfinite(luminosity)) {
    ++sources.bad;
    return;
  }
  if (luminosity == 0) return;
  sources.input += luminosity;
  const Lattice& lattice = region.lattice;
  const Vector d = region.frame.rotation * region.frame.from_centre(position);
  bool inside = true;
  for (int a = 0; a < 3; ++a) inside = inside && std::abs(d[std::size_t(a)]) <= -lattice.lower(a);
  if (!inside) {
    sources.cut += luminosity;
    return;
  }
  const Vector v = region.frame.turned(velocity);
  for (std::size_t a = 0; a < 3; ++a) {
    sources.position.push_back(d[a]);
    sources.velocity.push_back(v[a] / constants::km);
  }
  sources.luminosity.push_back(luminosity);
  sources.made_from.push_back(made_from);
}

}  // namespace

void add_stars(const io::StarBlock& block, const GridRegion& region, Sources& sources) {
  const bool known = !block.ionizing_rate.empty();
  const auto& mass = block.initial_mass.empty() ? block.mass : block.initial_mass;
  if (block.count > 0 && !known && (block.age.empty() || mass.empty())) {
    throw NoLight(ExitCode::input,
                  "the stars of the snapshot have neither an ionising rate nor an age: --sources none");
  }
  for (std::size_t i = 0; i < block.count; ++i) {
    const double Z = block.metallicity.empty() ? 0 : block.metallicity[i];
    const double rate = known              ? block.ionizing_rate[i]
                        : Z >= 0 && Z <= 1 ? emission::ionizing_rate(mass[i], block.age[i], Z)
                                           : NAN;  // counted as bad by add()
    const Vector velocity = block.velocity.empty() ? region.frame.velocity : vector_at(block.velocity, i);
    add(region, vector_at(block.position, i), velocity, emission::lya_of_ionizing_rate(rate), rate, sources);
  }
}

void add_star_forming(const io::GasBlock& block, const std::vector<unsigned char>& use, const GridRegion& region,
                      double efficiency, Sources& sources) {
  for (std::size_t i = 0; i < block.sfr.size(); ++i) {
    if (block.sfr[i] == 0 || !use[i]) continue;
    add(region, vector_at(block.position, i), vector_at(block.velocity, i),
        emission::lya_of_sfr(block.sfr[i], efficiency), block.sfr[i], sources);
  }
}

void write_sources(io::ArrayOutput& file, const Sources& sources, SourceKind kind) {
  if (kind == SourceKind::none || sources.count() == 0) return;
  const std::uint64_t n = sources.count();
  const auto write = [&](const char* name, const std::vector<double>& values, const std::vector<std::uint64_t>& shape,
                         const char* units, const char* description) {
    file.write<double>(std::string("/sources/") + name, std::span<const double>(values), shape, units, description);
  };
  write("position", sources.position, {n, 3}, "cm", "relative to the centre of the grid");
  write("velocity", sources.velocity, {n, 3}, "km s-1", "peculiar velocity");
  write("luminosity", sources.luminosity, {n}, "erg s-1", "Lya");
  if (kind == SourceKind::stars) {
    write("ionizing_rate", sources.made_from, {n}, "s-1", "rate of hydrogen-ionising photons");
  } else {
    write("sfr", sources.made_from, {n}, "Msun yr-1", "star-formation rate");
  }
  file.attribute("/sources", "luminosity_cut_off", sources.cut);
}

void find_sources(const Job& job, Sources& sources) {
  const GridOptions& o = job.options;
  if (o.sources == SourceKind::sfr && !job.snapshot.has("sfr")) {
    refuse(job, "--sources sfr: the gas has no star-formation rate");
  }
  if (o.sources == SourceKind::stars) {
    try {
      job.snapshot.for_each_star(block_size,
                                 [&](const io::StarBlock& block) { add_stars(block, job.region, sources); });
    } catch (const NoLight& e) {
      if (o.sources_asked) throw;
      job.warn(fmt::format("no sources written: {}", e.what()));
      sources = {};
    }
    if (sources.found == 0 && o.sources_asked) refuse(job, "--sources stars: there are no stars");
  }
}

std::string describe_sources(const GridOptions& o, const Sources& s) {
  if (o.sources == SourceKind::none || s.found == 0) return "sources      none\n";
  return fmt::format("sources      {} of {} {} ({:.6g} erg/s written, {:.6g} outside the region{})\n", s.count(),
                     s.found, o.sources == SourceKind::stars ? "stars" : "star-forming gas elements", s.input - s.cut,
                     s.cut, s.bad ? fmt::format(", {} skipped: bad values", s.bad) : "");
}

void refuse_bad_sources(const Job& job, const Sources& sources) {
  if (sources.bad == 0 || job.options.on_bad_cells != OnBadCells::error) return;
  refuse(job, fmt::format("{} of {} sources have impossible values; --on-bad-cells drop skips them", sources.bad,
                          sources.found));
}

}  // namespace thor::gridding
