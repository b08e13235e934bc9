#include <fmt/ranges.h>

#include <memory>

#include "commands.hpp"
#include "thor/config/key_help.hpp"
#include "thor/drivers/mcrt/config.hpp"
#include "thor/drivers/rays/config.hpp"

namespace thor::command {
namespace {

std::string help_text(const CLI::App& app, const std::string& topic) {
  const auto formatted = [&](const CLI::App& command, const std::string& name) {
    return app.get_formatter()->make_help(&command, name, CLI::AppFormatMode::Normal);
  };
  if (topic.empty()) return formatted(app, app.get_name());
  const config::KeyHelp keys =
      config::key_help({{"mcrt", &config::schema()}, {"raytrace", &config::raytrace_schema()}}, topic);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() != topic) continue;
    return formatted(*command, app.get_name() + " " + topic) + (keys.text.empty() ? "" : "\n" + keys.text);
  }
  if (!keys.text.empty()) return keys.text;
  throw Error(
      ExitCode::usage,
      fmt::format("{}: no command or configuration key has this name{}{}", topic,
                  keys.nearest.empty() ? "; " : fmt::format("; nearest keys: {}\n", fmt::join(keys.nearest, ", ")),
                  "thor help lists the commands, docs/configuration.md the keys"));
}

}  // namespace

void add_help(CLI::App& app, Action& action) {
  const auto topic = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("help", "print the manual entry of a configuration key, or the help of a command");
  command->footer(
      "Examples:\n"
      "  thor help dataset.dust.tau    unit, range, default, meaning and an example of a key\n"
      "  thor help tau                 the same for every key of this name\n"
      "  thor help run                 as thor run --help");
  command->add_option("TOPIC", *topic, "key (dataset.dust.tau, or its last part), or command (default: overview)");
  command->callback([topic, &app, &action] {
    action = [topic, &app] {
      print(help_text(app, *topic));
      return ExitCode::done;
    };
  });
}

}  // namespace thor::command
