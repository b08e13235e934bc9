#pragma once
#include <string>
#include <vector>

#include "thor/gridding/deposit/gather.hpp"

/// What came in, what is in the grid, what was cut off, and whether the three agree.
namespace thor::gridding {

struct BudgetLine {
  std::string name, units;
  double input = 0, gridded = 0, cut = 0;
  double difference = 0;  ///< gridded + cut - input, as a share of the input (momentum: of the sum of |p|)
};

struct Budget {
  std::vector<BudgetLine> lines;
  double worst() const;         ///< the largest difference
  std::string to_text() const;  ///< a table
};

Budget make_budget(const Totals& totals, const std::vector<double>& gridded, const FieldList& fields);

}  // namespace thor::gridding
