#pragma once
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "thor/math/value.hpp"
#ifndef THOR_HAS_FMA
#error "the host side must fuse as the device does: on x86-64 compile it with -mfma"
#endif

/// Runs kernel functions on the device, and on the host for comparison.
namespace test {

/// Tests that need a device are skipped if there is none.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
      GTEST_SKIP() << "SKIPPED: no CUDA device: " << cudaGetErrorString(error);
    } else if (count == 0) {
      GTEST_SKIP() << "SKIPPED: no CUDA device: the driver counts none";
    }
  }
};

inline void check(cudaError_t error, const char* call) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error));
}

/// Device memory for n values of T.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n) : size_(n) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), (n ? n : 1) * sizeof(T)), "cudaMalloc");
  }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) {
    check(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy to the device");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> copy(size_);
    check(cudaMemcpy(copy.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
    return copy;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A few numbers of one type: arguments or results of a function under test.
template <class T, int n>
struct Row {
  T v[n];
  THOR_FN T& operator[](int i) { return v[i]; }
  THOR_FN const T& operator[](int i) const { return v[i]; }
};
template <class T, int n>
std::ostream& operator<<(std::ostream& out, const Row<T, n>& row) {
  std::ostringstream text;  // real numbers to the last bit
  text << std::hexfloat << std::showbase << std::hex;
  for (int i = 0; i < n; ++i) text << (i ? ", " : "(") << row[i];
  return out << text.str() << ")";
}

// ---- f(i) for every i < n -------------------------------------------------------------------------------------------

constexpr unsigned block = 256, blocks = 4096;

THOR_FN std::uint64_t step_of_grid() { return std::uint64_t(blocks) * block; }

template <class Out, class F>
__global__ void evaluate(Out* out, std::uint64_t n, F f) {
  for (std::uint64_t i = std::uint64_t(blockIdx.x) * block + threadIdx.x; i < n; i += step_of_grid()) out[i] = f(i);
}

template <class Out, class F>
std::vector<Out> on_device(std::uint64_t n, F f) {
  const DeviceArray<Out> out(n);
  evaluate<<<blocks, block>>>(out.data(), n, f);
  check(cudaGetLastError(), "kernel launch");
  check(cudaDeviceSynchronize(), "kernel");
  return out.host();
}
template <class Out, class F>
std::vector<Out> on_host(std::uint64_t n, F f) {
  std::vector<Out> out;
  out.reserve(n);
  for (std::uint64_t i = 0; i < n; ++i) out.push_back(f(i));
  return out;
}

/// f(in[i])
template <class In, class F>
struct At {
  const In* in;
  F f;
  THOR_FN auto operator()(std::uint64_t i) const { return f(in[i]); }
};
template <class Out, class In, class F>
std::vector<Out> on_device(const std::vector<In>& in, F f) {
  const DeviceArray<In> copy(in);
  return on_device<Out>(in.size(), At<In, F>{copy.data(), f});
}
template <class Out, class In, class F>
std::vector<Out> on_host(const std::vector<In>& in, F f) {
  return on_host<Out>(in.size(), At<In, F>{in.data(), f});
}

// ---- how many i < n fail --------------------------------------------------------------------------------------------

struct Failures {
  unsigned long long count = 0, last = 0;  ///< number of failures, and the largest i that failed
};

template <class F>
__global__ void count_failures(Failures* failures, std::uint64_t begin, std::uint64_t end, F fails) {
  for (std::uint64_t i = begin + std::uint64_t(blockIdx.x) * block + threadIdx.x; i < end; i += step_of_grid()) {
    if (!fails(i)) continue;
    atomicAdd(&failures->count, 1ull);
    atomicMax(&failures->last, static_cast<unsigned long long>(i));
  }
}

/// For so many i that each launch covers only a part of them.
template <class F>
Failures failures_on_device(std::uint64_t n, F fails) {
  constexpr std::uint64_t launch = 1ull << 30;
  const DeviceArray<Failures> failures(std::vector<Failures>(1));
  for (std::uint64_t begin = 0; begin < n; begin += launch) {
    count_failures<<<blocks, block>>>(failures.data(), begin, std::min(begin + launch, n), fails);
    check(cudaGetLastError(), "kernel launch");
    check(cudaDeviceSynchronize(), "kernel");
  }
  return failures.host()[0];
}

// ---- bit-identical results ------------------------------------------------------------------------------------------

/// Denormal numbers are zero on the device in single precision, and a compiler may choose the sign of a zero.
inline float flushed(float x) { return std::abs(x) < std::numeric_limits<float>::min() ? 0.f : x; }
inline double flushed(double x) { return x == 0 ? 0. : x; }

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return (std::isnan(a) && std::isnan(b)) || thor::to_bits(flushed(a)) == thor::to_bits(flushed(b));
  } else {
    return a == b;
  }
}
template <class T, int n>
bool same(const Row<T, n>& a, const Row<T, n>& b) {
  for (int i = 0; i < n; ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}

/// Checks that every result of the device equals the host's; `name(i)` describes case i.
template <class Out, class Name>
void expect_same(const std::vector<Out>& device, const std::vector<Out>& host, Name name) {
  ASSERT_EQ(device.size(), host.size());
  std::size_t different = 0;
  std::ostringstream first;
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (same(device[i], host[i])) continue;
    if (++different <= 5) first << "\n  " << name(i) << ": device " << device[i] << ", host " << host[i];
  }
  EXPECT_EQ(different, 0u) << "of " << host.size() << " differ from the host's, the first of them" << first.str();
}

/// f on the device against f on the host: for each of the arguments, or for each i < n.
template <class Out, class In, class F>
void expect_same_as_host(const std::vector<In>& in, F f) {
  expect_same(on_device<Out>(in, f), on_host<Out>(in, f), [&](std::size_t i) { return in[i]; });
}
template <class Out, class F>
void expect_same_as_host(std::uint64_t n, F f) {
  expect_same(on_device<Out>(n, f), on_host<Out>(n, f), [](std::size_t i) { return i; });
}

/// Runs a test in single and in double precision.
template <class F>
void in_both_precisions(F part) {
  {
    SCOPED_TRACE("single precision");
    part(float{});
  }
  {
    SCOPED_TRACE("double precision");
    part(double{});
  }
}

}  // namespace test
