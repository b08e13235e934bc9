#include <algorithm>
#include <fstream>

#include "thor/core/error.hpp"
#include "thor/parallel/cpu/trace_kernel.hpp"

namespace thor::cpu {
namespace {

/// Whether this processor has an instruction set.
bool has(std::string_view isa) {
#if defined(__x86_64__)
  if (isa == "x86_64_v2") return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  if (isa == "x86_64_v3") {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  }
  if (isa == "x86_64_v4") {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  }
  return false;
#elif defined(__aarch64__)
  return isa == "neon";
#else
#error "thor has CPU kernels for x86-64 and AArch64; add an instruction set here and in ThorKernels.cmake"
#endif
}

std::string listed(const std::vector<std::string_view>& sets) {
  std::string text;
  for (const auto name : sets) text += " " + std::string(name);
  return text;
}

/// The kernel of a kind in a table: that of `isa`, or the best one that this processor can run.
template <class Kernel, class Kind>
const Kernel& find(std::span<const Kernel* const> table, const Kind& kind, std::string_view isa, bool selected) {
  const Kernel* best = nullptr;
  for (const Kernel* kernel : table) {  // the best last, as in ThorKernels.cmake
    if (kernel->kind == kind && has(kernel->isa) && (isa.empty() || kernel->isa == isa)) best = kernel;
  }
  if (best) return *best;
  const auto sets = instruction_sets();
  if (!isa.empty() && std::ranges::find(sets, isa) == sets.end()) {
    throw Error(ExitCode::device,
                "instruction set \"" + std::string(isa) + "\" is not available; this machine has:" + listed(sets));
  }
  if (selected) {
    throw Error(ExitCode::device,
                "this build has no kernels for other numerics than the defaults: configure with "
                "-DTHOR_SELECTED_NUMERICS=ON, or leave out the section numerics");
  }
  throw Error(ExitCode::device, "this build has no kernel for this dataset and line" +
                                    (isa.empty() ? std::string() : " with --isa " + std::string(isa)) +
                                    ": configure with -DTHOR_ISAS=all");
}

}  // namespace

std::vector<std::string_view> instruction_sets() {
  std::vector<std::string_view> sets;
  for (const auto* kernel : step_kernels<float>()) {
    if (has(kernel->isa) && std::ranges::find(sets, kernel->isa) == sets.end()) sets.push_back(kernel->isa);
  }
  if (sets.empty()) {
    std::string built;
    for (const auto* kernel : step_kernels<float>()) built = kernel->isa;
    throw Error(ExitCode::device,
                "this processor has none of the instruction sets of this build (such as " + built +
                    "): configure with -DTHOR_ISAS=all; thor needs at least x86-64-v2 (SSE4.2, 2009)");
  }
  return sets;
}

bool fused(std::string_view isa) { return isa != "x86_64_v2"; }

int lanes_of(std::string_view isa, bool single) {
  const auto lanes = [&](auto kernels) {
    for (const auto* kernel : kernels) {
      if (kernel->isa == isa) return kernel->lanes;
    }
    return 0;
  };
  return single ? lanes(step_kernels<float>()) : lanes(step_kernels<double>());
}

template <class Real>
const StepKernel<Real>& step_kernel(ProblemKind kind, std::string_view isa) {
  return find(step_kernels<Real>(), kind, isa, is_selected(kind));
}
template <class Real>
const HistoryKernel<Real>& history_kernel(HistoryKind kind, std::string_view isa) {
  return find(history_kernels<Real>(), kind, isa, kind.selected);
}
template <class Real>
const MarchKernel<Real>& march_kernel(ProblemKind kind, std::string_view isa) {
  return find(march_kernels<Real>(), kind, isa, is_selected(kind));
}
template <class Real>
const TraceKernel<Real>& trace_kernel(DatasetKind kind, std::string_view isa) {
  return find(trace_kernels<Real>(), kind, isa, false);
}
template const StepKernel<float>& step_kernel(ProblemKind, std::string_view);
template const StepKernel<double>& step_kernel(ProblemKind, std::string_view);
template const HistoryKernel<float>& history_kernel(HistoryKind, std::string_view);
template const HistoryKernel<double>& history_kernel(HistoryKind, std::string_view);
template const MarchKernel<float>& march_kernel(ProblemKind, std::string_view);
template const MarchKernel<double>& march_kernel(ProblemKind, std::string_view);
template const TraceKernel<float>& trace_kernel(DatasetKind, std::string_view);
template const TraceKernel<double>& trace_kernel(DatasetKind, std::string_view);

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
