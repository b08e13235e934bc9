// Like scheme_benchmark.cpp, on a fully occupied GPU: rows of CSV, see scheme_driver.hpp.
//   scheme_benchmark_cuda > gpu.csv
#include <cstdlib>

#include "scheme_driver.hpp"

namespace thor::benchmark {
namespace {

constexpr int block = 128;
constexpr int turns = 128;         // evaluations per thread
constexpr int entries = 4;         // frequencies per thread, in a list that all traverse
constexpr int steps = 256;         // of u_parallel per thread, one proposal each
constexpr int draws = 32;          // of u_parallel per thread, each a loop of proposals
constexpr int most = 1024;         // proposals per thread in loops; it then skips the rest of its draws
constexpr int blocks_a_unit = 64;  // blocks per multiprocessor

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "scheme_benchmark: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// `turns` evaluations of f at the thread's value. latency: the next waits for the last, through value + 0 result.
/// Otherwise the value grows by a zero that only the host knows: an empty asm would not suffice, since the assembler
/// does not see it and moves a branch-free evaluation out of the loop.
template <bool latency, class Real, class F>
__device__ void evaluate(const Real* values, Real zero, Real* sink, F f) {
  const unsigned thread = blockIdx.x * block + threadIdx.x;
  const Real value = values[thread];
  Real sum = 0, result = 0, x = value;
#pragma unroll 4
  for (int i = 0; i < turns; ++i) {
    x = latency ? fma(zero, result, value) : x + zero;
    result = f(x, sum), sum = sum + result;
  }
  sink[thread] = sum;
}

template <class Scheme, bool latency, bool both, class Real>
__global__ void __launch_bounds__(block) voigt_kernel(Real a, const Real* x, Real zero, Real* sink) {
  evaluate<latency>(x, zero, sink, [a](Real xi, Real& sum) {
    const auto profile = Scheme::eval(a, xi);
    if constexpr (both) sum = sum + profile.gaussian;
    return profile.H;
  });
}

template <class Scheme, bool latency, class Real>
__global__ void __launch_bounds__(block) core_wing_kernel(const Real* a, Real zero, Real* sink) {
  evaluate<latency>(a, zero, sink, [](Real ai, Real&) { return Scheme::eval(ai); });
}

/// step: one proposal per turn, and a thread whose proposal is accepted continues with the next x. loop: until
/// accepted, so that the threads of a warp wait for each other at the end of every draw. The next x is 32 entries
/// further in the list: in a sorted list neighbours are in the same warp.
template <class Scheme, bool loop, class Real>
__global__ void __launch_bounds__(block) velocity_kernel(Real a, const Real* x, const Real* gaussian, unsigned length,
                                                         unsigned long long* counters, Real* sink) {
  __shared__ unsigned count[2];
  const unsigned thread = blockIdx.x * block + threadIdx.x;
  if (threadIdx.x < 2) count[threadIdx.x] = 0;
  __syncthreads();
  unsigned i = thread / 32 * 32 * entries + thread % 32;
  const auto sampler = Scheme::template On<Real>::make(a);
  Xoshiro128<Real> random = xoshiro<Real>(stream_key(2, thread));
  int done = 0, proposals = 0;
  Real sum = 0, xi = x[i], gaussian_i = gaussian[i];
  const auto accept = [&](Real u) {
    sum = sum + u, ++done;
    i = i + 32 < length ? i + 32 : thread % 32;
    xi = x[i], gaussian_i = gaussian[i];
  };
  if constexpr (loop) {
    while (done < draws && proposals < most) {
      auto proposal = propose<Real>(sampler, xi, gaussian_i, random);
      for (++proposals; !proposal.accepted && proposals < most; ++proposals) {
        proposal = propose<Real>(sampler, xi, gaussian_i, random);
      }
      if (proposal.accepted) accept(proposal.u);
    }
  } else {
    for (; proposals < steps; ++proposals) {
      const auto proposal = propose<Real>(sampler, xi, gaussian_i, random);
      if (proposal.accepted) accept(proposal.u);
    }
  }
  sink[thread] = sum;
  atomicAdd(&count[0], proposals), atomicAdd(&count[1], done);  // all threads on one address would take longest
  __syncthreads();
  if (threadIdx.x < 2) atomicAdd(&counters[threadIdx.x], count[threadIdx.x]);
}

template <class Generator, class Kind, int count, class Real>
__global__ void __launch_bounds__(block) generator_kernel(Real* sink) {
  const unsigned thread = blockIdx.x * block + threadIdx.x;
  StreamKey key = stream_key(2, thread);
  std::uint32_t *s = key.word, s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3];
  auto sum = draw<Real, Generator, Kind, count>(s0, s1, s2, s3);
#pragma unroll 1
  for (int i = 1; i < turns; ++i) sum = sum + draw<Real, Generator, Kind, count>(s0, s1, s2, s3);
  sink[thread] = Real(sum);
}

template <class Real>
class Gpu {
 public:
  static constexpr int repeats = 3;
  const std::string name = "gpu", precision = sizeof(Real) == 4 ? "single" : "double";

