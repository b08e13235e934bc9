#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "thor/comm/world.hpp"
#include "thor/core/message.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/core/version.hpp"
#include "thor/io/hdf5/hdf5.hpp"
#include "thor/parallel/device/engine.hpp"

namespace thor::command {
namespace {

using Json = nlohmann::ordered_json;

Json lines_json(const std::vector<Line>& list) {
  Json out = Json::array();
  for (const Line& line : list) {
    Json transitions = Json::array();
    for (const auto& t : line.transitions) {
      transitions.push_back({{"name", t.name},
                             {"lower", t.lower},
                             {"upper", t.upper},
                             {"wavelength_angstrom", t.wavelength / constants::angstrom},
                             {"oscillator_strength", t.oscillator_strength},
                             {"einstein_A_per_second", t.einstein_A},
                             {"branching", t.branching},
                             {"damping_per_second", t.damping},
                             {"absorbs", t.population > 0},
                             {"ion", t.ion},
                             {"mass_u", t.mass / constants::m_u},
                             {"E1", t.core}});
    }
    out.push_back({{"name", line.name},
                   {"description", line.description},
                   {"source", line.source},
                   {"transitions", transitions}});
  }
  return out;
}

ExitCode show_lines(bool json, bool yaml, const std::string& file) {
  if (yaml) {
    print(lines_text());
    return ExitCode::done;
  }
  const std::vector<Line> list = file.empty() ? lines() : read_lines(file);
  if (json) {
    print(lines_json(list).dump(2) + "\n");
    return ExitCode::done;
  }
  print(fmt::format("{:<10} {:<12} {:>13} {:>9} {:>10} {:>10} {:>9}\n", "line", "transition", "lambda [A]", "f",
                    "A [1/s]", "branching", "mass [u]"));
  for (const Line& line : list) {
    std::string name = line.name;
    for (const auto& t : line.transitions) {
      print(fmt::format("{:<10} {:<12} {:>13.4f} {:>9.4g} {:>10.3e} {:>10.4f} {:>9.4f}{}\n", name, t.name,
                        t.wavelength / constants::angstrom, t.oscillator_strength, t.einstein_A, t.branching,
                        t.mass / constants::m_u,
                        t.population > 0 ? ""
                        : t.ion == "D I" ? "  with physics.deuterium"
                                         : "  fluorescent"));
      name.clear();
    }
  }
  print("wavelengths in vacuum; --yaml prints the list itself, with its sources\n");
  return ExitCode::done;
}

Json devices_json() {
  Json kernels = Json::array();
  for (const auto name : cpu::instruction_sets()) {
    kernels.push_back(
        {{"name", name}, {"lanes_single", cpu::lanes_of(name, true)}, {"lanes_double", cpu::lanes_of(name, false)}});
  }
  Json out{{"cpu", {{"name", cpu::processor_name()}, {"threads", available_threads()}, {"kernels", kernels}}}};
  out["devices"] = Json::array();
  for (const device::Info& gpu : device::list()) {
    out["devices"].push_back({{"device", fmt::format("{}:{}", gpu.backend, gpu.index)},
                              {"name", gpu.name},
                              {"architecture", gpu.architecture},
                              {"driver", gpu.driver},
                              {"memory_bytes", gpu.memory},
                              {"units", gpu.processors},
                              {"group", gpu.group},
                              {"precision", gpu.has_double ? "single and double" : "single"}});
  }
  return out;
}

ExitCode show_devices(bool json) {
  if (json) {
    print(devices_json().dump(2) + "\n");
    return ExitCode::done;
  }
  const auto sets = cpu::instruction_sets();
  print(fmt::format("cpu   {}\n      {} thread{}\n", cpu::processor_name(), available_threads(),
                    available_threads() == 1 ? "" : "s"));
  for (const auto name : sets) {
    print(fmt::format("      kernel {:<10} {:2} lanes single, {:2} lanes double{}\n", name, cpu::lanes_of(name, true),
                      cpu::lanes_of(name, false), name == sets.back() ? "  (default)" : ""));
  }
  const auto gpus = device::list();
  for (const device::Info& gpu : gpus) {
    print(fmt::format(
        "{:<5} {}\n      device {}:{}, {}, driver {}\n      {:.1f} GiB of memory, {} units, groups of {}, {}\n",
        gpu.backend, gpu.name, gpu.backend, gpu.index, gpu.architecture, gpu.driver, double(gpu.memory) / 0x1p30,
        gpu.processors, gpu.group,
        gpu.has_double ? "single and double precision" : "no double precision: thor cannot use it"));
  }
  for (const std::string_view backend : device::backends()) {
    if (std::ranges::none_of(gpus, [&](const device::Info& gpu) { return gpu.backend == backend; })) {
      print(fmt::format("{:<5} {}\n", backend, device::why_none(backend)));
    }
  }
  return ExitCode::done;
}

}  // namespace

void add_lines(CLI::App& app, Action& action) {
  struct Options {
    bool json = false, yaml = false;
    std::string file;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("lines", "list the available lines");
  auto* file =
      command->add_option("FILE", options->file, "line list, whose lines are added or replace those of the same name");
  auto* json = command->add_flag("--json", options->json, "print JSON");
  command->add_flag("--yaml", options->yaml, "print the built-in list, as a start for your own")
      ->excludes(json)
      ->excludes(file);
  command->callback(
      [options, &action] { action = [options] { return show_lines(options->json, options->yaml, options->file); }; });
}

void add_devices(CLI::App& app, Action& action) {
  const auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("devices", "list the processors and GPUs that thor can use");
  command->add_flag("--json", *json, "print JSON");
  command->callback([json, &action] { action = [json] { return show_devices(*json); }; });
}

std::string version_text() {
  std::string kernels, others;
  for (const auto name : cpu::instruction_sets()) kernels += fmt::format(" {}", name);
  for (const auto name : device::backends()) others += fmt::format(", {} ({})", name, device::version(name));
  return fmt::format("thor {} ({})\ncompiler {}\nHDF5 {}\nMPI {}\nbackends cpu ({} ){}", version, git_commit, compiler,
                     io::version(), comm::mpi_version(), kernels, others);
}

void print(const std::string& text) {
  const std::string shown = printable(text);
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size() || std::fflush(stdout) != 0) {
    if (errno == EPIPE) {  // as with `thor lines | head -1`: the reader has closed the pipe
      std::signal(SIGPIPE, SIG_DFL);
      std::raise(SIGPIPE);
    }
    throw Error(ExitCode::output, "cannot write to the standard output");
  }
}

ExitCode try_to_print(const std::string& text) {
  try {
    print(text);
    return ExitCode::done;
  } catch (...) {
    return report_failure();
  }
}

}  // namespace thor::command
