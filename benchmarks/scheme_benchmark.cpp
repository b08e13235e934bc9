// Time and number of calls of the schemes for the Voigt profile, u_parallel, the core-wing boundary and random numbers,
// on one core, one lane and as many as the instruction set has: rows of CSV, see scheme_driver.hpp.
//   scheme_benchmark > cpu.csv
#include <chrono>
#include <map>
#include <typeindex>

#include "scheme_driver.hpp"

namespace thor::benchmark {
namespace {

/// One lane stays one lane: the compiler must not vectorise the iterations.
THOR_FN float opaque(float x) {
#if defined(__aarch64__)
  asm volatile("" : "+w"(x));
#else
  asm volatile("" : "+x"(x));
#endif
  return x;
}
THOR_FN double opaque(double x) {
#if defined(__aarch64__)
  asm volatile("" : "+w"(x));
#else
  asm volatile("" : "+x"(x));
#endif
  return x;
}
template <class T, class Abi>
THOR_FN Pack<T, Abi> opaque(Pack<T, Abi> x) {
  return x;
}

template <class T>
requires std::is_arithmetic_v<T> T total(T x) { return x; }
template <class T, class Abi>
T total(Pack<T, Abi> x) {
  return stdx::reduce(x.v);
}

template <class F>
double seconds(F f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Lanes that sample u_parallel, kept between calls: a long draw continues in the next call.
template <class V>
struct Lanes {
  WordOf<V> s0, s1, s2, s3;
  V x, gaussian;
};

template <class V>
class Cpu {
  using Real = RealOf<V>;
  using Word = WordOf<V>;
  static constexpr int width = Value<V>::lanes;
  static constexpr int window = 8192,
                       windows = 8;  // a new window in every call, so that branch predictors cannot learn it

 public:
  static constexpr int repeats = 5;
  const std::string name = width == 1 ? "one lane" : "lanes", precision = sizeof(Real) == 4 ? "single" : "double";

  Cpu() : random_(random_numbers(window * windows)), x_(window * windows), gaussian_(x_), a_(x_) {
    std::uint32_t words[4][width];
    for (int i = 0; i < width; ++i) {
      const StreamKey key = stream_key(2, i);
      for (int k = 0; k < 4; ++k) words[k][i] = key.word[k];
    }
    state_ = {load<Word>(words[0]), load<Word>(words[1]), load<Word>(words[2]), load<Word>(words[3]), {}, {}};
    row(name, precision, "width", "", "", 0, 0, width);
  }

  void set_frequencies(Order order, double x) {
    for (int i = 0; i < window * windows; ++i) {
      const double xi = order == Order::fixed ? x : x * random_[i];
      x_[i] = Real(xi), gaussian_[i] = exp_bounded(Real(-xi * xi));
    }
    state_.x = load<V>(x_.data()), state_.gaussian = load<V>(gaussian_.data());
    lanes_.clear();
  }
  void set_parameters(double a_min, double a_max) {
    for (int i = 0; i < window * windows; ++i) a_[i] = Real(a_min * std::pow(a_max / a_min, random_[i]));
  }

  /// throughput: H of one x after another. latency: the next x waits for the last H, through x + 0 H; the paper's
  /// comparison would be predicted by the branch predictor.
  template <class Scheme, bool latency, bool both>
  Sample voigt(double a) {
    return over(x_, [a = Real(a), zero = Real(zero_)](const Real* x) {
      V sum(Real(0)), H(Real(0)), gaussian(Real(0));
      for (int i = 0; i < window; i += width) {
        V xi = opaque(load<V>(x + i));
        if constexpr (latency) xi = fma(V(zero), H, xi);
        const auto profile = Scheme::eval(V(a), xi);
        H = profile.H, sum = sum + H;
        if constexpr (both) gaussian = gaussian + profile.gaussian;
      }
      return total(sum) + total(gaussian);
    });
  }

  template <class Scheme, bool latency>
  Sample core_wing() {
    return over(a_, [zero = Real(zero_)](const Real* a) {
      V sum(Real(0)), result(Real(0));
      for (int i = 0; i < window; i += width) {
        V ai = opaque(load<V>(a + i));
        if constexpr (latency) ai = fma(V(zero), result, ai);
        result = Scheme::eval(ai), sum = sum + result;
      }
      return total(sum);
    });
  }

  /// step: one proposal per turn, and a lane whose proposal is accepted continues with the next x. loop: until
  /// accepted.
  template <class Scheme, bool loop>
  Sample velocity(double a) {
    static_assert(!loop || width == 1);
    using Sampler = typename Scheme::template On<V>;
    next_window();
    Lanes<V>& lanes = lanes_.try_emplace({typeid(Scheme), a, loop}, state_).first->second;
    const auto sampler = Sampler::make(V(Real(a)));
    double accepted = 0;
    const double time = seconds([&] {
      if constexpr (loop) {
        accepted = draw_in_loops(sampler, lanes);
      } else {
        accepted = draw_in_steps(sampler, lanes);
      }
    });
    return {time, window, accepted};
  }

  template <class Generator, class Kind, int count>
  Sample generator() {
    constexpr int turns = 1000;
    Lanes<V> s = state_;
    const double time = seconds([&] {
      auto sum = draw<V, Generator, Kind, count>(s.s0, s.s1, s.s2, s.s3);
      for (int i = 1; i < turns; ++i) sum = sum + draw<V, Generator, Kind, count>(s.s0, s.s1, s.s2, s.s3);
      sink_ = sink_ + double(total(sum));
    });
    return {time, double(turns) * count * width, double(turns) * count * width};
  }

 private:
  using Key = std::tuple<std::type_index, double, bool>;
  std::vector<double> random_;
  std::vector<Real> x_, gaussian_, a_;
  Lanes<V> state_;
  std::map<Key, Lanes<V>> lanes_;
  int offset_ = 0;
  volatile double zero_ = 0, sink_ = 0;

  void next_window() { offset_ = (offset_ + window) % (window * windows); }

  template <class F>
  Sample over(const std::vector<Real>& values, F f) {
    next_window();
    const Real* begin = values.data() + offset_;
    Real sum;
    const double time = seconds([&] { sum = f(begin); });
    sink_ = sink_ + double(sum);
    return {time, window, window};
  }

  template <class Sampler>
  __attribute__((noinline)) double draw_in_steps(const Sampler& sampler, Lanes<V>& lanes) {
    using Int = IntOf<V>;
    Xoshiro128<V> random{lanes.s0, lanes.s1, lanes.s2, lanes.s3};
    V x = lanes.x, gaussian = lanes.gaussian, sum(Real(0));
    Int count(0);
    const Real *next_x = x_.data() + offset_, *next_gaussian = gaussian_.data() + offset_;
    for (int i = 0; i < window; i += width) {
      const auto proposal = propose<V>(sampler, opaque(x), gaussian, random);
      sum = sum + select(proposal.accepted, proposal.u, V(Real(0)));
      count = count + select(proposal.accepted, Int(1), Int(0));
      x = select(proposal.accepted, load<V>(next_x + i), x);
      gaussian = select(proposal.accepted, load<V>(next_gaussian + i), gaussian);
    }
    lanes = {random.s0, random.s1, random.s2, random.s3, x, gaussian};
    sink_ = sink_ + double(total(sum));
    return double(total(count));
  }

  template <class Sampler>
  __attribute__((noinline)) double draw_in_loops(const Sampler& sampler, Lanes<V>& lanes) {
    Xoshiro128<V> random{lanes.s0, lanes.s1, lanes.s2, lanes.s3};
    V x = lanes.x, gaussian = lanes.gaussian, sum(Real(0));
    int count = 0, proposals = 0;
    while (proposals < window) {
      auto proposal = propose<V>(sampler, opaque(x), gaussian, random);
      for (++proposals; !proposal.accepted && proposals < window; ++proposals) {
        proposal = propose<V>(sampler, x, gaussian, random);
      }
      if (!proposal.accepted) break;
      sum = sum + proposal.u;
      x = x_[offset_ + count], gaussian = gaussian_[offset_ + count], ++count;
    }
    lanes = {random.s0, random.s1, random.s2, random.s3, x, gaussian};
    sink_ = sink_ + double(total(sum));
    return count;
  }
};

/// Number of proposals per draw at a = 1e-3: the mean, the mean of the largest of 32, and the fraction of each number
/// (large ones in bins of 1/8 of a power of two; the smallest number of the bin is in column a).
void count_proposals() {
  constexpr int draws = 32 * 1024, most = 10000000;
  constexpr float a = 1e-3f;
  for (int k = 0; k <= 40; ++k) {
    const float x = 0.25f * float(k), gaussian = exp(-x * x);
    for_each_sampler([&](const char* name, auto scheme) {
      const auto sampler = decltype(scheme)::template On<float>::make(a);
      Xoshiro128<float> random = xoshiro<float>(stream_key(3, k));
      std::map<int, int> histogram;
      double proposals = 0, largest = 0;
      int done = 0, group = 0;
      while (done < draws && proposals < most) {
        int count = 1;
        while (!propose<float>(sampler, x, gaussian, random).accepted) ++count;
        proposals += count, ++done;
        group = std::max(group, count);
        if (done % 32 == 0) largest += group, group = 0;
        ++histogram[int(std::ceil(std::exp2(std::floor(8 * std::log2(count)) / 8)))];
      }
      row("one lane", "single", "proposals", name, "mean", a, x, proposals / done);
      if (done >= 32) row("one lane", "single", "proposals", name, "largest of 32", a, x, largest / (done / 32));
      for (const auto& [count, number] : histogram) {
        row("one lane", "single", "proposals", name, "share", count, x, double(number) / done);
      }
    });
  }
}

/// Relative error of the core-wing boundary for Lya; the temperature is in column x.
template <class Real>
void core_wing_errors(const char* precision) {
  for (int k = 0; k <= 112; ++k) {
    const double temperature = std::pow(10, k / 16.), a = double(Real(4.7e-4 * std::sqrt(1e4 / temperature)));
    for_each_core_wing([&](const char* name, auto scheme) {
      const double exact = core_wing_exact(a), x_cw = double(decltype(scheme)::eval(Real(a)));
      row("one lane", precision, "core_wing_error", name, "", a, temperature, x_cw / exact - 1);
    });
  }
}

}  // namespace
}  // namespace thor::benchmark

int main() {
  using namespace thor::benchmark;
  std::puts("backend,precision,quantity,scheme,mode,a,x,value");
  core_wing_errors<float>("single"), core_wing_errors<double>("double");
  count_proposals();
  const std::vector<Order> orders{Order::fixed, Order::random};
  measure_all<true>(Cpu<float>{}, orders), measure_all<true>(Cpu<double>{}, orders);
  measure_all<false>(Cpu<thor::NativePack<float>>{}, orders),
      measure_all<false>(Cpu<thor::NativePack<double>>{}, orders);
}
