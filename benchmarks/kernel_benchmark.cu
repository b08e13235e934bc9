// The step alone on a GPU, without engine, tally or tail: rate and latency against the number of lanes, and the effect
// of sorting lanes by |x| between launches.
//   kernel_benchmark
#include <thrust/execution_policy.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "thor/transport/history.hpp"
#include "thor/transport/problems.hpp"
#include "thor/transport/step.hpp"

namespace thor {
namespace {

constexpr int block = 128;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "kernel_benchmark: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

class Timer {
 public:
  Timer() { check(cudaEventCreate(&start_)), check(cudaEventCreate(&end_)), check(cudaEventRecord(start_)); }
  double milliseconds() {
    float time = 0;
    check(cudaEventRecord(end_)), check(cudaEventSynchronize(end_)), check(cudaEventElapsedTime(&time, start_, end_));
    return time;
  }

 private:
  cudaEvent_t start_, end_;
};

/// A photon in the centre at line centre.
template <class Real>
__device__ auto start(const LineProblem<Sphere<Real>>& problem, std::uint64_t id) {
  Source<Real> source{};
  source.shape = BirthPlace::point, source.spectrum = SourceSpectrum::delta, source.light_speed = Real(1e4);
  source.weight = source.escape_fraction = 1;
  Origin origin;
  return start_photon(problem.dataset, problem.numerics, EmitterView<Real>{1, &source, 1}, id, origin);
}

/// T = 2e4 K.
template <class Real>
LineProblem<Sphere<Real>> sphere(double tau0, double x_crit) {
  const double a = 3.32e-4;
  ResonantLine<Real> line{};
  line.a = Real(a), line.inv_a = Real(1 / a), line.log_envelope = Real(std::log1p(4.4 * 4.4 / (a * a)));
  line.core = dipole_mixture<Real>(1. / 12), line.wing = dipole_mixture<Real>(1. / 4);
  return {{Real(tau0)}, line, {}, {false, Real(x_crit), 0}, {}, {2000000000, 2000000000}, {}};
}

/// `width` lanes per warp; a lane whose photon ends takes the next one.
template <class Real>
__global__ void __launch_bounds__(block, sizeof(Real) == 4 ? 8 : 4)
    run(const __grid_constant__ LineProblem<Sphere<Real>> problem, int steps, int width,
        unsigned long long* scatterings, unsigned long long* next) {
  if (int(threadIdx.x % 32) >= width) return;
  auto lane = start(problem, blockIdx.x * block + threadIdx.x);
  unsigned long long count = 0;
  for (int i = 0; i < steps; ++i) {
    if (step(lane, problem)) count += lane.scatterings, lane = start(problem, atomicAdd(next, 1ull));
  }
  atomicAdd(scatterings, count + lane.scatterings);
}

template <class Real>
void rate_and_latency(const char* precision) {
  const auto problem = sphere<Real>(1e5, 0);
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0));
  unsigned long long *counters, scatterings;
  check(cudaMalloc(&counters, 16));
  const int processors = device.multiProcessorCount;
  for (const auto& [blocks, width, steps] : {std::array{32 * processors, 32, 2000},
                                             {8 * processors, 32, 4000},
                                             {4 * processors, 32, 4000},
                                             {2 * processors, 32, 8000},
                                             {processors, 32, 8000},
                                             {processors, 1, 20000},
                                             {1, 1, 20000}}) {
    double best = 1e30;
    for (int repeat = 0; repeat < 2; ++repeat) {
      const unsigned long long zero[] = {0, 10000000};
      check(cudaMemcpy(counters, zero, 16, cudaMemcpyHostToDevice));
      Timer timer;
      run<<<blocks, block>>>(problem, steps, width, counters, counters + 1);
      best = std::min(best, timer.milliseconds());
      check(cudaMemcpy(&scatterings, counters, 8, cudaMemcpyDeviceToHost));
    }
    std::printf("%s  %5d blocks of %d, %2d lanes a warp: %.3g scatterings/s, %.0f ns a step\n", precision, blocks,
                block, width, double(scatterings) / (1e-3 * best), 1e6 * best / steps);
  }
  check(cudaFree(counters));
}

__global__ void fill(LaneArrays<float> lanes, const __grid_constant__ LineProblem<Sphere<float>> problem) {
  const std::uint32_t i = blockIdx.x * block + threadIdx.x;
  store_lane(start(problem, i), lanes, i);
}

__global__ void __launch_bounds__(block, 8)
    advance(LaneArrays<float> lanes, const __grid_constant__ LineProblem<Sphere<float>> problem,
            const std::uint32_t* order, int steps, float* key) {
  const std::uint32_t i = blockIdx.x * block + threadIdx.x;
  auto lane = load_lane<float, Region<float, std::int32_t>>(lanes, order[i]);
  for (int k = 0; k < steps; ++k) {
    if (step(lane, problem)) lane = start(problem, lane.s0);
  }
  store_lane(lane, lanes, order[i]);
  key[i] = abs(lane.frequency);
}

void sorting(double tau0, double x_crit) {
  constexpr int count = 1 << 20, blocks = count / block;
  const auto problem = sphere<float>(tau0, x_crit);
  void* memory;
  std::uint32_t* order;
  float* key;
  check(cudaMalloc(&memory, lane_bytes<float>(count)));
  check(cudaMalloc(&order, count * sizeof(*order))), check(cudaMalloc(&key, count * sizeof(*key)));
  const auto lanes = lane_arrays<float>(memory, count);
  for (const int steps : {1, 4, 16, 64, 256}) {
    double kernel[2] = {0, 0}, sort = 0;
    for (const int sorted : {0, 1}) {
      fill<<<blocks, block>>>(lanes, problem);
      thrust::sequence(thrust::device, order, order + count);
      advance<<<blocks, block>>>(lanes, problem, order, 2000, key);
      const int rounds = steps < 16 ? 40 : 12;
      for (int round = 0; round < rounds; ++round) {
        check(cudaDeviceSynchronize());
        Timer sort_timer;
        if (sorted) thrust::sort_by_key(thrust::device, key, key + count, order);
        if (sorted) sort += sort_timer.milliseconds() / rounds;
        Timer timer;
        advance<<<blocks, block>>>(lanes, problem, order, steps, key);
        kernel[sorted] += timer.milliseconds() / rounds;
      }
    }
    std::printf("sorting, tau0 = %g, x_crit = %g, %3d steps a launch: %.3f ms, sorted %.3f, the sort %.3f: %.2f\n",
                tau0, x_crit, steps, kernel[0], kernel[1], sort, kernel[0] / (kernel[1] + sort));
  }
  check(cudaFree(memory)), check(cudaFree(order)), check(cudaFree(key));
}

}  // namespace
}  // namespace thor

int main() {
  thor::rate_and_latency<float>("single");
  thor::rate_and_latency<double>("double");
  thor::sorting(1e5, 0);
  thor::sorting(1e7, 2.98);
}
