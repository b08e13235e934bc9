#pragma once
#include <algorithm>
#include <map>
#include <optional>

#include "thor/datasets/field_array.hpp"
#include "thor/datasets/medium.hpp"
#include "thor/io/result/unit.hpp"
#include "thor/line/line.hpp"
#include "thor/operators/any_scene.hpp"
#include "thor/operators/fields.hpp"

namespace thor {

/// The ion of a line as fields spell it, "HI".
std::string ion_of(const Line& line);

/// The gas that the rays of a run go through: a model, a grid in a file, or a part of one. Fields are read when they
/// are first used, and stay in memory.
class RayScene final : public FieldSource {
 public:
  /// Reads the header of a grid; a model is built as its `line` sees it.
  RayScene(const config::Dataset& dataset, const Line& line, int threads);

  /// Cuts a grid, so that this scene is one part of it; the others may be held by other processes.
  void set_part(const CellBox& box);

  FieldUse use(const std::string& product) override;
  FieldUse place(const std::string& product, config::FieldScale scale, double low, double high) override;
  /// The mean is the one that was set, or that of this part.
  FieldUse over_mean(const std::string& product) override;
  void set_mean(const std::string& product, double mean) { means_[product] = mean; }
  double mean_of(const std::string& product);  ///< sum over the cells of this part, divided by all cells

  Absorber absorber(const Line& line, const std::string& density_field) override;
  double coldest(const FieldUse& temperature) const;  ///< lowest temperature of this part [K]
  double hottest(const FieldUse& temperature) const;
  double fastest(const FieldUse& velocity) const;  ///< largest speed in this part of a grid [cm/s]

  /// How the values of a product are spread over the cells of a grid, in its units. Between `low` and `high` is what a
  /// picture should show of it.
  struct Spread {
    double least, least_positive, largest, low, high;
  };
  Spread spread_of(const std::string& product);
  /// Units of one of the names(), which is not read for that.
  std::string units_of(const std::string& field) const;
  int fields_in_use() const { return int(fields_.size() + model_fields_.size()); }  ///< of most_fields

  template <class Real>
  AnyScene<Real> scene() const;

  std::vector<std::string> names() const;             ///< of fields
  double length() const override { return length_; }  ///< unit of length [cm]
  double longest() const override { return *std::ranges::max_element(size_); }
  double hubble() const override { return is_grid_ ? shape_.hubble : 0; }
  bool repeats() const override { return is_grid_ && shape_.periodic && shape_.hubble > 0; }
  const std::array<double, 3>& centre() const { return centre_; }  ///< [cm]
  const std::array<double, 3>& size() const { return size_; }      ///< of the whole gas [cm]
  double b_turb() const override { return b_turb_; }
  bool is_grid() const { return is_grid_; }
  bool is_round() const { return is_round_; }                           ///< a sphere; else a cuboid
  bool is_infinite(std::size_t axis) const { return infinite_[axis]; }  ///< along an axis
  const GridShape& shape() const { return shape_; }                     ///< of a whole grid
  const CellBox& part() const { return part_; }
  double bytes() const;  ///< of all fields
  /// Whether the cells can be counted in single precision.
  bool has_single_places() const { return fields_.empty() || fields_.front().count < most_single_cells; }

 private:
  int add(FieldArray field);
  FieldUse use_of_file(const std::string& key, const std::vector<std::string>& factors);
  FieldUse use_of_model(const std::string& key, const std::vector<std::string>& factors);
  int velocity_of_file(const std::string& prefix);
  [[noreturn]] void refuse(const std::string& field) const;
  void require_shape(std::vector<std::string> fields) const;  ///< that of all
  void make_fields_of_cells(const Line& line);
  void require_gas(const Absorber& absorber);
  FieldUse broadened(const Absorber& absorber, const Line& line);

  config::Dataset dataset_;
  std::string ion_;        ///< of a model
  std::string reference_;  ///< a field of the file, whose shape is that of the grid
  int threads_;
  bool is_grid_, from_file_, is_round_ = false;
  std::array<bool, 3> infinite_{};
  double length_ = 1, b_turb_ = 0;
  std::array<double, 3> centre_{}, size_{};
  GridShape shape_;
  CellBox part_{};
  Medium medium_;
  std::map<std::string, FieldUse> uses_;
  std::map<std::string, double> means_;
  std::map<std::string, FieldArray> made_;  ///< of a model on a grid
  std::vector<FieldArray> fields_;
  std::vector<ModelField<double>> model_fields_;
};

}  // namespace thor
