# Reads transport/problems.list into THOR_PROBLEMS ("LineProblem/Sphere" ...), THOR_DATASETS and THOR_HEADER_<dataset>, and
# generates
#   thor/transport/problem_kind.hpp   DatasetKind, ProblemKind: all that a kernel knows of the others
#   thor/datasets/any_dataset.hpp     AnyDataset, a variant of all datasets, and the kind of each
#   thor/transport/problems.hpp       all datasets and kind_of<Problem>
set(thor_problem_list ${PROJECT_SOURCE_DIR}/src/thor/transport/problems.list)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${thor_problem_list})
set(THOR_GENERATED ${PROJECT_BINARY_DIR}/generated/include)

set(THOR_PROBLEMS)
set(THOR_DATASETS)
set(thor_includes)
set(thor_dataset_kinds)
set(thor_problem_kinds)
set(thor_variants)
set(thor_selected_cases)
file(STRINGS ${thor_problem_list} thor_lines REGEX "^[^#]")
foreach(line IN LISTS thor_lines)
  string(REGEX REPLACE " +" ";" words "${line}")
  list(POP_FRONT words dataset header)
  list(APPEND THOR_DATASETS ${dataset})
  set(THOR_HEADER_${dataset} ${header})
  list(APPEND thor_variants "${dataset}<double>")
  string(APPEND thor_includes "#include \"${header}\"\n")
  string(APPEND thor_dataset_kinds "template <class Real>\nstruct DatasetKindOf<${dataset}<Real>> {\n"
                                   "  static constexpr DatasetKind kind = DatasetKind::${dataset};\n};\n")
  foreach(problem IN LISTS words)
    list(APPEND THOR_PROBLEMS ${problem}/${dataset})
    if(problem STREQUAL "SelectedProblem")
      string(APPEND thor_selected_cases "    case ProblemKind::${problem}_${dataset}:\n")
    endif()
    foreach(real float double)
      string(APPEND thor_problem_kinds
             "template <>\ninline constexpr ProblemKind kind_of<${problem}<${dataset}<${real}>>> = "
             "ProblemKind::${problem}_${dataset};\n")
    endforeach()
  endforeach()
endforeach()

string(REPLACE ";" ", " thor_variants "${thor_variants}")
string(REPLACE ";" ", " thor_datasets "${THOR_DATASETS}")
string(REPLACE "/" "_" thor_problems "${THOR_PROBLEMS}")
string(REPLACE ";" ", " thor_problems "${thor_problems}")
set(thor_notice "#pragma once\n// Generated from transport/problems.list.\n")
file(CONFIGURE OUTPUT ${THOR_GENERATED}/thor/transport/problem_kind.hpp @ONLY CONTENT [[@thor_notice@
namespace thor {

enum class DatasetKind : int { @thor_datasets@ };
enum class ProblemKind : int { @thor_problems@, none };

/// A problem of chosen numerics.
constexpr bool is_selected(ProblemKind kind) {
  switch (kind) {
@thor_selected_cases@      return true;
    default:
      return false;
  }
}

/// What the birth and the end of a photon depend on.
struct HistoryKind {
  DatasetKind dataset;
  bool selected;  ///< SelectedNumerics
  bool operator==(const HistoryKind&) const = default;
};

}  // namespace thor
]])
file(CONFIGURE OUTPUT ${THOR_GENERATED}/thor/datasets/any_dataset.hpp @ONLY CONTENT [[@thor_notice@#include <variant>

@thor_includes@
namespace thor {

using AnyDataset = std::variant<@thor_variants@>;

}  // namespace thor
]])
file(CONFIGURE OUTPUT ${THOR_GENERATED}/thor/transport/problems.hpp @ONLY CONTENT [[@thor_notice@#include "thor/datasets/any_dataset.hpp"
#include "thor/transport/problem.hpp"
#include "thor/transport/problem_kind.hpp"

namespace thor {

template <class P>
inline constexpr ProblemKind kind_of = ProblemKind::none;
@thor_problem_kinds@
template <class P>
inline constexpr bool has_kernel = kind_of<P> != ProblemKind::none;

template <class D>
struct DatasetKindOf;
@thor_dataset_kinds@
}  // namespace thor
]])

# The table of dataset types, from datasets/types.list.
set(thor_type_list ${PROJECT_SOURCE_DIR}/src/thor/datasets/types.list)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${thor_type_list})
file(STRINGS ${thor_type_list} thor_types REGEX "^[^#]")
set(thor_type_entries)
set(thor_type_names)
foreach(type IN LISTS thor_types)
  string(APPEND thor_type_entries "extern const DatasetType ${type}_type;\n")
  list(APPEND thor_type_names "&${type}_type")
endforeach()
string(REPLACE ";" ", " thor_type_names "${thor_type_names}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/dataset_types.cpp @ONLY CONTENT [[// Generated from datasets/types.list.
#include "thor/datasets/dataset_type.hpp"

namespace thor {

@thor_type_entries@
std::span<const DatasetType* const> dataset_types() {
  static constexpr const DatasetType* list[] = {@thor_type_names@};
  return list;
}

}  // namespace thor
]])
