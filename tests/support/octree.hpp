#pragma once
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "support/grid.hpp"
#include "thor/datasets/octree_tree.hpp"
#include "thor/io/array/output.hpp"

/// Small files of octrees, or of sites in the middles of their leaves, which exist only during a test.
namespace test {

/// Leaves down to a depth; `splits`: whether a cube of a level, at these numbers, is split.
inline std::vector<thor::OctreeLeaf> leaves_of(int depth, const std::function<bool(const thor::OctreeLeaf&)>& splits) {
  std::vector<thor::OctreeLeaf> todo{{0, {0, 0, 0}}}, leaves;
  while (!todo.empty()) {
    const thor::OctreeLeaf leaf = todo.back();
    todo.pop_back();
    if (leaf.level == depth || !splits(leaf)) {
      leaves.push_back(leaf);
      continue;
    }
    for (int k = 0; k < 8; ++k) {
      todo.push_back(
          {leaf.level + 1, {2 * leaf.at[0] + (k >> 2 & 1), 2 * leaf.at[1] + (k >> 1 & 1), 2 * leaf.at[2] + (k & 1)}});
    }
  }
  return leaves;
}

enum class CellsAs { leaves, sites };

class OctreeFile {
 public:
  OctreeFile(const GridOptions& o, const std::vector<thor::OctreeLeaf>& leaves, CellsAs cells = CellsAs::leaves) {
    static int number = 0;
    const std::string name = "thor_octree_" + std::to_string(getpid()) + "_" + std::to_string(number++) + ".h5";
    path_ = (std::filesystem::temp_directory_path() / name).string();
    thor::io::ArrayOutput file(path_, true);
    file.attribute("/", "box_size", o.size);
    for (const char* axis : {"origin_x", "origin_y", "origin_z"}) file.attribute("/", axis, -o.size / 2);
    file.attribute("/", "periodic", o.periodic);
    file.attribute("/", "hubble", o.hubble);
    std::vector<std::int64_t> level, at[3];
    std::vector<double> middle[3];
    std::vector<float> density, temperature, velocity[3], dust, emissivity;
    for (const thor::OctreeLeaf& leaf : leaves) {
      const GridCell c = o.gas(int(leaf.at[0]), int(leaf.at[1]), int(leaf.at[2]));
      level.push_back(leaf.level), density.push_back(float(c.density)), temperature.push_back(float(c.temperature));
      dust.push_back(float(c.dust)), emissivity.push_back(float(c.emissivity));
      for (std::size_t k = 0; k < 3; ++k) {
        middle[k].push_back(o.size * ((double(leaf.at[k]) + 0.5) / double(1 << leaf.level) - 0.5));
        at[k].push_back(leaf.at[k]), velocity[k].push_back(float(c.velocity[k]));
      }
    }
    if (cells == CellsAs::leaves) file.write("/level", level, "", "");
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string axis(1, "xyz"[k]);
      file.write("/velocity_" + axis, velocity[k], "km s-1", "");
      if (cells == CellsAs::leaves) {
        file.write("/" + axis, at[k], "", "");
      } else {
        file.write("/" + axis, middle[k], "cm", "");
      }
    }
    file.write("/HI_density", density, "cm-3", ""), file.write("/temperature", temperature, "K", "");
    file.write("/dust", dust, "cm-3", "");
    file.write("/emissivity_recombination", emissivity, "erg s-1 cm-3", "");
    file.commit(true);
  }
  ~OctreeFile() { std::filesystem::remove_all(path_); }
  OctreeFile(const OctreeFile&) = delete;
  OctreeFile& operator=(const OctreeFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace test
