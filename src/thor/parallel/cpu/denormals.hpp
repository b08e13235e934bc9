#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace thor::cpu {

/// Flushes denormal numbers of this thread to zero during its lifetime: they carry no information here and can cost a
/// hundred cycles each.
class FlushDenormals {
 public:
  FlushDenormals() : before_(control()) {
#if defined(__x86_64__)
    set_control(before_ | 0x8040);
#else
    set_control(before_ | (1u << 24));
#endif
  }
  FlushDenormals(const FlushDenormals&) = delete;
  ~FlushDenormals() { set_control(before_); }

 private:
#if defined(__x86_64__)
  static std::uint64_t control() { return _mm_getcsr(); }
  static void set_control(std::uint64_t word) { _mm_setcsr(unsigned(word)); }
#else
  static std::uint64_t control() {
    std::uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set_control(std::uint64_t word) { __asm__ volatile("msr fpcr, %0" : : "r"(word)); }
#endif
  const std::uint64_t before_;
};

}  // namespace thor::cpu
