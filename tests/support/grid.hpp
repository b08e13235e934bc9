#pragma once
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "thor/io/array/output.hpp"

/// Small grid files, which exist only during a test.
namespace test {

struct GridCell {
  double density = 0, temperature = 1e4;
  std::array<double, 3> velocity{};  ///< [km/s]
  double dust = 0, emissivity = 0;
};

struct GridOptions {
  std::array<int, 3> shape{16, 16, 16};
  double size = 3.0856775814913673e21;  ///< side of the box along x, 1 kpc [cm]
  bool periodic = false, dust = false, emissivity = false;
  double hubble = 0;
  int format_version = 0;  ///< 0: not written
  std::function<GridCell(int, int, int)> gas;
  std::function<GridCell(int, int, int)> ion;  ///< temperature and velocity of the HI, if different
  std::map<std::string, std::string> units;    ///< where different from the usual ones
};

class GridFile {
 public:
  explicit GridFile(const GridOptions& o, const std::string& extension = ".h5") {
    static int number = 0;
    const std::string name = "thor_grid_" + std::to_string(getpid()) + "_" + std::to_string(number++) + extension;
    path_ = (std::filesystem::temp_directory_path() / name).string();
    std::map<std::string, std::vector<float>> fields;
    for (int x = 0; x < o.shape[0]; ++x) {
      for (int y = 0; y < o.shape[1]; ++y) {
        for (int z = 0; z < o.shape[2]; ++z) {
          const GridCell c = o.gas(x, y, z);
          fields["HI_density"].push_back(float(c.density));
          fields["MgII_density"].push_back(float(c.density));
          fields["temperature"].push_back(float(c.temperature));
          fields["velocity_x"].push_back(float(c.velocity[0]));
          fields["velocity_y"].push_back(float(c.velocity[1]));
          fields["velocity_z"].push_back(float(c.velocity[2]));
          if (o.ion) {
            const GridCell i = o.ion(x, y, z);
            fields["HI_temperature"].push_back(float(i.temperature));
            fields["HI_velocity_x"].push_back(float(i.velocity[0]));
            fields["HI_velocity_y"].push_back(float(i.velocity[1]));
            fields["HI_velocity_z"].push_back(float(i.velocity[2]));
          }
          if (o.dust) fields["dust"].push_back(float(c.dust));
          if (o.emissivity) fields["emissivity_recombination"].push_back(float(c.emissivity));
        }
      }
    }
    thor::io::ArrayOutput file(path_, true);
    const double cell = o.size / o.shape[0];
    file.attribute("/", "format", std::string_view("thor grid"));
    if (o.format_version > 0) file.attribute("/", "format_version", std::int64_t(o.format_version));
    file.attribute("/", "cell_size", cell);
    const char* const origins[] = {"origin_x", "origin_y", "origin_z"};
    for (std::size_t k = 0; k < 3; ++k) file.attribute("/", origins[k], -cell * o.shape[k] / 2);
    file.attribute("/", "periodic", o.periodic);
    file.attribute("/", "hubble", o.hubble);
    file.attribute("/", "redshift", 2.);
    const std::vector<std::uint64_t> shape(o.shape.begin(), o.shape.end());
    for (const auto& [name, values] : fields) {
      const bool velocity = name.find("velocity") != std::string::npos;
      const char* const usual = velocity                          ? "km s-1"
                                : name.ends_with("temperature")   ? "K"
                                : name.starts_with("emissivity_") ? "erg s-1 cm-3"
                                                                  : "cm-3";
      file.write<float>(name, values, shape, o.units.contains(name) ? o.units.at(name) : usual, "made up");
    }
    file.commit(true);
  }
  ~GridFile() { std::filesystem::remove_all(path_); }
  GridFile(const GridFile&) = delete;
  GridFile& operator=(const GridFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace test
