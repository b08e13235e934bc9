#include "thor/interactors/jump_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "thor/core/error.hpp"

namespace thor {
namespace {

constexpr int path_groups = 16, angle_groups = jump_records / path_groups;
constexpr char magic[16] = "thor jumps\r\n\x1a\n";

/// Records are stored as 16-bit integers between 0 and these largest values.
constexpr float largest[4] = {12, 30, 1, 2};

double share_below(double t) { return t * t * (3 - 2 * t); }

std::uint64_t checksum(const char* data, std::size_t count) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ static_cast<unsigned char>(data[i])) * 0x100000001b3u;
  return hash;
}

struct Header {
  char magic[16];
  std::uint32_t version, intervals, strata, records, a_count, depth_count;
  double a_first, a_ratio, depth_first, depth_ratio;
};

using Chosen = std::vector<const SphereExit*>;

/// The exits of a group in the middle of each range of angles; it is sorted by them.
Chosen middles_of(std::span<SphereExit> group) {
  std::ranges::sort(group, {}, &SphereExit::mu);
  Chosen middle;
  for (std::size_t i = 0; i < angle_groups; ++i) {
    middle.push_back(&group[(2 * i + 1) * group.size() / (std::size_t(2) * angle_groups)]);
  }
  return middle;
}

/// The power p of the quantile u with which cosines begin, u^p: 1/4 for flights out of the core (tau = 30 to 1e4, fits
/// exact histories to 0.003), and 1/2 for light that diffuses, whose intensity at the limb is finite. In between by how
/// they grow from u = 1/8 to 3/8.
double power_of(double first, double second) {
  return std::clamp(0.25 + 1.5625 * (std::log(second / first) / std::log(3.) - 0.24), 0.25, 0.5);
}

/// The cosine at a quantile u, from those in the middle of each range: linear in u^{2 p - 1/2} between them (in ln u
/// for p = 1/4), linear up to 1, and below the first as u^p.
double cosine_at(double quantile, const Chosen& middle, double power) {
  const double place = quantile * angle_groups - 0.5;
  if (place < 0) return double(middle.front()->mu) * std::pow(2 * angle_groups * quantile, power);
  const auto low = std::min(std::size_t(place), middle.size() - 1);
  const double mu = double(middle[low]->mu);
  if (low + 1 == middle.size()) return std::lerp(mu, 1., std::min(2 * (place - double(low)), 1.));
  const auto scale = [power](double u) { return power > 0.2501 ? std::pow(u, 2 * power - 0.5) : std::log(u); };
  const double below = scale(double(low) + 0.5), above = scale(double(low) + 1.5), here = scale(place + 0.5);
  return std::lerp(mu, double(middle[low + 1]->mu), (here - below) / (above - below));
}

/// One group of a stratum, of similar paths: a record for each range of angles, with the mean path and mean number of
/// scatterings of the group. Cosines are spread over their ranges, each group's by other amounts; the last flight, a
/// part of the chord 2 mu, changes with them.
void add_group(std::span<SphereExit> group, double power, double depth, bool deep, std::vector<JumpExit>& exits) {
  const Chosen chosen = middles_of(group);
  double path = 0, scatterings = 0, last_flight = 0, chosen_path = 0, chosen_scatterings = 0, chosen_last = 0;
  for (const SphereExit& e : group) {
    path += double(e.path), scatterings += double(e.scatterings), last_flight += double(e.last);
  }
  for (const SphereExit* e : chosen) {
    chosen_path += double(e->path), chosen_scatterings += double(e->scatterings), chosen_last += double(e->last);
  }
  const double size = double(group.size()) / angle_groups;
  const double stretch = path / size / chosen_path, mean = scatterings / double(group.size());
  const double more = scatterings / size / std::max(chosen_scatterings, 1e-30);
  const double longer = deep ? last_flight / size / chosen_last : 1;
  const auto number = [&](const SphereExit& e) {  // where few photons come into the core, each record has the mean
    if (!deep) return std::log(std::max(double(e.scatterings) * more, 1.));
    return (more < 2 ? double(e.scatterings) * more : mean) / depth;
  };
  for (int i = 0; i < angle_groups; ++i) {
    const SphereExit& e = *chosen[std::size_t(i)];
    const double amount = std::fmod(0.6180339887498949 * double(exits.size()), 1.);  // evenly spread (Weyl 1916)
    const double mu = cosine_at((i + amount) / angle_groups, chosen, power);
    const double last = std::min(longer * double(e.last) * mu / std::max(double(e.mu), 1e-6), 2 * mu);
    exits.push_back(
        {float(std::log(std::max(double(e.path) * stretch / depth, 1.))), float(number(e)), float(mu), float(last)});
  }
}

