#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "schemes.hpp"

/// Measurements for any backend, which is a class with
///   name, precision                            for the table
///   repeats                                    of a measurement; the shortest time counts
///   set_frequencies(order, x)                  all x, or uniform on [0, x], as they come or sorted
///   set_parameters(a_min, a_max)               a log-uniform, for the core-wing boundary
///   voigt<Scheme, latency, both>(a), velocity<Scheme, loop>(a), core_wing<Scheme, latency>(),
///   generator<Generator, Kind, count>()        one timed piece of work each
/// Every row of the result is backend,precision,quantity,scheme,mode,a,x,value; times are nanoseconds per result.
namespace thor::benchmark {

enum class Order { fixed, random, sorted };
inline const char* name_of(Order order) {
  return order == Order::fixed ? "fixed" : order == Order::random ? "random" : "sorted";
}

inline void row(const std::string& backend, const std::string& precision, const char* quantity, const char* scheme,
                const std::string& mode, double a, double x, double value) {
  std::printf("%s,%s,%s,%s,%s,%.4g,%.4g,%.5g\n", backend.c_str(), precision.c_str(), quantity, scheme, mode.c_str(), a,
              x, value);
}

struct Sample {
  double seconds, calls, results;
};

/// A scheme under measurement: the shortest time of a call, and the calls that a result takes on average.
class Candidate {
 public:
  const char* scheme;
  Candidate(const char* scheme, std::function<Sample()> run) : scheme(scheme), run_(std::move(run)) {}
  void measure() {
    const Sample sample = run_();
    best_ = std::min(best_, sample.seconds / sample.calls);
    seconds_ += sample.seconds, calls_ += sample.calls, results_ += sample.results;
  }
  double nanoseconds() const { return 1e9 * best_ * calls_ / results_; }
  bool is_rare() const { return results_ < 20 && seconds_ < 0.02; }
  bool has_result() const { return results_ > 0; }

 private:
  std::function<Sample()> run_;
  double best_ = 1e30, seconds_ = 0, calls_ = 0, results_ = 0;
};

/// The schemes take turns, so that a slow moment of the machine does not affect only one of them.
template <class Backend>
void measure(const Backend& backend, const char* quantity, const std::string& mode, double a, double x,
             std::vector<Candidate> candidates, int rounds = 1) {
  for (int i = 0; i < rounds * Backend::repeats; ++i) {
    for (auto& c : candidates) c.measure();
  }
  for (auto& c : candidates) {
    while (c.is_rare()) c.measure();
    if (c.has_result()) row(backend.name, backend.precision, quantity, c.scheme, mode, a, x, c.nanoseconds());
  }
}

template <bool latency, bool both, class Backend>
void measure_voigt_at(Backend& backend, Order order, double a, double x) {
  std::vector<Candidate> candidates;
  for_each_voigt([&](const char* name, auto scheme) {
    candidates.emplace_back(name, [&, a] { return backend.template voigt<decltype(scheme), latency, both>(a); });
  });
  const std::string mode =
      std::string(latency ? "latency " : "throughput ") + name_of(order) + (both ? " H+gaussian" : " H");
  measure(backend, "voigt", mode, a, x, std::move(candidates));
}

template <class Backend>
void measure_voigt(Backend& backend) {
  for (const double x : {0., 0.5, 1., 1.5, 2., 3., 4., 5., 6., 8., 10., 14., 16., 20., 27., 40.}) {
    for (const Order order : {Order::fixed, Order::random}) {
      backend.set_frequencies(order, x);
      for (const double a : {1e-8, 1e-4, 1e-3, 1e-2, 1.}) {
        measure_voigt_at<false, false>(backend, order, a, x), measure_voigt_at<false, true>(backend, order, a, x);
        measure_voigt_at<true, false>(backend, order, a, x), measure_voigt_at<true, true>(backend, order, a, x);
      }
    }
  }
}

template <bool loop, class Backend>
void measure_velocity_at(Backend& backend, Order order, double a, double x) {
  std::vector<Candidate> candidates;
  for_each_sampler([&](const char* name, auto scheme) {
    candidates.emplace_back(name, [&, a] { return backend.template velocity<decltype(scheme), loop>(a); });
  });
  measure(backend, "u_parallel", std::string(loop ? "loop " : "step ") + name_of(order), a, x, std::move(candidates));
}

template <bool loops, class Backend>
void measure_velocity(Backend& backend, const std::vector<Order>& orders) {
  for (double x = 0; x <= 10; x += 0.5) {
    for (const Order order : orders) {
      backend.set_frequencies(order, order == Order::fixed ? x : 2 * x);
      for (const double a : {1e-2, 1e-3, 1e-4}) {
        measure_velocity_at<false>(backend, order, a, x);
        if constexpr (loops) measure_velocity_at<true>(backend, order, a, x);
      }
    }
  }
}

/// Lya from 1e7 K to 1 K.
template <class Backend>
void measure_core_wing(Backend& backend) {
  backend.set_parameters(1.5e-5, 4.7e-2);
  std::vector<Candidate> throughput, latency;
  for_each_core_wing([&](const char* name, auto scheme) {
    throughput.emplace_back(name, [&] { return backend.template core_wing<decltype(scheme), false>(); });
    latency.emplace_back(name, [&] { return backend.template core_wing<decltype(scheme), true>(); });
  });
  measure(backend, "core_wing", "throughput", 0, 0, std::move(throughput), 6);
  measure(backend, "core_wing", "latency", 0, 0, std::move(latency), 6);
}

/// Column x: number per call.
template <class Backend>
void measure_generators(Backend& backend) {
  std::vector<Candidate> eight, ten, fixed, unbiased;
  for_each_generator([&](const char* name, auto scheme) {
    using Generator = decltype(scheme);
    eight.emplace_back(name, [&] { return backend.template generator<Generator, PlainWords, 8>(); });
    ten.emplace_back(name, [&] { return backend.template generator<Generator, PlainWords, 10>(); });
    fixed.emplace_back(name, [&] { return backend.template generator<Generator, FixedUniforms, 8>(); });
    unbiased.emplace_back(name, [&] { return backend.template generator<Generator, UnbiasedUniforms, 8>(); });
  });
  measure(backend, "generator", "words", 0, 8, std::move(eight), 6);
  measure(backend, "generator", "words", 0, 10, std::move(ten), 6);
  measure(backend, "generator", "fixed uniform", 0, 8, std::move(fixed), 6);
  measure(backend, "generator", "unbiased uniform", 0, 8, std::move(unbiased), 6);
}

/// loops: also the paper's shape of a sampler, a loop until a proposal is accepted.
template <bool loops, class Backend>
void measure_all(Backend&& backend, const std::vector<Order>& orders) {
  measure_voigt(backend);
  measure_velocity<loops>(backend, orders);
  measure_core_wing(backend);
  measure_generators(backend);
}

/// Uniform numbers for arguments.
inline std::vector<double> random_numbers(std::size_t n) {
  Xoshiro128<double> random = xoshiro<double>(stream_key(1, 1));
  std::vector<double> r(n);
  for (double& v : r) v = uniform_positive<double>(random.next());
  return r;
}

}  // namespace thor::benchmark
