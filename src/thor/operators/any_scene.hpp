#pragma once
#include <cstring>
#include <functional>
#include <vector>

#include "thor/operators/scene.hpp"
#include "thor/transport/any_problem.hpp"

namespace thor {

/// A scene of any dataset as bytes, so that what traces rays is compiled once per precision.
template <class Real>
class AnyScene {
 public:
  template <class D>
  explicit AnyScene(const Scene<D>& scene)
      : kind_(DatasetKindOf<D>::kind),
        mirror_([](void* bytes, const Upload& upload) {
          auto& scene = *static_cast<Scene<D>*>(bytes);
          for_each_array(scene.dataset, upload);
          if constexpr (!IsModel<D>) {
            for (Array<float>& field : scene.fields) {
              field.data = static_cast<const float*>(upload(field.data, field.count * sizeof(float)));
            }
          }
        }),
        storage_((sizeof(scene) + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t)) {
    static_assert(std::is_trivially_copyable_v<Scene<D>> && std::is_same_v<typename D::Real, Real>);
    std::memcpy(storage_.data(), &scene, sizeof(scene));
  }

  DatasetKind kind() const { return kind_; }
  const void* data() const { return storage_.data(); }
  /// Replaces every array that the scene points to, of its dataset and its fields, by a copy; some are empty.
  void mirror(const Upload& upload) { mirror_(storage_.data(), upload); }

 private:
  DatasetKind kind_;
  void (*mirror_)(void*, const Upload&);
  std::vector<std::max_align_t> storage_;
};

}  // namespace thor
