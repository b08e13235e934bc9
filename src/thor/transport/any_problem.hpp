#pragma once
#include <cstddef>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "thor/datasets/fields.hpp"
#include "thor/transport/problems.hpp"

namespace thor {

/// Gives a device its own copy of `bytes` bytes at `data`, and returns where they are.
using Upload = std::function<const void*(const void* data, std::size_t bytes)>;

template <class D, class N>
inline constexpr HistoryKind history_kind_of{DatasetKindOf<D>::kind, std::is_same_v<N, SelectedNumerics>};

/// A problem of any kind as bytes, so that engines are compiled once per precision and not once per problem.
template <class Real>
class AnyProblem {
 public:
  template <class D, class I, class N>
  explicit AnyProblem(const Problem<D, I, N>& problem)
      : kind_(kind_of<Problem<D, I, N>>),
        history_(history_kind_of<D, N>),
        numerics_(std::size_t(reinterpret_cast<const std::byte*>(&problem.numerics) -
                              reinterpret_cast<const std::byte*>(&problem))),
        mirror_([](void* bytes, const Upload& upload) {
          auto& problem = *static_cast<Problem<D, I, N>*>(bytes);
          for_each_array(problem.dataset, upload);
          for_each_array(problem.jumps, upload);
        }),
        storage_((sizeof(problem) + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t)) {
    static_assert(std::is_trivially_copyable_v<Problem<D, I, N>> && has_kernel<Problem<D, I, N>>);
    std::memcpy(storage_.data(), &problem, sizeof(problem));
  }

  ProblemKind kind() const { return kind_; }
  HistoryKind history() const { return history_; }
  const void* data() const { return storage_.data(); }
  const void* dataset() const { return storage_.data(); }  ///< the first member
  const void* numerics() const { return reinterpret_cast<const std::byte*>(storage_.data()) + numerics_; }

  /// Replaces every array that the problem points to by a copy.
  void mirror(const Upload& upload) { mirror_(storage_.data(), upload); }

 private:
  ProblemKind kind_;
  HistoryKind history_;
  std::size_t numerics_;
  void (*mirror_)(void*, const Upload&);
  std::vector<std::max_align_t> storage_;
};

}  // namespace thor
