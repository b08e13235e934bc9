#pragma once
#include <map>
#include <optional>

#include "thor/datasets/dataset_type.hpp"
#include "thor/datasets/field_array.hpp"
#include "thor/drivers/rays/scene.hpp"
#include "thor/io/result/unit.hpp"

namespace thor {

/// The factors of a product, at least one.
std::vector<std::string> required_factors(const std::string& product);
/// "velocity" and "HI_velocity" are the component along a ray of arrays such as HI_velocity_x.
inline constexpr const char* velocity_axes[] = {"_x", "_y", "_z"};
[[noreturn]] void refuse_velocities();
/// Units of the fields of a model.
const char* units_in_model(const std::string& field);
/// Throws an Error(usage) for a line of another ion than that of a model.
void require_ion(const Line& line, const std::string& ion);

/// Fields with a number for each cell of a mesh.
class CellFields : public RayScene {
 public:
  CellFields(const config::Dataset& dataset, int threads) : dataset_(dataset), threads_(threads) {}
  void forget() override { uses_.clear(), means_.clear(), fields_.clear(); }

  FieldUse use(const std::string& product) override;
  FieldUse place(const std::string& product, config::FieldScale scale, double low, double high) override;
  FieldUse over_mean(const std::string& product) override;
  double mean_of(const std::string& product) override;
  void set_mean(const std::string& product, double mean) override { means_[product] = mean; }
  ValueRange range_of(const std::string& product) override;

  Absorber absorber(const Line& line, const std::string& density_field) override;
  double coldest(const FieldUse& temperature) const override;
  double hottest(const FieldUse& temperature) const override;
  double fastest(const FieldUse& velocity) const override;

  int fields_in_use() const override { return int(fields_.size()); }
  double bytes() const override;
  bool has_single_places() const override { return fields_.empty() || fields_.front().count < most_single_cells; }
  AnyScene<float> single_scene() const override { return scene<float>(); }
  AnyScene<double> double_scene() const override { return scene<double>(); }

 protected:
  virtual bool has(const std::string& array) const = 0;
  virtual io::Unit unit_of(const std::string& array) const = 0;
  /// The product of arrays, in their units.
  virtual FieldArray product_of(const std::vector<std::string>& arrays) = 0;
  /// A component of a velocity in km/s, with a unit of 1.
  virtual FieldArray component_of(const std::string& velocity, std::size_t axis) = 0;
  [[noreturn]] virtual void refuse(const std::string& field) const = 0;
  /// The array with the density of a line's ion, where none is named.
  virtual std::string density_of(const Line& line) const = 0;
  /// Units of the arrays of an absorber in cgs.
  virtual void set_cgs(Absorber&, const std::string& /*density*/, const std::string& /*temperature*/) const {}
  /// The temperature with what else widens the line in each cell.
  virtual FieldUse broadened(const Absorber& absorber, const Line&) { return absorber.temperature; }

  /// All of a grid, or a part of it.
  void set_grid(const GridShape& grid, const CellBox& part);
  void set_mesh(const RayMesh& mesh);
  const FieldCells& cells() const { return *cells_; }
  int add(FieldArray field);
  const FieldArray& field_of(const FieldUse& use) const { return fields_[std::size_t(use.quantity.field)]; }

  const config::Dataset dataset_;
  const int threads_;
  std::map<std::string, FieldUse> uses_;

 private:
  template <class Real>
  AnyScene<Real> scene() const;
  int velocity_of(const std::string& prefix);
  void require_gas(const Absorber& absorber);

  AnyDataset mesh_{};
  std::array<int, 3> first_{};  ///< cell of a grid that is the first one of this part
  std::shared_ptr<const FieldCells> cells_;
  std::map<std::string, double> means_;
  std::vector<FieldArray> fields_;
};

/// Those of a file.
std::unique_ptr<RayScene> open_file_fields(const config::Dataset& dataset, int threads);

}  // namespace thor
