#pragma once
#include <string>
#include <vector>

#include "thor/gridding/deposit/gather.hpp"

/// Totals of the snapshot, of the grid and of the part outside it, and whether they agree.
namespace thor::gridding {

struct BudgetLine {
  std::string name, units;
  double input = 0, gridded = 0, cut = 0;
  double difference = 0;  ///< (gridded + cut - input)/input; for momentum relative to the sum of |p|
};

struct Budget {
  std::vector<BudgetLine> lines;
  double worst() const;             ///< the largest difference
  std::string worst_total() const;  ///< its name
  std::string to_text() const;      ///< a table
};

Budget make_budget(const Totals& totals, const std::vector<double>& gridded, const FieldList& fields);

}  // namespace thor::gridding
