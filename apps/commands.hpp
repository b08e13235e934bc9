#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <map>

#include "thor/core/error.hpp"

/// The subcommands of thor, one function each. It adds the subcommand to the application and sets what to do when it is
/// the one that was called.
namespace thor::command {

using Action = std::function<ExitCode()>;

void add_run(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_init(CLI::App& app, Action& action);
void add_schema(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_lines(CLI::App& app, Action& action);
void add_grid(CLI::App& app, Action& action);
void add_mock(CLI::App& app, Action& action);
void add_devices(CLI::App& app, Action& action);
/// `manual` and `completion`, which are made from the application itself.
void add_manual(CLI::App& app, Action& action);

std::string version_text();

/// The words that an option may have, for the completions.
std::map<const CLI::Option*, std::vector<std::string>>& choices();

/// An option that is one of a few words.
inline CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                               const std::vector<std::string>& words, const std::string& description) {
  CLI::Option* option = command.add_option(name, value, description)->check(CLI::IsMember(words));
  choices()[option] = words;
  return option;
}

/// Data for the user, to stdout; an error where it cannot be written.
void print(const std::string& text);

}  // namespace thor::command
