#include <fcntl.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "commands.hpp"
#include "thor/config/nearest.hpp"
#include "thor/config/schema.hpp"
#include "thor/core/message.hpp"
#include "thor/drivers/mcrt/config.hpp"
#include "thor/io/hdf5/crash.hpp"

namespace {

/// A process may be started without the standard streams; a result file must not get their descriptors. Writing to a
/// closed standard output fails.
void keep_standard_streams() {
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    const int how = descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR;
    if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", how) < 0) _exit(1);
  }
}

constexpr rlim_t least_stack = 1 << 20, usual_stack = 8 << 20;  ///< [bytes]

/// Under a small `ulimit -s` the stacks of threads have their usual size all the same, and that of the first as much as
/// the limit can be raised to.
bool has_stack() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= usual_stack) return true;
  pthread_attr_t threads;
  if (pthread_getattr_default_np(&threads) == 0) {
    pthread_attr_setstacksize(&threads, usual_stack);
    pthread_setattr_default_np(&threads);
    pthread_attr_destroy(&threads);
  }
  const rlimit more{std::min(limit.rlim_max, usual_stack), limit.rlim_max};
  return (setrlimit(RLIMIT_STACK, &more) == 0 ? more : limit).rlim_cur >= least_stack;
}

/// Under `ulimit -v` the 64 MB of addresses that glibc reserves for the allocations of each thread would leave none for
/// the rest of a run, depending on which thread comes first.
void share_memory_among_threads() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
}

/// For an option that has the name of a key of the configuration.
std::string key_hint(const std::string& option, const std::string& value) {
  if (!option.starts_with("--")) return "";
  const std::string end = "." + option.substr(2);
  for (const std::string& path : thor::config::key_paths(thor::config::schema())) {
    if (("." + path).ends_with(end)) return fmt::format("; the key {} is set by --set {}={}", path, path, value);
  }
  return "";
}

/// Error in the command line, a suggestion, and where to find help.
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
  for (std::size_t i = 0; i < rest.size() && hint.empty(); ++i) {
    const std::string word = rest[i].substr(0, rest[i].find('='));
    if (command.get_option_no_throw("--set")) {
      hint = key_hint(word, word == rest[i] ? "VALUE" : rest[i].substr(word.size() + 1));
    }
    if (hint.empty()) hint = thor::config::suggestion(word, options);
  }
  return fmt::format("{}{}\nsee thor {}{}--help", what, hint, called.empty() ? "" : command.get_name(),
                     called.empty() ? "" : " ");
}

}  // namespace

namespace {

int run(int argc, char** argv) {
  using namespace thor;
  std::signal(SIGXFSZ, SIG_IGN);  // from `ulimit -f`: the write then fails as on a full disk
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe for messages must not end a run
  io::report_crashes_of_hdf5();
  CLI::App app{
      "Examples:\n"
      "  thor init shell                     write a commented configuration, shell.yaml\n"
      "  thor check shell.yaml               derived quantities, and how long it will take\n"
      "  thor run shell.yaml                 run it\n"
      "  thor run shell.yaml --set dataset.dust.tau=1 --seed 2 -o dusty.h5\n"
      "  thor info dusty.h5                  contents of a result\n"
      "  thor export dusty.h5 --txt          its spectra as text; --fits and --png for images and cubes too\n"
      "  thor help dataset.dust.tau          a configuration key: unit, range, default, example\n"
      "\n"
      "thor: Monte Carlo radiative transfer of resonant emission lines",
      "thor"};
  app.require_subcommand(1);
  app.set_version_flag("--version", command::version_text);
  command::Action action;
  for (const auto add :
       {command::add_run, command::add_sweep, command::add_fit, command::add_continue, command::add_merge,
        command::add_check, command::add_init, command::add_grid, command::add_mock, command::add_view,
        command::add_info, command::add_export, command::add_lines, command::add_devices, command::add_help,
        command::add_schema, command::add_manual}) {
    add(app, action);
  }

  try {
    app.parse(argc, argv);
    const std::string name = app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name();
    if (name != "merge" && name != "mock" && name != "export" && name != "view") return static_cast<int>(action());
    return static_cast<int>(command::on_ranks([&](const comm::World& world) {
      if (world.is_alone()) return action();
      throw Error(ExitCode::usage, "thor " + name + " runs on one process: start it without mpirun");
    }));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      app.exit(e, text);
      return static_cast<int>(command::try_to_print(text.str()));
    }
    say_error(usage_error(app, e));
    return static_cast<int>(ExitCode::usage);
  } catch (...) {
    return static_cast<int>(command::report_failure());
  }
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_streams();
  if (!has_stack()) {
    thor::say_error("the stack is limited to less than 1 MiB (ulimit -s): raise the limit, as by `ulimit -s 8192`");
    return static_cast<int>(thor::ExitCode::device);
  }
  share_memory_among_threads();
  return run(argc, argv);
}
