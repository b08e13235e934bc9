#include <fmt/ranges.h>

#include <map>
#include <memory>

#include "commands.hpp"
#include "thor/config/schema.hpp"
#include "thor/core/version.hpp"
#include "thor/drivers/mcrt/config.hpp"
#include "thor/drivers/templates.hpp"

/// The man page, docs/command-line.md and the shell completions, generated from the application's options.
namespace thor::command {
namespace {

struct Row {
  std::string name, text;
};

const Row exit_codes[] = {
    {"0", "done"},
    {"1", "internal error (please report)"},
    {"2", "bad usage or configuration (also: configuration file missing)"},
    {"3", "input data missing or bad"},
    {"4", "device: no such GPU, out of memory, or a fault on it"},
    {"5",
     "stopped early by a signal or limit; the partial result is written with complete = false (thor grid, thor mock "
     "and rays write nothing); or the error of `until` was not reached"},
    {"6",
     "output cannot be written (exists, unwritable, disk full); if only the raw photons did not fit on the disk, "
     "everything else is written"},
    {"7",
     "finished and written, but unreliable: more than 1 % of the photons or of their light was lost at "
     "limits.max_scatterings or max_steps; of a sweep, one of the models was unreliable or failed"},
};

const Row notes[] = {
    {"Stopping",
     "After Ctrl-C, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU or --max-walltime no more photons are started, "
     "and those in flight have --drain seconds (5) to end; with 0 the run ends within some hundredths of a second. A "
     "second signal ends the run at once and leaves no file. A signal that is ignored from the start (nohup) stays "
     "ignored, and a closed stderr does not end a run. A run that was cut short is marked complete = false: the "
     "photons "
     "still in flight are those with long histories, so the escaped photons are then a biased sample. If none is in "
     "flight, thor continue completes the run. A run with `until`, or one that was continued, keeps whole batches of "
     "photons instead."},
    {"Caveats",
     "A caveat is a reason not to rely on a result as it is: a run that was cut, lost or stopped photons, noisy "
     "outputs, more than 0.1 % of the light beyond the range of an output, raw photons that did not fit on the disk. "
     "Caveats and warnings are printed after the summary (outputs with the same caveat in one line), stored in the "
     "file (one line for each output) and repeated by thor info; thor export writes those of the run and of the "
     "exported output."},
    {"Devices",
     "--device auto is the first GPU, or the processor if there is none. Photons are the same on both (on processors "
     "with "
     "fused multiply-add, since 2013). --lanes limits the memory on a GPU: a photon in flight takes 160 bytes in "
     "single "
     "precision and 232 in double; by default all photons are in flight, at most 2^20. The last photons of a run on a "
     "GPU "
     "are finished on --threads threads of the processor."},
    {"Output",
     "Messages go to stderr, data to stdout. A terminal shows a progress line; otherwise there is a line every 10 "
     "seconds. "
     "The error it shows is that of the first output: the error of a bin of the first spectrum, averaged with the flux "
     "as "
     "weight, or without a spectrum that of the escape fraction. The line is no wider than the terminal; with "
     "TERM=dumb "
     "there are plain lines. NO_COLOR switches colours off. A result is written to NAME.h5.partial, a new file, and "
     "renamed when it is complete; a file of that name left by a run that was killed is removed. If NAME.h5 is a link, "
     "its target is written. --overwrite replaces a directory (.zarr) only if thor wrote every file in it. Disk space "
     "is checked before a run and reserved for everything except raw photons; if the "
     "disk fills up, only these are lost."},
};

std::vector<CLI::App*> commands_of(CLI::App& app) {
  return app.get_subcommands([](CLI::App*) { return true; });
}

std::vector<Row> options_of(const CLI::App& command) {
  std::vector<Row> rows;
  for (const CLI::Option* option : command.get_options()) {
    const bool takes_value = option->get_items_expected_max() > 0 && !option->get_positional();
    std::string name = option->get_name(option->get_positional(), true);
    for (std::size_t comma; (comma = name.find(",-")) != std::string::npos;) name.replace(comma, 1, ", ");
    rows.push_back({name + (takes_value ? " VALUE" : ""), option->get_description()});
  }
  return rows;
}

std::string synopsis(const CLI::App& command) {
  std::string text = "thor " + command.get_name();
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = option->get_name(true);
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text + " [options]";
}

std::string to_troff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string man_page(CLI::App& app) {
  std::string out = fmt::format(".TH THOR 1 \"\" \"thor {}\" \"User Commands\"\n", version);
  const auto section = [&](const std::string& title) { out += ".SH " + title + "\n"; };
  const auto entry = [&](const Row& row) {
    out += fmt::format(".TP\n.B {}\n{}\n", to_troff(row.name), to_troff(row.text));
  };
  section("NAME");
  out += "thor \\- Monte Carlo radiative transfer of resonant emission lines\n";
  section("SYNOPSIS");
  for (const CLI::App* command : commands_of(app)) out += fmt::format(".B {}\n.br\n", to_troff(synopsis(*command)));
  section("DESCRIPTION");
  out +=
      "thor follows photons of a resonant line through gas and writes the spectra that telescopes see. A run is one "
      "YAML file; every key is in the configuration reference (docs/configuration.md, or\n.BR \"thor schema\" ).\n";
  for (const CLI::App* command : commands_of(app)) {
    section("thor " + command->get_name());
    out += to_troff(command->get_description()) + ".\n";
    for (const Row& row : options_of(*command)) entry(row);
  }
  for (const Row& note : notes) {
    section(note.name);
    out += to_troff(note.text) + "\n";
  }
  section("EXIT STATUS");
  for (const Row& row : exit_codes) entry(row);
  section("SEE ALSO");
  out += "Byrohl & Nelson (2025), arXiv:2507.11603: the method.\n";
  return out;
}

std::string markdown(CLI::App& app) {
  const auto in_table = [](std::string text) {
    for (std::size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2) text.insert(i, "\\");
    return text;
  };
  std::string out =
      "# Command line\n\n<!-- Made by `thor manual --format markdown`; do not edit. -->\n\n"
      "`thor COMMAND --help` prints the same, as does `man thor` after installation; `thor completion bash` (or `zsh`) "
      "prints a "
      "script that completes commands, options and the keys of `--set`: `source <(thor completion bash)`. `thor help "
      "KEY` "
      "prints the entry of a [configuration key](configuration.md).\n";
  for (const CLI::App* command : commands_of(app)) {
    out += fmt::format("\n## {}\n\n    {}\n\n{}.\n\n| option | meaning |\n|---|---|\n", command->get_name(),
                       synopsis(*command), command->get_description());
    for (const Row& row : options_of(*command)) {
      out += fmt::format("| `{}` | {} |\n", in_table(row.name), in_table(row.text));
    }
  }
  for (const Row& note : notes) out += fmt::format("\n## {}\n\n{}\n", note.name, note.text);
  out += "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
  for (const Row& row : exit_codes) out += fmt::format("| {} | {} |\n", row.name, row.text);
  return out;
}

std::string joined_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) continue;
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    for (const auto& name : option->get_snames()) names.push_back("-" + name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

/// Words that may follow an option with a fixed choice.
std::string words_after(const CLI::Option& option) {
  const auto found = choices().find(&option);
  return found == choices().end() ? "" : fmt::format("{}", fmt::join(found->second, " "));
}

std::string completion_script(CLI::App& app) {
  std::vector<std::string> names;
  std::string options, values, positionals;
  for (const CLI::App* command : commands_of(app)) {
    const std::string& name = command->get_name();
    names.push_back(name);
    options += fmt::format("      {}) words=\"{}\" ;;\n", name, joined_names(*command));
    for (const CLI::Option* option : command->get_options()) {
      const std::string words = words_after(*option);
      if (option->get_positional() && name == "help") {
        positionals += fmt::format("      {}) words=\"$keys $commands\" ;;\n", name);
      } else if (option->get_positional()) {
        positionals += words.empty() ? fmt::format("      {}) files=1 ;;\n", name)
                                     : fmt::format("      {}) words=\"{}\" ;;\n", name, words);
      } else if (!words.empty()) {
        values += fmt::format("      {}:--{}) words=\"{}\" ;;\n", name, option->get_lnames().front(), words);
      }
    }
  }
  return fmt::format(R"(_thor_words() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words="" files=""
  local commands="{}"
  local keys="{}"
  if [ "$COMP_CWORD" -le 1 ]; then
    words="$commands --help --version"
  elif [ "$previous" = --set ]; then
    compopt -o nospace 2> /dev/null
    COMPREPLY=($(compgen -S = -W "$keys" -- "$current"))
    return
  elif [ "$previous" = -o ] || [ "$previous" = --output ]; then
    files=1
  elif [[ "$current" == -* ]]; then
    case "$command" in
{}    esac
  else
    case "$command:$previous" in
{}      *) case "$command" in
{}      esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ -z "$files" ] || COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _thor_words thor
)",
                     fmt::join(names, " "), fmt::join(config::key_paths(config::schema()), " "), options, values,
                     positionals);
}

}  // namespace

