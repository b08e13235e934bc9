#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thor/interactors/jumps.hpp"

/// Tables of sphere jumps: how they are made from exact histories, and the file that holds them.
namespace thor {

/// How a photon leaves a homogeneous sphere in whose centre it was absorbed in the line core.
struct SphereExit {
  float x;            ///< frequency, in thermal units
  float mu;           ///< cosine between direction and normal
  float path;         ///< n sigma_0 summed along its path
  float scatterings;  ///< the first, in the centre, included; of deep tables those in the core
  float last;         ///< length of the last flight, in radii
};

/// The nodes of the tables. Both axes are logarithmic.
struct JumpAxes {
  int a_count = 0, depth_count = 0;
  double a_first = 0, a_ratio = 0;          ///< Voigt parameter
  double depth_first = 0, depth_ratio = 0;  ///< line-centre optical depth of the radius
  double a(int i) const;
  double depth(int k) const;
  bool operator==(const JumpAxes&) const = default;
};

/// Deep tables: where row `row` has its node `node`.
double deep_xi(int row);
double deep_a_tau(int row, int node);

/// One table: frequencies by quantile, and exits that go with them.
struct JumpNode {
  std::vector<float> frequency;  ///< ln |x| at the knots; of deep tables x/(a tau)^{1/3}
  std::vector<JumpExit> exits;   ///< stratum by stratum; of deep tables scatterings in the core over tau, without ln

  /// From exact histories, at least 64 for each record of the outermost stratum.
  static JumpNode from(std::vector<SphereExit> exits, double depth);
  /// A deep table.
  static JumpNode deep(std::vector<SphereExit> exits, double depth, int row, int node);
};

class JumpTables {
 public:
  static constexpr std::uint32_t version = 2;  ///< 1: without deep tables

  explicit JumpTables(const JumpAxes& axes) : axes_(axes) {}
  /// From a file; the message of an error names it and the remedy.
  static JumpTables read(const std::string& path);
  /// Those of the program (data/jumps.tables).
  static JumpTables built_in();
  static JumpTables parse(std::string_view bytes, const std::string& path);
  void write(const std::string& path) const;

  /// Nodes are added with the depth as the faster index, then all deep ones with the row as the faster index.
  void add(const JumpNode& node);
  void add_deep(const JumpNode& node);
  JumpNode node(int a, int depth) const;
  JumpNode deep_node(int row, int node) const;
  bool has_deep() const { return deep_; }
  void drop_deep();
  const JumpAxes& axes() const { return axes_; }

  /// What the kernel sees; the arrays are those of this object.
  template <class Real>
  Jumps<Real> view(int depth_count) const;

 private:
  /// Frequencies and means between the nodes of a, by cubic interpolation in ln a; exits over their means. The same for
  /// deep tables, in ln(a tau).
  void refine();
  std::size_t tables() const { return std::size_t(axes_.a_count) * std::size_t(axes_.depth_count); }
  JumpNode at(std::size_t table) const;

  JumpAxes axes_;
  bool deep_ = false;
  std::vector<float> frequency_;
  std::vector<JumpExit> exits_;
  std::vector<float> refined_;
  std::vector<JumpExit> relative_;
};

}  // namespace thor
