// Small kernels for the twin of kernel_vectors.py, compiled like the real ones: `good` works in vectors, the others
// leave them for a part, as a compiler does that gives up vectorising. THOR_TWIN is one of
//   good     all in vectors, with arithmetic on the problem's own numbers beside it
//   unrolled e^x of each lane by itself, one after the other
//   rolled   the same in a loop
//   root     only a square root in a loop over the lanes
#include "thor/math/functions.hpp"

namespace thor {
inline namespace THOR_ISA {

using V = NativePack<THOR_REAL>;
struct TwinLanes {
  THOR_REAL *x, *y;
};
struct TwinProblem {
  THOR_REAL albedo, exponent;
};

enum class Twin { good, unrolled, rolled, root };
inline constexpr Twin twin = Twin::THOR_TWIN;
constexpr int lanes_of = Value<V>::lanes;

template <class F>
THOR_FN V one_by_one(V x, F f) {
  alignas(64) THOR_REAL lane[lanes_of];
  store(x, lane);
#pragma GCC unroll(twin == Twin::unrolled ? 16 : 1)
  for (int i = 0; i < lanes_of; ++i) {
    THOR_REAL one = lane[i];
    asm volatile("" : "+m"(one));  // otherwise the compiler merges the lanes again
    lane[i] = f(one);
  }
  return load<V>(lane);
}

template <class P>
bool advance_pack(const TwinLanes& lanes, const P& problem, int steps) {
  using Real = THOR_REAL;
  V x = load<V>(lanes.x), y = load<V>(lanes.y);
  for (int i = 0; i < steps; ++i) {
    V e(Real(0));
    if constexpr (twin == Twin::unrolled || twin == Twin::rolled) {
      e = one_by_one(-x * x, [](Real z) { return exp(z); });
    } else {
      e = exp(-x * x);
    }
    V root = sqrt(y * y + e);
    if constexpr (twin == Twin::root) root = one_by_one(y * y + e, [](Real z) { return sqrt(z); });
    const SinCos<V> turn = sincos_2pi<V>(root - V(Real(0.5)));
    y = divide(log(root + V(Real(1))), V(Real(1) - problem.albedo) + turn.cos * turn.cos);
    y = y + log(exp(-y * y) + V(Real(0.1)));
    x = exp(V(problem.exponent * problem.exponent - Real(1)) * atan(y)) * turn.sin + fast_cbrt(root + V(Real(1)));
  }
  store(x, lanes.x), store(y, lanes.y);
  return any(x > V(Real(0)));
}
template bool advance_pack(const TwinLanes&, const TwinProblem&, int);

}  // namespace THOR_ISA
}  // namespace thor
