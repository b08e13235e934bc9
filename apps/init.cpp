#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "commands.hpp"
#include "thor/config/schema.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/mcrt/config.hpp"
#include "thor/drivers/rays/config.hpp"
#include "thor/drivers/templates.hpp"

namespace thor::command {
namespace {

/// Writes a new text file, completely or not at all.
void write_file(const std::string& path, const std::string& text, bool overwrite) {
  const auto fail = [&](const std::string& why) {
    throw Error(ExitCode::output, "cannot write '" + path + "': " + why);
  };
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | (overwrite ? O_TRUNC : O_EXCL), 0666);
  if (file < 0 && errno == EEXIST) fail("the file exists; use another name (-o) or --overwrite");
  if (file < 0) fail(std::generic_category().message(errno));
  const ssize_t written = write(file, text.data(), text.size());
  const int error = errno;
  struct stat status {};
  const bool is_file = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  if (close(file) < 0 || written != ssize_t(text.size())) {
    if (is_file) unlink(path.c_str());
    fail(written < 0 ? std::generic_category().message(error) : "the disk is full");
  }
}

const config::Schema& schema_of(config::Driver driver) {
  return driver == config::Driver::mcrt ? config::schema() : config::raytrace_schema();
}

struct InitArguments {
  std::string name, output;
  bool overwrite = false;
};

ExitCode init(const InitArguments& arguments) {
  if (arguments.name.empty()) {
    for (const Template& t : templates())
      print(fmt::format("{:<12} {}\n", t.name, t.title.substr(0, t.title.find('\n'))));
    return ExitCode::done;
  }
  const Template& chosen = find_template(arguments.name);
  const std::string text = chosen.text(schema_of(chosen.driver()));
  const std::string path = arguments.output.empty() ? arguments.name + ".yaml" : arguments.output;
  if (path == "-") {
    print(text);
    return ExitCode::done;
  }
  write_file(path, text, arguments.overwrite);
  message("thor: wrote {}; next: thor run {}\n", path, path);
  return ExitCode::done;
}

}  // namespace

void add_init(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<InitArguments>();
  CLI::App* command = app.add_subcommand("init", "write a commented configuration to start from");
  CLI::Option* name =
      command->add_option("NAME", arguments->name, "name of the template; without it all names are listed");
  for (const Template& t : templates()) choices()[name].push_back(t.name);
  command->add_option("-o,--output", arguments->output, "file to write; - is stdout (default: NAME.yaml)")
      ->check(file_name());
  command->add_flag("--overwrite", arguments->overwrite, "replace an existing file");
  command->callback([arguments, &action] { action = [arguments] { return init(*arguments); }; });
}

void add_schema(CLI::App& app, Action& action) {
  const auto format = std::make_shared<std::string>("json"), driver = std::make_shared<std::string>("mcrt");
  CLI::App* command = app.add_subcommand("schema", "print the JSON schema of a configuration, for editors");
  add_choice(*command, "--format", *format, {"json", "markdown", "keys"},
             "json, markdown (docs/configuration.md) or keys (default: json)");
  add_choice(*command, "--driver", *driver, {"mcrt", "raytrace"},
             "driver of the configuration, for json and keys (default: mcrt)");
  command->callback([format, driver, &action] {
    action = [format, driver] {
      const config::Schema& schema = schema_of(*driver == "mcrt" ? config::Driver::mcrt : config::Driver::raytrace);
      if (*format == "json") print(config::to_json_schema(schema, "A configuration of thor"));
      if (*format == "markdown") print(config::to_markdown(config::schema(), &config::raytrace_schema()));
      if (*format == "keys") {
        for (const auto& path : config::key_paths(schema)) print(path + "\n");
      }
      return ExitCode::done;
    };
  });
}

}  // namespace thor::command