  Gpu() {
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0));
    blocks_ = blocks_a_unit * device.multiProcessorCount;
    random_ = random_numbers(threads() * entries);
    sorted_ = random_;
    std::sort(sorted_.begin(), sorted_.end());
    check(cudaMalloc(&values_, random_.size() * sizeof(Real))), check(cudaMalloc(&sink_, threads() * sizeof(Real)));
    check(cudaMalloc(&gaussian_, random_.size() * sizeof(Real)));
    check(cudaMalloc(&counters_, 16)), check(cudaEventCreate(&start_)), check(cudaEventCreate(&end_));
    row(name, precision, "width", "", "", 0, 0, double(threads()));
  }
  ~Gpu() {
    cudaFree(values_), cudaFree(gaussian_), cudaFree(sink_), cudaFree(counters_);
    cudaEventDestroy(start_), cudaEventDestroy(end_);
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  void set_frequencies(Order order, double x) {
    const auto& numbers = order == Order::sorted ? sorted_ : random_;
    const auto frequency = [=](double r) { return order == Order::fixed ? x : x * r; };
    fill(values_, numbers, frequency);
    fill(gaussian_, numbers, [=](double r) { return exp_bounded(Real(-frequency(r) * frequency(r))); });
  }
  void set_parameters(double a_min, double a_max) {
    fill(values_, random_, [=](double r) { return a_min * std::pow(a_max / a_min, r); });
  }

  template <class Scheme, bool latency, bool both>
  Sample voigt(double a) {
    return all_turns(
        [&] { voigt_kernel<Scheme, latency, both><<<blocks_, block>>>(Real(a), values_, Real(0), sink_); });
  }
  template <class Scheme, bool latency>
  Sample core_wing() {
    return all_turns([&] { core_wing_kernel<Scheme, latency><<<blocks_, block>>>(values_, Real(0), sink_); });
  }
  template <class Generator, class Kind, int count>
  Sample generator() {
    Sample sample = all_turns([&] { generator_kernel<Generator, Kind, count><<<blocks_, block>>>(sink_); });
    return sample.calls *= count, sample.results *= count, sample;
  }
  template <class Scheme, bool loop>
  Sample velocity(double a) {
    check(cudaMemset(counters_, 0, 16));
    const double time = seconds([&] {
      velocity_kernel<Scheme, loop>
          <<<blocks_, block>>>(Real(a), values_, gaussian_, unsigned(random_.size()), counters_, sink_);
    });
    unsigned long long count[2];
    check(cudaMemcpy(count, counters_, 16, cudaMemcpyDeviceToHost));
    return {time, double(count[0]), double(count[1])};
  }

 private:
  int blocks_;
  std::vector<double> random_, sorted_;
  Real *values_, *gaussian_, *sink_;
  unsigned long long* counters_;
  cudaEvent_t start_, end_;

  std::size_t threads() const { return std::size_t(blocks_) * block; }

  template <class F>
  static void fill(Real* to, const std::vector<double>& numbers, F f) {
    std::vector<Real> values(numbers.size());
    std::transform(numbers.begin(), numbers.end(), values.begin(), [&](double r) { return Real(f(r)); });
    check(cudaMemcpy(to, values.data(), values.size() * sizeof(Real), cudaMemcpyHostToDevice));
  }

  template <class F>
  double seconds(F launch) {
    float milliseconds = 0;
    check(cudaEventRecord(start_)), launch(), check(cudaGetLastError());
    check(cudaEventRecord(end_)), check(cudaEventSynchronize(end_));
    check(cudaEventElapsedTime(&milliseconds, start_, end_));
    return 1e-3 * milliseconds;
  }
  template <class F>
  Sample all_turns(F launch) {
    const double count = double(threads()) * turns;
    return {seconds(launch), count, count};
  }
};

}  // namespace
}  // namespace thor::benchmark

int main() {
  using namespace thor::benchmark;
  std::puts("backend,precision,quantity,scheme,mode,a,x,value");
  const std::vector<Order> orders{Order::fixed, Order::random, Order::sorted};
  measure_all<true>(Gpu<float>{}, orders), measure_all<true>(Gpu<double>{}, orders);
}
