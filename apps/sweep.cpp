#include <memory>

#include "commands.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/drivers/sweep/sweep.hpp"

namespace thor::command {

void add_sweep(CLI::App& app, Action& action) {
  struct Arguments {
    ConfigArguments config;
    EngineArguments engine;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("sweep", "run the models of a sweep and write one result file");
  add_config(*command, arguments->config);
  command->add_option("-o,--output", arguments->engine.options.output, "result: .h5 or .zarr (default: output.path)")
      ->check(file_name());
  add_engine(*command, arguments->engine);
  command->callback([arguments, &action] {
    action = [arguments] {
      arguments->engine.threads = arguments->config.threads;
      return run_on_ranks(arguments->engine, [&](RunOptions options) {
        options.output = result_name(options.output);
        const SignalGuard guard;
        return sweep::run(sweep::check(config::open_document(arguments->config.path, arguments->config.set)), options);
      });
    };
  });
}

}  // namespace thor::command