/// Logarithms of the means of a table.
struct JumpMeans {
  float log_path, log_scatterings;
};
JumpMeans means_of(std::span<const JumpExit> exits, bool deep) {
  double path = 0, scatterings = 0;
  for (int stratum = 0; stratum < jump_strata; ++stratum) {
    const double share = share_below(double(stratum + 1) / jump_strata) - share_below(double(stratum) / jump_strata);
    for (const JumpExit& e : exits.subspan(std::size_t(stratum) * jump_records, jump_records)) {
      path += share / jump_records * std::exp(double(e.log_path));
      scatterings += share / jump_records * std::exp(double(e.log_scatterings));
    }
  }
  return {float(std::log(path)), deep ? 0.f : float(std::log(scatterings))};
}

/// Recoil, by g thermal widths a scattering, makes an exit at x e^{-c g x} times as probable. In the core c falls from
/// 2, complete redistribution, to 1.5; photons in the wing that leave soon have 1. Fits to exact histories
/// (docs/acceleration.md#recoil).
double recoil_of_core(double a_tau) { return 1.5 + 0.6 / (1 + std::sqrt(a_tau / 7)); }
double recoil_of_row(int row) { return 1 + 0.5 / (1 + std::pow(deep_xi(row) / 0.85, 8)); }

/// How far the quantiles of a deep table move: q (1 - q) (bias + skew (2 q - 1)), fitted to c times the integral of
/// mean - x/w over q.
struct Recoil {
  float bias, skew;
};
Recoil recoil_of(std::span<const float> knots, double c) {
  std::vector<double> sums{0};
  for (int j = 1; j < jump_knots; ++j) {
    const double share = share_below(double(j) / jump_intervals) - share_below(double(j - 1) / jump_intervals);
    sums.push_back(sums.back() + share * 0.5 * double(knots[std::size_t(j)] + knots[std::size_t(j - 1)]));
  }
  double m00 = 0, m11 = 0, b0 = 0, b1 = 0;
  for (int j = 0; j < jump_knots; ++j) {
    const double q = share_below(double(j) / jump_intervals), f = q * (1 - q), h = f * (2 * q - 1);
    const double moved = c * (q * sums.back() - sums[std::size_t(j)]);
    m00 += f * f, m11 += h * h, b0 += f * moved, b1 += h * moved;
  }
  return {float(b0 / m00), float(b1 / m11)};
}

/// Histories sorted by frequency as the knots of a table, and the exits of its strata.
JumpNode node_of(std::vector<SphereExit>& exits, double depth, bool deep, auto value) {
  const auto count = exits.size();
  std::ranges::sort(exits, {}, &SphereExit::x);
  JumpNode node;
  for (int j = 0; j < jump_knots; ++j) {
    const double rank = share_below(double(j) / jump_intervals) * double(count) - 0.5;
    const double within = std::clamp(rank, 0., double(count - 1));
    const auto low = std::min(std::size_t(within), count - 2);
    const double fraction = within - double(low);
    node.frequency.push_back(
        float((1 - fraction) * value(double(exits[low].x)) + fraction * value(double(exits[low + 1].x))));
  }
  const auto rank_at = [&](int j) { return std::size_t(share_below(double(j) / jump_strata) * double(count)); };
  std::vector<std::span<SphereExit>> groups;
  double first_cosine = 0, second_cosine = 0;  // sums over groups
  for (int j = 0; j < jump_strata; ++j) {
    const std::span<SphereExit> stratum{exits.begin() + std::ptrdiff_t(rank_at(j)),
                                        exits.begin() + std::ptrdiff_t(rank_at(j + 1))};
    std::ranges::sort(stratum, {}, &SphereExit::path);
    for (std::size_t g = 0; g < path_groups; ++g) {
      const std::size_t first = g * stratum.size() / path_groups, end = (g + 1) * stratum.size() / path_groups;
      groups.push_back(stratum.subspan(first, end - first));
      const Chosen middle = middles_of(groups.back());
      first_cosine += double(middle[0]->mu), second_cosine += double(middle[1]->mu);
    }
  }
  const double power = power_of(first_cosine, second_cosine);
  for (const auto& group : groups) add_group(group, power, depth, deep, node.exits);
  return node;
}

