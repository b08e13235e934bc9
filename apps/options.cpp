#include "commands.hpp"

namespace thor::command {

void add_config(CLI::App& command, ConfigArguments& arguments) {
  command.add_option("CONFIG", arguments.path, "configuration (YAML); - is stdin")->required();
  command.add_option("--set", arguments.set, "override a key: a.b=value")->take_all()->allow_extra_args(false);
  command.add_option("--threads", arguments.threads, "worker threads (default: all)")->check(CLI::Range(1, 4096));
}

void add_progress(CLI::App& command, std::string& word) {
  add_choice(command, "--progress", word, {"auto", "plain", "never"},
             "progress line: auto, plain or never (default: auto)");
}

ProgressMode progress_mode(const std::string& word) {
  return word == "plain" ? ProgressMode::plain : word == "never" ? ProgressMode::never : ProgressMode::automatic;
}

std::map<const CLI::Option*, std::vector<std::string>>& choices() {
  static std::map<const CLI::Option*, std::vector<std::string>> map;
  return map;
}

}  // namespace thor::command
