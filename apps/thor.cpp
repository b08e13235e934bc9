#include <fcntl.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "commands.hpp"
#include "thor/config/nearest.hpp"
#include "thor/core/message.hpp"

namespace {

/// A process may be started without the standard streams; a result file must not get their descriptors.
void keep_standard_streams() {
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) _exit(1);
  }
}

/// Under `ulimit -v` the 64 MB of addresses that glibc reserves for the allocations of each thread would leave none for
/// the rest of a run, depending on which thread comes first.
void share_memory_among_threads() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
}

/// Error in the command line, what may have been meant, and where to find help.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const auto called = app.get_subcommands();
  const CLI::App& command = called.empty() ? app : *called.front();
  std::vector<std::string> options, commands;
  for (const CLI::Option* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) options.push_back("--" + name);
  }
  for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(other->get_name());
  }
  std::string what = error.what(), hint;
  const std::vector<std::string> rest = command.remaining(true);
  if (called.empty() && !rest.empty() && !rest.front().starts_with('-')) {
    what = fmt::format("unknown command \"{}\"", rest.front());
    hint = thor::config::suggestion(rest.front(), commands);
    if (hint.empty()) hint = fmt::format(" (known: {})", fmt::join(commands, ", "));
  }
  for (const auto& word : rest) {
    if (hint.empty()) hint = thor::config::suggestion(word.substr(0, word.find('=')), options);
  }
  return fmt::format("{}{}\nsee thor {}{}--help", what, hint, called.empty() ? "" : command.get_name(),
                     called.empty() ? "" : " ");
}

}  // namespace

int main(int argc, char** argv) {
  using namespace thor;
  keep_standard_streams();
  share_memory_among_threads();
  std::signal(SIGXFSZ, SIG_IGN);  // from `ulimit -f`: the write then fails as on a full disk
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe for messages must not end a run
  CLI::App app{
      "Examples:\n"
      "  thor init shell                     write a commented configuration, shell.yaml\n"
      "  thor check shell.yaml               derived quantities, and how long it will take\n"
      "  thor run shell.yaml                 run it\n"
      "  thor run shell.yaml --set dataset.dust.tau=1 --seed 2 -o dusty.h5\n"
      "  thor info dusty.h5                  contents of a result\n"
      "  thor export dusty.h5 --txt          its spectra as text; --fits and --png for images and cubes too\n"
      "\n"
      "thor: Monte Carlo radiative transfer of resonant emission lines",
      "thor"};
  app.require_subcommand(1);
  app.set_version_flag("--version", command::version_text);
  command::Action action;
  for (const auto add :
       {command::add_run, command::add_continue, command::add_merge, command::add_check, command::add_init,
        command::add_grid, command::add_mock, command::add_view, command::add_info, command::add_export,
        command::add_lines, command::add_devices, command::add_schema, command::add_manual}) {
    add(app, action);
  }

  try {
    app.parse(argc, argv);
    const std::string name = app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name();
    if (name != "merge" && name != "mock" && name != "export" && name != "view") return static_cast<int>(action());
    return static_cast<int>(command::on_ranks([&](const comm::World& world) {
      if (world.is_alone()) return action();
      throw Error(ExitCode::usage, "thor " + name + " is done by one process: start it without mpirun");
    }));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    say_error(usage_error(app, e));
    return static_cast<int>(ExitCode::usage);
  } catch (...) {
    return static_cast<int>(command::report_failure());
  }
}
