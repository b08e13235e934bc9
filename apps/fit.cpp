#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "commands.hpp"

/// `thor fit` is the program of the Python package: it is started with the package that belongs to this binary.
namespace thor::command {
namespace {

namespace fs = std::filesystem;

/// That of the installation, or of the checkout with build/NAME/thor.
fs::path package_folder(const fs::path& program) {
  const fs::path folder = program.parent_path();
  for (const fs::path& place : {folder / "../" THOR_PYTHON_DIR, folder / "../../python"}) {
    std::error_code ignored;
    if (fs::exists(place / "thor/fitting", ignored)) return fs::weakly_canonical(place, ignored);
  }
  return {};
}

bool can_fit(const std::string& python) {
  return std::system((python + " -c 'import numpy, h5py, emcee, matplotlib' > /dev/null 2>&1").c_str()) == 0;
}

ExitCode start(const std::vector<std::string>& words) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (const fs::path package = package_folder(program); !package.empty()) {
    const char* given = std::getenv("PYTHONPATH");
    setenv("PYTHONPATH", (package.string() + (given && *given ? ":" + std::string(given) : "")).c_str(), 1);
  }
  setenv("THOR_BINARY", program.c_str(), 0);
  // Debian's own has its packages; another one on the PATH often has not.
  const std::string python = !can_fit("python3") && can_fit("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
  std::vector<const char*> arguments = {python.c_str(), "-m", "thor", "fit"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  arguments.push_back(nullptr);
  execvp(python.c_str(), const_cast<char* const*>(arguments.data()));
  throw Error(ExitCode::usage, fmt::format("{} cannot be started ({}): fits need Python with numpy, h5py, emcee and "
                                           "matplotlib: on Debian `apt install python3-emcee python3-h5py "
                                           "python3-matplotlib libopenblas0`",
                                           python, std::strerror(errno)));
}

}  // namespace

void add_fit(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("fit", "fit an observed spectrum with the models of a sweep");
  command->prefix_command();
  command->footer(
      "Its arguments are those of `python3 -m thor fit`, which it starts: thor fit SPECTRUM --help lists them.");
  command->callback([command, &action] { action = [words = command->remaining()] { return start(words); }; });
}

}  // namespace thor::command
