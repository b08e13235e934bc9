#pragma once
#include <memory>
#include <stdexcept>
#include <utility>

#include "thor/config/section.hpp"
#include "thor/operators/image_task.hpp"
#include "thor/operators/ray_product.hpp"

namespace thor::config {

/// What the driver asks of an operator: of one that makes images of a camera, or of one that follows sightlines.
class AnyOperator {
 public:
  virtual ~AnyOperator() = default;
  virtual std::unique_ptr<AnyOperator> copy() const = 0;
  virtual const char* type() const = 0;
  virtual const std::string& name() const = 0;

  virtual const std::string* camera() const = 0;  ///< its name; null: the operator makes no images
  virtual bool needs_parallel_rays() const = 0;
  virtual std::vector<std::string> means() const = 0;  ///< fields of which plan() takes the mean
  virtual ImageTask plan(FieldSource& fields) const = 0;

  virtual const Sightlines* sightlines() const = 0;  ///< null: there are none
  virtual std::unique_ptr<RayProduct> product(RayWork& work, std::size_t op) const = 0;
};

template <class T>
class OperatorOf final : public AnyOperator {
 public:
  T keys{};

  std::unique_ptr<AnyOperator> copy() const override { return std::make_unique<OperatorOf>(*this); }
  const char* type() const override { return T::type; }
  const std::string& name() const override { return keys.name; }
  const std::string* camera() const override {
    if constexpr (makes_images) return &keys.camera;
    return nullptr;
  }
  bool needs_parallel_rays() const override {
    return requires { T::needs_parallel_rays; };
  }
  std::vector<std::string> means() const override {
    if constexpr (requires { keys.means(); }) return keys.means();
    return {};
  }
  ImageTask plan([[maybe_unused]] FieldSource& fields) const override {
    if constexpr (makes_images) return keys.plan(fields);
    throw std::logic_error("an operator without a camera makes no image");
  }
  const Sightlines* sightlines() const override {
    if constexpr (!makes_images) return &keys.sightlines;
    return nullptr;
  }
  std::unique_ptr<RayProduct> product([[maybe_unused]] RayWork& work, [[maybe_unused]] std::size_t op) const override {
    if constexpr (!makes_images) return keys.product(work, op);
    throw std::logic_error("an operator with a camera makes an image");
  }

 private:
  static constexpr bool makes_images = requires(T k) { k.camera; };
};

/// One operator of a configuration.
class Operator {
 public:
  Operator() = default;
  explicit Operator(std::unique_ptr<AnyOperator> held) : held_(std::move(held)) {}
  Operator(const Operator& other) : held_(other.held_ ? other.held_->copy() : nullptr) {}
  Operator(Operator&&) = default;
  Operator& operator=(Operator other) {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Operator() = default;

  const AnyOperator* operator->() const { return held_.get(); }
  /// Its keys, if it is of this type; else null.
  template <class T>
  T* get_if() const {
    auto* const held = dynamic_cast<OperatorOf<T>*>(held_.get());
    return held ? &held->keys : nullptr;
  }

 private:
  std::unique_ptr<AnyOperator> held_{};
};

/// The keys of all operators of the list.
const Section<Operator>& operator_section();

}  // namespace thor::config
