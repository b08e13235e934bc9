#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/drivers/mcrt/estimate.hpp"
#include "thor/drivers/mcrt/prepare.hpp"
#include "thor/drivers/rays/raytrace.hpp"
#include "thor/drivers/sweep/sweep.hpp"

namespace thor::command {
namespace {

struct CheckArguments {
  ConfigArguments config;
  bool json = false, no_trial = false;
};

std::string to_json(const config::Config& config, const std::vector<Derived>& derived, const Estimate* e) {
  nlohmann::ordered_json out{{"file", config.path}, {"configuration", config.resolved}};
  for (const Derived& d : derived) {
    out["derived"][d.name] = {{"value", d.value}, {"units", d.units}, {"meaning", d.meaning}};
  }
  if (e) {
    out["estimate"] = {{"scatterings_per_photon", e->scatterings},
                       {"photons_of_trial", e->finished},
                       {"steps_per_second", e->steps_per_second},
                       {"seconds", e->seconds},
                       {"memory_bytes", e->memory},
                       {"file_bytes", e->file_size}};
  }
  return out.dump(2) + "\n";
}

/// The resolved configuration with everything else as comments, so that the output is itself a configuration.
std::string to_text(const config::Config& config, const std::vector<Derived>& derived, const Estimate* e, int threads) {
  std::string out = config.resolved + "\n# Derived quantities\n";
  const auto row = [&](const std::string& name, const std::string& value, const std::string& meaning) {
    out += fmt::format("#   {:<18} {:<20} {}\n", name, value, meaning);
  };
  for (const Derived& d : derived) {
    row(d.name, fmt::format("{:.6g}{}{}", d.value, d.units.empty() ? "" : " ", d.units), d.meaning);
  }
  if (!e) return out;
  const bool known = e->finished > 0;
  out += fmt::format("# Estimated cost, from a trial with {} thread{} of {}\n", threads, threads == 1 ? "" : "s",
                     cpu::processor_name());
  row("scatterings", fmt::format("{}{:.2g}", known ? "" : "> ", e->scatterings),
      known ? fmt::format("per photon, mean of {}", e->finished) : "per photon; none has ended in the trial");
  row("steps_per_second", fmt::format("{:.2g}", e->steps_per_second), "sum over all threads");
  row("time", (known ? "" : "> ") + format_duration(e->seconds),
      known && e->finished < 30 ? "approximate: few photons have ended in the trial"
      : config.until            ? "approximate, to the first look at the error"
                                : "approximate");
  row("memory", size_text(e->memory), "approximate");
  row("result file", size_text(e->file_size), "at most");
  return out;
}

ExitCode check_sweep(const CheckArguments& arguments, const sweep::Config& sweep, const cpu::Options& options) {
  const sweep::Cost cost = sweep::estimate(sweep, options, !arguments.no_trial);
  nlohmann::ordered_json keys = nlohmann::ordered_json::object();
  std::string rows;
  const auto row = [&](const std::string& name, const std::string& value, const std::string& meaning) {
    rows += fmt::format("#   {:<18} {:<20} {}\n", name, value, meaning);
  };
  const std::uint64_t last = cost.models - 1;
  const auto first_values = sweep.models.values(0), last_values = sweep.models.values(last);
  for (std::size_t k = 0; k < first_values.size(); ++k) {
    keys[sweep.models.axes()[k].key] = {first_values[k], last_values[k]};
  }
  if (arguments.json) {
    nlohmann::ordered_json out{
        {"file", sweep.path}, {"models", cost.models}, {"first_and_last", keys}, {"file_bytes", cost.file_bytes}};
    if (cost.tried > 0) out["seconds"] = cost.seconds, out["tried"] = cost.tried, out["impossible"] = cost.impossible;
    print(out.dump(2) + "\n");
    return ExitCode::done;
  }
  row("models", fmt::format("{}", cost.models), "");
  if (cost.tried > 0) {
    row("time", format_duration(cost.seconds),
        fmt::format("approximate, from {} models, with {} thread{}", cost.tried, options.threads,
                    options.threads == 1 ? "" : "s"));
    if (cost.impossible > 0)
      row("impossible", fmt::format("{} of {}", cost.impossible, cost.tried), "models that were tried");
  }
  row("result file", size_text(cost.file_bytes), "at most");
  std::string told = fmt::format("# A sweep: {}\n", sweep.path) + rows + "# Keys, in the first and the last model\n";
  for (std::size_t k = 0; k < first_values.size(); ++k) {
    told += fmt::format("#   {:<34} {}, {}\n", sweep.models.axes()[k].key, first_values[k], last_values[k]);
  }
  print(told);
  return ExitCode::done;
}

ExitCode check(CheckArguments& arguments) {
  cpu::Options options;
  options.threads = arguments.config.threads ? arguments.config.threads : available_threads();
  config::Document document = config::open_document(arguments.config.path, arguments.config.set);
  if (sweep::is_sweep(document)) return check_sweep(arguments, sweep::check(std::move(document)), options);
  if (document.driver() == config::Driver::raytrace) {
    const config::Raytrace rays = config::check_raytrace(std::move(document));
    const RaysCost cost = check_rays(rays, options.threads);
    if (arguments.json) {
      print(nlohmann::ordered_json{{"file", rays.path},
                                   {"configuration", rays.resolved},
                                   {"fields", cost.fields},
                                   {"estimate", {{"rays", cost.rays}, {"memory_bytes", cost.memory}}}}
                .dump(2) +
            "\n");
    } else {
      print(fmt::format(
          "{}\n# Cost\n#   {:<18} {:.4g}\n#   {:<18} {}, of fields, sightlines and images\n# Fields: {}\n",
          rays.resolved, "rays", cost.rays, "memory", size_text(cost.memory), fmt::join(cost.fields, ", ")));
    }
    return ExitCode::done;
  }
  const auto [config, setup] = prepare(std::move(document), {"", options.threads});
  const auto derived = derived_quantities(config, setup);
  std::optional<Estimate> e;
  if (!arguments.no_trial) e = estimate(config, setup, options);
  const Estimate* shown = e ? &*e : nullptr;
  print(arguments.json ? to_json(config, derived, shown) : to_text(config, derived, shown, options.threads));
  return ExitCode::done;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<CheckArguments>();
  CLI::App* command =
      app.add_subcommand("check", "check a configuration; print derived quantities and the cost of the run");
  add_config(*command, arguments->config);
  command->add_flag("--no-trial", arguments->no_trial, "do not run a trial of two seconds to estimate the time");
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments, &action] { action = [arguments] { return check(*arguments); }; });
}

}  // namespace thor::command
