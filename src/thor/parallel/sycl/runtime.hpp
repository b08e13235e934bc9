#pragma once
#include <string_view>
#include <sycl/sycl.hpp>

/// SYCL under the names that parallel/gpu/kernel.hpp uses. Errors are exceptions.
namespace thor::sycl {

inline constexpr std::string_view name = "sycl", option = "THOR_SYCL";

struct Status {};
using Stream = ::sycl::queue*;

}  // namespace thor::sycl
