#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "thor/core/version.hpp"
#include "thor/drivers/mcrt.hpp"
#include "thor/io/hdf5.hpp"

namespace thor::command {
namespace {

using Json = nlohmann::ordered_json;

ExitCode show_lines(bool json) {
  if (json) {
    Json list = Json::array();
    for (const Line& line : lines()) {
      list.push_back({{"name", line.name},
                      {"description", line.description},
                      {"wavelength_angstrom", line.wavelength / constants::angstrom},
                      {"oscillator_strength", line.oscillator_strength},
                      {"einstein_A_per_second", line.einstein_A},
                      {"mass_u", line.mass / constants::m_u}});
    }
    print(list.dump(2) + "\n");
    return ExitCode::done;
  }
  print(fmt::format("{:<8} {:>14} {:>9} {:>12} {:>10}  {}\n", "name", "lambda_0 [A]", "f", "A [1/s]", "mass [u]",
                    "(wavelength in vacuum)"));
  for (const Line& line : lines()) {
    print(fmt::format("{:<8} {:>14.4f} {:>9.5f} {:>12.4e} {:>10.5f}  {}\n", line.name,
                      line.wavelength / constants::angstrom, line.oscillator_strength, line.einstein_A,
                      line.mass / constants::m_u, line.description));
  }
  return ExitCode::done;
}

Json devices_json() {
  Json kernels = Json::array();
  for (const auto name : cpu::instruction_sets()) {
    kernels.push_back({{"name", name},
                       {"lanes_single", cpu::find_kernel<Problem<Sphere<float>>>(name, false).lanes},
                       {"lanes_double", cpu::find_kernel<Problem<Sphere<double>>>(name, false).lanes}});
  }
  Json out{{"cpu", {{"name", cpu::processor_name()}, {"threads", available_threads()}, {"kernels", kernels}}}};
  out["devices"] = Json::array();
  for (const device::Info& gpu : device::list()) {
    out["devices"].push_back({{"device", fmt::format("{}:{}", gpu.backend, gpu.index)},
                              {"name", gpu.name},
                              {"architecture", gpu.architecture},
                              {"memory_bytes", gpu.memory}});
  }
  return out;
}

ExitCode show_devices(bool json) {
  if (json) {
    print(devices_json().dump(2) + "\n");
    return ExitCode::done;
  }
  const auto sets = cpu::instruction_sets();
  print(fmt::format("cpu   {}\n      {} threads\n", cpu::processor_name(), available_threads()));
  for (const auto name : sets) {
    const auto single = cpu::find_kernel<Problem<Sphere<float>>>(name, false);
    const auto dual = cpu::find_kernel<Problem<Sphere<double>>>(name, false);
    print(fmt::format("      kernel {:<10} {:2} lanes single, {:2} lanes double{}\n", name, single.lanes, dual.lanes,
                      name == sets.back() ? "  (default)" : ""));
  }
  const auto gpus = device::list();
  for (const device::Info& gpu : gpus) {
    print(fmt::format("{:<5} {}\n      device {}:{}, {}, {:.1f} GiB of memory\n", gpu.backend, gpu.name, gpu.backend,
                      gpu.index, gpu.architecture, double(gpu.memory) / 0x1p30));
  }
  if (gpus.empty()) print(fmt::format("cuda  {}\n", device::why_none("cuda")));
  return ExitCode::done;
}

void add_listing(CLI::App& app, Action& action, const char* name, const char* what, ExitCode (*show)(bool)) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand(name, what);
  command->add_flag("--json", *json, "print JSON");
  command->callback([json, show, &action] { action = [json, show] { return show(*json); }; });
}

}  // namespace

void add_lines(CLI::App& app, Action& action) {
  add_listing(app, action, "lines", "list the lines that thor knows", show_lines);
}

void add_devices(CLI::App& app, Action& action) {
  add_listing(app, action, "devices", "list what thor can run on", show_devices);
}

std::string version_text() {
  std::string kernels;
  for (const auto name : cpu::instruction_sets()) kernels += fmt::format(" {}", name);
  return fmt::format("thor {} ({})\ncompiler {}\nHDF5 {}\nMPI not in this build\nbackends cpu ({} ), cuda ({})",
                     version, git_commit, compiler, io::version(), kernels, device::version("cuda"));
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(ExitCode::output, "cannot write to the standard output");
  }
}

}  // namespace thor::command