/// Rows of `row` numbers between the nodes of an axis, by cubic interpolation (Lagrange).
void interpolate(std::span<const float> rows, int nodes, std::size_t row, std::vector<float>& out) {
  const int points = std::min(nodes, 4);
  for (int i = 0; i <= (nodes - 1) * jump_refinement; ++i) {
    const double place = double(i) / jump_refinement;
    const int first = std::clamp(int(place) - 1, 0, nodes - points);
    double weight[4] = {};
    for (int p = 0; p < points; ++p) {
      weight[p] = 1;
      for (int q = 0; q < points; ++q) {
        if (q != p) weight[p] *= (place - first - q) / double(p - q);
      }
    }
    for (std::size_t k = 0; k < row; ++k) {
      double sum = 0;
      for (int p = 0; p < points; ++p) sum += weight[p] * double(rows[std::size_t(first + p) * row + k]);
      out.push_back(float(sum));
    }
  }
}

}  // namespace

double deep_xi(int row) { return row == 0 ? 0. : std::exp(deep_log_xi + (row - 1) * deep_log_xi_step); }
double deep_a_tau(int row, int node) {
  const double low = row < deep_core_rows ? deep_log_core : deep_log_wing;
  const double thick = deep_log_thick + 6 * (deep_log_xi + (row - 1) * deep_log_xi_step);
  return std::exp((row == 0 ? low : std::max(low, thick)) + node * deep_log_node_step);
}

double JumpAxes::a(int i) const { return a_first * std::pow(a_ratio, i); }
double JumpAxes::depth(int k) const { return depth_first * std::pow(depth_ratio, k); }

JumpNode JumpNode::from(std::vector<SphereExit> exits, double depth) {
  for (SphereExit& e : exits) e.x = std::max(std::abs(e.x), 1e-3f);
  return node_of(exits, depth, false, [](double x) { return std::log(x); });
}

JumpNode JumpNode::deep(std::vector<SphereExit> exits, double depth, int row, int node) {
  if (row == 0) {  // red and blue alike
    const std::size_t count = exits.size();
    for (std::size_t i = 0; i < count; ++i) {
      exits.push_back(exits[i]);
      exits.back().x *= -1;
    }
  }
  const double width = std::cbrt(deep_a_tau(row, node));
  return node_of(exits, depth, true, [&](double x) { return x / width; });
}

void JumpTables::add(const JumpNode& node) {
  frequency_.insert(frequency_.end(), node.frequency.begin(), node.frequency.end());
  exits_.insert(exits_.end(), node.exits.begin(), node.exits.end());
  if (exits_.size() == tables() * jump_exits) refine();
}
void JumpTables::add_deep(const JumpNode& node) {
  frequency_.insert(frequency_.end(), node.frequency.begin(), node.frequency.end());
  exits_.insert(exits_.end(), node.exits.begin(), node.exits.end());
  deep_ = exits_.size() == (tables() + std::size_t(deep_rows) * deep_nodes) * jump_exits;
  if (deep_) refine();
}
void JumpTables::drop_deep() {
  deep_ = false;
  frequency_.resize(tables() * jump_knots), exits_.resize(tables() * jump_exits);
  refine();
}