void add_manual(CLI::App& app, Action& action) {
  const auto format = std::make_shared<std::string>("man");
  CLI::App* manual = app.add_subcommand("manual", "print the manual page");
  add_choice(*manual, "--format", *format, {"man", "markdown"}, "man, or markdown (docs/command-line.md)");
  manual->callback([format, &app, &action] {
    action = [format, &app] {
      print(*format == "man" ? man_page(app) : markdown(app));
      return ExitCode::done;
    };
  });

  const auto shell = std::make_shared<std::string>();
  CLI::App* completion =
      app.add_subcommand("completion", "print a script that completes the commands of thor in a shell");
  add_choice(*completion, "SHELL", *shell, {"bash", "zsh"}, "bash or zsh")->required();
  completion->callback([shell, &app, &action] {
    action = [shell, &app] {
      const bool zsh = *shell == "zsh";
      print(zsh ? "#compdef thor\nautoload -U +X bashcompinit && bashcompinit\n"
                : "# source <(thor completion bash)\n");
      print(completion_script(app));
      // If zsh has loaded this as the function _thor, this is its first call.
      if (zsh) print("[ \"${funcstack[1]}\" != _thor ] || _bash_complete -o default -F _thor_words\n");
      return ExitCode::done;
    };
  });
}

}  // namespace thor::command
