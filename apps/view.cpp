#include <memory>

#include "commands.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/core/message.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/drivers/view/view.hpp"
#include "thor/io/web/server.hpp"

namespace thor::command {
namespace {

struct ViewArguments {
  std::string path, field;
  EngineArguments engine;
  int port = 0;
};

/// A configuration as it is; any other file is a mesh with its gas.
config::Raytrace what_to_view(const std::string& path) {
  if (path.ends_with(".yaml") || path.ends_with(".yml")) return config::check_raytrace(config::open_document(path));
  config::Raytrace config;
  config.path = path, config.line = "Lya";
  config.dataset.path = path;
  while (config.dataset.path.size() > 1 && config.dataset.path.ends_with('/')) config.dataset.path.pop_back();  // zarr
  config.dataset.type = type_of_file(config.dataset.path);
  return config;
}

ExitCode run(const ViewArguments& arguments) {
  const config::Raytrace config = what_to_view(arguments.path);
  const RunOptions options = arguments.engine.resolved();
  const SignalGuard guard;
  View view(config, options, arguments.field);
  io::web::Server server(arguments.port,
                         [&](const auto& request, const auto& exchange) { view.answer(request, exchange); });
  print(server.address() + "\n");
  if (!options.quiet)
    message("thor: showing {} on {}: open the address above in a browser on this machine; stop with Ctrl-C\n",
            arguments.path, view.device());
  server.serve(is_interrupted);
  return ExitCode::done;
}

}  // namespace

void add_view(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<ViewArguments>();
  CLI::App* command =
      app.add_subcommand("view", "turn, zoom and recolour a grid or a mesh in a browser, and pick sightlines");
  command
      ->add_option("FILE", arguments->path,
                   "a grid, an octree or sites (.h5 or .zarr), or a raytrace configuration (.yaml)")
      ->required();
  command->add_option("--port", arguments->port, "port on 127.0.0.1 (default: any free port)")
      ->check(CLI::Range(0, 65535));
  command->add_option("--field", arguments->field, "field that is shown first (default: density)");
  command->add_option("--device", arguments->engine.options.device,
                      fmt::format("where rays are traced: {} (default: auto)", device::choices()));
  add_threads(*command, arguments->engine.threads);
  command->add_flag("--quiet", arguments->engine.options.quiet, "print only the address");
  command->add_option("--isa", arguments->engine.options.cpu.isa, "kernel instruction set (see thor devices)");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace thor::command