JumpNode JumpTables::at(std::size_t table) const {
  const auto knots = frequency_.begin() + std::ptrdiff_t(table * jump_knots);
  const auto exits = exits_.begin() + std::ptrdiff_t(table * jump_exits);
  return {{knots, knots + jump_knots}, {exits, exits + jump_exits}};
}
JumpNode JumpTables::node(int a, int depth) const {
  return at(std::size_t(a) * std::size_t(axes_.depth_count) + std::size_t(depth));
}
JumpNode JumpTables::deep_node(int row, int node) const {
  return at(tables() + std::size_t(node) * deep_rows + std::size_t(row));
}

void JumpTables::refine() {
  std::vector<float> rows;
  relative_ = exits_;
  for (std::size_t n = 0; n < relative_.size() / jump_exits; ++n) {
    const bool is_deep = n >= tables();
    const std::span<JumpExit> exits(relative_.data() + n * jump_exits, jump_exits);
    if (is_deep) {  // path and last flight in units that hardly change with a tau
      const auto i = int(n - tables());
      const auto width = float(std::cbrt(deep_a_tau(i % deep_rows, i / deep_rows)));
      for (JumpExit& e : exits) e.log_path -= std::log(width), e.last *= width;
    }
    const auto knots = frequency_.begin() + std::ptrdiff_t(n * jump_knots);
    // Light that diffuses leaves at x with a probability that begins as x^2: cubes are linear in the quantile there.
    for (int j = 0; j < jump_knots; ++j) rows.push_back(is_deep ? knots[j] * knots[j] * knots[j] : knots[j]);
    const JumpMeans means = means_of(exits, is_deep);
    rows.push_back(means.log_path), rows.push_back(means.log_scatterings);
    const std::size_t k = n % std::size_t(axes_.depth_count);
    const Recoil recoil =
        is_deep ? recoil_of({&*knots, jump_knots}, recoil_of_row(int(n - tables()) % deep_rows))
                : Recoil{float(recoil_of_core(axes_.a(int(n) / axes_.depth_count) * axes_.depth(int(k)))), 0};
    rows.push_back(recoil.bias), rows.push_back(recoil.skew);
    for (JumpExit& e : exits) e.log_path -= means.log_path, e.log_scatterings -= means.log_scatterings;
  }
  refined_.clear();
  const std::span<const float> all = rows;
  const std::size_t core = tables() * jump_row;
  interpolate(all.first(core), axes_.a_count, std::size_t(axes_.depth_count) * jump_row, refined_);
  if (deep_) interpolate(all.subspan(core), deep_nodes, std::size_t(deep_rows) * jump_row, refined_);
}

void JumpTables::write(const std::string& path) const {
  std::string out;
  const auto put = [&](const auto& value) { out.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  Header h{{},
           version,
           jump_intervals,
           jump_strata,
           jump_records,
           std::uint32_t(axes_.a_count),
           std::uint32_t(axes_.depth_count),
           axes_.a_first,
           axes_.a_ratio,
           axes_.depth_first,
           axes_.depth_ratio};
  std::memcpy(h.magic, magic, sizeof(magic));
  put(h);
  put(std::uint32_t(deep_ ? deep_nodes : 0)), put(std::uint32_t(deep_ ? deep_rows : 0));
  for (const float x : frequency_) put(x);
  for (const JumpExit& e : exits_) {
    const float values[4] = {e.log_path, e.log_scatterings, e.mu, e.last};
    for (int i = 0; i < 4; ++i) {
      put(static_cast<std::uint16_t>(std::lround(std::clamp(values[i] / largest[i], 0.f, 1.f) * 65535)));
    }
  }
  put(checksum(out.data(), out.size()));
  std::ofstream file(path, std::ios::binary);
  file.write(out.data(), std::streamsize(out.size()));
  if (!file.flush()) throw Error(ExitCode::output, path + ": cannot be written");
}

JumpTables JumpTables::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string in;
  constexpr std::size_t most = 64u << 20;
  char block[1 << 16];
  while (in.size() <= most && (file.read(block, sizeof(block)), file.gcount() > 0)) {
    in.append(block, std::size_t(file.gcount()));
  }
  if (in.empty()) {
    throw Error(ExitCode::input, path +
                                     ": the tables of sphere jumps cannot be read, or the file is empty; check "
                                     "acceleration.jump_tables");
  }
  return parse(in, path);
}

