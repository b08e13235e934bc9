#pragma once
#include <memory>
#include <vector>

#include "thor/datasets/parameters.hpp"
#include "thor/line/line.hpp"
#include "thor/operators/any_scene.hpp"
#include "thor/operators/fields.hpp"

namespace thor {

/// The ion of a line as fields spell it, "HI".
std::string ion_of(const Line& line);

/// How the values of a product are distributed over the cells of a grid, in its units. Between `low` and `high` is what
/// a picture should show of it.
struct ValueRange {
  double least, least_positive, largest, low, high;
};

/// The gas that the rays of a run go through, all of it or a part. Fields are read or made when they are first used,
/// and stay in memory. What is used, in which units and how it becomes numbers of a kernel is up to the source of the
/// fields: a file, a model with cells, a model without.
class RayScene : public FieldSource {
 public:
  /// One part of a grid, without fields; the others may be held by other processes. Null: it cannot be cut.
  virtual std::unique_ptr<RayScene> part(const CellBox&) const { return nullptr; }
  virtual void forget() = 0;  ///< all fields that were used

  std::vector<std::string> names() const;  ///< of fields; components of a velocity follow from its name
  /// Units of one of the names(), which is not read for that.
  virtual std::string units_of(const std::string& field) const = 0;
  virtual ValueRange range_of(const std::string& product) = 0;
  /// Sum over the cells of this part, divided by all cells.
  virtual double mean_of(const std::string& product) = 0;
  /// Of all parts, for over_mean(); else it is that of this part.
  virtual void set_mean(const std::string& product, double mean) = 0;

  virtual int fields_in_use() const = 0;  ///< of most_fields
  virtual double bytes() const = 0;       ///< of all fields
  /// Whether the cells can be counted in single precision.
  virtual bool has_single_places() const = 0;
  virtual AnyScene<float> single_scene() const = 0;
  virtual AnyScene<double> double_scene() const = 0;

 protected:
  virtual std::vector<std::string> own_names() const = 0;
};

/// The gas of a configuration: reads the header of a grid; a model is built as its `line` sees it.
std::unique_ptr<RayScene> open_scene(const config::Dataset& dataset, const Line& line, int threads);

}  // namespace thor
