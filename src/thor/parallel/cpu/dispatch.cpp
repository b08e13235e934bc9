#include <fstream>

#include "thor/core/error.hpp"
#include "thor/parallel/cpu/kernel.hpp"

#if defined(__x86_64__)
THOR_DECLARE_ISA(isa_x86_64_v2)
THOR_DECLARE_ISA(isa_x86_64_v3)
THOR_DECLARE_ISA(isa_x86_64_v4)
#define THOR_FOR_EACH_ISA(f) f(x86_64_v2) f(x86_64_v3) f(x86_64_v4)
#elif defined(__aarch64__)
THOR_DECLARE_ISA(isa_neon)
#define THOR_FOR_EACH_ISA(f) f(neon)
#else
#error "thor has CPU kernels for x86-64 and AArch64; add an instruction set here and in CMakeLists.txt"
#endif

namespace thor::cpu {
namespace {

#if defined(__x86_64__)
bool has_x86_64_v2() { return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"); }
bool has_x86_64_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
bool has_x86_64_v4() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#else
bool has_neon() { return true; }
#endif

}  // namespace

std::vector<std::string_view> instruction_sets() {
  std::vector<std::string_view> sets;
#define THOR_LIST(isa) \
  if (has_##isa()) sets.push_back(#isa);
  THOR_FOR_EACH_ISA(THOR_LIST)
#undef THOR_LIST
  if (sets.empty()) {
    throw Error(ExitCode::device, "this processor is too old: thor needs at least x86-64-v2 (SSE4.2, 2009)");
  }
  return sets;
}

bool fused(std::string_view isa) { return isa != "x86_64_v2"; }

template <class P>
Kernel<P> find_kernel(std::string_view isa, bool one_lane) {
  const auto sets = instruction_sets();
  if (isa.empty()) isa = sets.back();
  for (const auto name : sets) {
    if (name != isa) continue;
#define THOR_PICK(set)                                                                                      \
  if (name == #set)                                                                                         \
    return {name, one_lane ? 1 : isa_##set::pack_lanes<P>(),                                                \
            one_lane ? &isa_##set::advance_one<P> : &isa_##set::advance_pack<P>, &isa_##set::start_lane<P>, \
            &isa_##set::end_lane<P>};
    THOR_FOR_EACH_ISA(THOR_PICK)
#undef THOR_PICK
  }
  std::string known;
  for (const auto name : sets) known += " " + std::string(name);
  throw Error(ExitCode::device, "instruction set \"" + std::string(isa) + "\" is not here; this machine has:" + known);
}

#define THOR_FIND(problem, dataset, real) template Kernel<problem<dataset<real>>> find_kernel(std::string_view, bool);
THOR_FOR_EACH_PROBLEM(THOR_FIND)
#undef THOR_FIND

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string part;  // AArch64 gives numbers in place of a name
  for (std::string line; std::getline(file, line);) {
    const auto value = [&] { return line.substr(std::min(line.find(':') + 2, line.size())); };
    if (line.starts_with("model name")) return value();
    if (line.starts_with("CPU implementer") && part.empty()) part = value();
    if (line.starts_with("CPU part")) return "AArch64 processor " + part + ":" + value();
  }
#if defined(__aarch64__)
  return "AArch64 processor";
#else
  return "x86-64 processor";
#endif
}

}  // namespace thor::cpu