JumpTables JumpTables::parse(std::string_view bytes, const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return Error(ExitCode::input, fmt::format("{}: {}; take acceleration.jump_tables out to use the program's own "
                                              "tables, or make them anew with jump_tables",
                                              path, why));
  };
  Header h{};
  if (bytes.size() < sizeof(h) + 8 || std::memcmp(bytes.data(), magic, sizeof(magic)) != 0) {
    throw refuse("this is not a file of sphere jumps");
  }
  std::memcpy(&h, bytes.data(), sizeof(h));
  if (h.version > version) {
    throw refuse(fmt::format("its version is {}; this thor reads up to {}", h.version, version));
  }
  if (h.version < 1 || h.intervals != jump_intervals || h.strata != jump_strata || h.records != jump_records ||
      h.a_count < 2 || h.a_count > 64 || h.depth_count < 1 || h.depth_count > 32) {
    throw refuse("its tables have another layout than this thor reads");
  }
  std::uint32_t deep[2] = {};
  const std::size_t start = sizeof(h) + (h.version >= 2 ? sizeof(deep) : 0);
  if (h.version >= 2) std::memcpy(deep, bytes.data() + sizeof(h), sizeof(deep));
  const bool has_deep = deep[0] != 0;
  if (has_deep && (deep[0] != deep_nodes || deep[1] != deep_rows)) {
    throw refuse("its deep tables have another layout than this thor reads");
  }
  const std::size_t nodes = std::size_t(h.a_count) * h.depth_count + std::size_t(deep[0]) * deep[1];
  const std::size_t size = start + nodes * (4u * jump_knots + 8u * jump_exits) + 8;
  if (bytes.size() != size) throw refuse(fmt::format("it has {} bytes and should have {}", bytes.size(), size));
  std::uint64_t sum = 0;
  std::memcpy(&sum, bytes.data() + size - 8, 8);
  if (sum != checksum(bytes.data(), size - 8)) throw refuse("it is damaged (wrong checksum)");
  JumpTables tables({int(h.a_count), int(h.depth_count), h.a_first, h.a_ratio, h.depth_first, h.depth_ratio});
  tables.deep_ = has_deep;
  tables.frequency_.resize(nodes * jump_knots);
  std::memcpy(tables.frequency_.data(), bytes.data() + start, 4 * nodes * jump_knots);
  const char* at = bytes.data() + start + 4 * nodes * jump_knots;
  tables.exits_.resize(nodes * jump_exits);
  for (JumpExit& e : tables.exits_) {
    float* const values[4] = {&e.log_path, &e.log_scatterings, &e.mu, &e.last};
    for (int i = 0; i < 4; ++i, at += 2) {
      std::uint16_t number = 0;
      std::memcpy(&number, at, 2);
      *values[i] = float(number) / 65535 * largest[i];
    }
    e.last = std::min(e.last, 2 * e.mu);  // no longer than the chord, or it would begin outside the sphere
  }
  tables.refine();
  return tables;
}

template <class Real>
Jumps<Real> JumpTables::view(int depth_count) const {
  Jumps<Real> jumps{};
  jumps.frequency = {refined_.data(), refined_.size()};
  jumps.exits = {reinterpret_cast<const float*>(relative_.data()), 4 * relative_.size()};
  jumps.a_count = axes_.a_count, jumps.stride = axes_.depth_count;
  jumps.depth_count = std::min(depth_count, axes_.depth_count);
  jumps.log_a = Real(std::log(axes_.a_first)), jumps.per_log_a = Real(1 / std::log(axes_.a_ratio));
  jumps.log_depth = Real(std::log(axes_.depth_first)), jumps.per_log_depth = Real(1 / std::log(axes_.depth_ratio));
  jumps.depth_step = Real(std::log(axes_.depth_ratio));
  jumps.deep = deep_;
  jumps.deep_row = ((axes_.a_count - 1) * jump_refinement + 1) * axes_.depth_count;
  jumps.deep_exits = axes_.a_count * axes_.depth_count;
  return jumps;
}
template Jumps<float> JumpTables::view(int) const;
template Jumps<double> JumpTables::view(int) const;

}  // namespace thor
