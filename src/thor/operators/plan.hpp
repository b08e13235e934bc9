#pragma once
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "thor/core/target.hpp"

namespace thor {

template <class... Operators>
struct OperatorList {};

template <class Operator, class Plan>
concept HasPlan = std::is_same_v<typename Operator::Plan, Plan>;

/// Room for the plan of any operator.
inline constexpr std::size_t most_plan_bytes = 512;

/// The plan of one operator of a list as bytes: plain data, as the kernels read it. Its size does not depend on the
/// list, so that nothing but kernels is compiled for it.
struct RayPlan {
  int kind = -1;  ///< place of the operator in the list
  alignas(double) std::byte bytes[most_plan_bytes] = {};

  template <class... Operators, class Plan>
  void set(OperatorList<Operators...>, const Plan& plan) {
    static_assert(std::is_trivially_copyable_v<Plan> && sizeof(Plan) <= most_plan_bytes);
    static_assert((HasPlan<Operators, Plan> || ...), "the plan of an operator of the list");
    int at = 0;
    ((kind = HasPlan<Operators, Plan> ? at : kind, ++at), ...);
    std::memcpy(bytes, &plan, sizeof(plan));
  }
  /// Calls use() with the plan that is held.
  template <class... Operators, class Use>
  THOR_FN void visit(OperatorList<Operators...>, const Use& use) const {
    int at = 0;
    (visit_if<Operators>(kind == at++, use), ...);
  }

 private:
  template <class Operator, class Use>
  THOR_FN void visit_if(bool is_held, const Use& use) const {
    if constexpr (requires { typename Operator::Plan; }) {
      if (is_held) use(*reinterpret_cast<const typename Operator::Plan*>(bytes));
    }
  }
};

}  // namespace thor
