#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "commands.hpp"
#include "thor/core/interrupt.hpp"
#include "thor/core/message.hpp"
#include "thor/io/fits/product.hpp"
#include "thor/io/partial.hpp"
#include "thor/io/png/preview.hpp"
#include "thor/io/result/parts.hpp"
#include "thor/io/text/product.hpp"

namespace thor::command {
namespace {

using io::ProductKind;

struct ExportArguments {
  std::string file, output;
  std::vector<std::string> names;
  bool fits = false, png = false, txt = false, overwrite = false, quiet = false, no_caveats = false;
  io::SkyPosition position;
  io::PictureOptions picture;
  const CLI::App* command = nullptr;
};

/// A product in one format.
struct Task {
  io::Product product;
  std::string path;  ///< ends in .fits, .png or .txt
};

std::vector<std::string> formats_of(const ExportArguments& a, ProductKind kind) {
  std::vector<std::string> formats;
  const bool picture = kind == ProductKind::image || kind == ProductKind::cube;
  if (a.fits && kind != ProductKind::histogram) formats.emplace_back(".fits");
  if (a.png && picture) formats.emplace_back(".png");
  if (a.txt && !picture) formats.emplace_back(".txt");
  return formats;
}

/// A directory, or the beginning of names. thor itself gives no name that a terminal would take for a command.
std::string path_of(const ExportArguments& a, const std::string& name) {
  if (printable_line(name) != name) {
    throw Error(
        ExitCode::input,
        fmt::format("{}: the name of product \"{}\" has control characters and cannot name a file: rename it, or "
                    "choose others with --name",
                    a.file, printable_line(name)));
  }
  std::error_code ignored;
  if (!a.output.empty() && std::filesystem::is_directory(a.output, ignored)) {
    return (std::filesystem::path(a.output) / name).string();
  }
  return a.output + name;
}

std::string list(const std::vector<io::ProductPlace>& places) {
  std::vector<std::string> names;
  for (const auto& place : places) names.push_back(fmt::format("{} ({})", place.name, io::kind_name(place.kind)));
  return places.empty() ? "it has no images, cubes, spectra, profiles or histograms"
                        : fmt::format("it has {}", fmt::join(names, ", "));
}

/// What rays have found along sightlines, which has no other format.
std::vector<std::string> along_sightlines(const io::Result& result) {
  std::vector<std::string> names;
  for (const io::Object& object : result.objects) {
    if (object.is_dataset) continue;
    for (const std::string folder : {"/absorption/", "/traces/"}) {
      if (object.path.starts_with(folder)) names.push_back(object.path.substr(folder.size()));
    }
  }
  return names;
}
constexpr const char* not_exported =
    "spectra and fields along sightlines are not exported: read them with thor.open in Python";

/// Those that were named, or all that have a format.
std::vector<io::ProductPlace> choose(const ExportArguments& a, const io::Result& result) {
  const std::vector<io::ProductPlace> places = io::find_products(result);
  std::vector<io::ProductPlace> chosen;
  for (const std::string& name : a.names) {
    const auto found = std::ranges::find(places, name, &io::ProductPlace::name);
    if (found == places.end() && std::ranges::count(along_sightlines(result), name) > 0) {
      throw Error(ExitCode::usage,
                  fmt::format("--name {}: {} ({}); nothing was written", name, not_exported, list(places)));
    }
    if (found == places.end()) {
      throw Error(ExitCode::usage, fmt::format("--name {}: {} has no product of this name ({}); nothing was written",
                                               name, a.file, list(places)));
    }
    if (formats_of(a, found->kind).empty()) {
      const bool histogram = found->kind == ProductKind::histogram;
      ExportArguments pictures;
      pictures.png = true;
      throw Error(ExitCode::usage,
                  !formats_of(pictures, found->kind).empty()
                      ? fmt::format("--name {}: only spectra, profiles and histograms are written as text: use --fits "
                                    "or --png",
                                    name)
                      : fmt::format("--name {}: a {} has no {}: use {}", name, io::kind_name(found->kind),
                                    a.png ? "picture" : "FITS file", histogram ? "--txt" : "--txt or --fits"));
    }
    if (std::ranges::find(chosen, name, &io::ProductPlace::name) == chosen.end()) chosen.push_back(*found);
  }
  if (!a.names.empty()) return chosen;
  std::ranges::copy_if(places, std::back_inserter(chosen),
                       [&](const auto& place) { return !formats_of(a, place.kind).empty(); });
  if (chosen.empty()) {
    const char* other = places.empty() ? ""
                        : a.txt        ? "; images and cubes are exported by --fits or --png"
                                       : "; spectra and profiles are exported by --txt or --fits, histograms by --txt";
    const std::vector<std::string> along = along_sightlines(result);
    throw Error(ExitCode::input,
                fmt::format("{}: nothing to export: {}{}{}", a.file, list(places), other,
                            along.empty() ? "" : fmt::format("; {}: {}", fmt::join(along, ", "), not_exported)));
  }
  return chosen;
}

/// All files of an export, and what has none.
struct Export {
  std::vector<Task> tasks;
  std::vector<std::string> pictures;  ///< without a FITS file: four numbers a pixel
};

Export plan_export(const ExportArguments& a, const io::Result& result, const io::Input& input) {
  Export plan;
  bool angular = false;
  for (const io::ProductPlace& place : choose(a, result)) {
    const io::Product product = io::read_product(input, place);
    angular = angular || is_angular(product);
    for (const std::string& format : formats_of(a, place.kind)) {
      if (product.is_coloured() && format == ".fits") {
        plan.pictures.push_back(place.name);
      } else {
        plan.tasks.push_back({product, path_of(a, place.name + format)});
      }
    }
  }
  if (plan.tasks.empty()) {
    throw Error(ExitCode::usage, fmt::format("--fits: pictures of volumes ({}) have no FITS file: use --png",
                                             fmt::join(plan.pictures, ", ")));
  }
  for (const char* option : {"--ra", "--dec", "--pa"}) {
    if (a.command->count(option) > 0 && !angular) {
      throw Error(ExitCode::usage,
                  fmt::format("{}: {} has no angles on the sky (key sky of the configuration); leave the option out",
                              option, a.file));
    }
  }
  return plan;
}

void require_free(const ExportArguments& a, const std::vector<Task>& tasks) {
  for (const Task& task : tasks) {
    io::detail::require_apart(task.path, a.file);
    io::detail::require_free(task.path, a.overwrite);
    for (const std::string& name : {task.path, task.path + ".partial"}) {
      if (std::filesystem::exists(name) && !std::filesystem::is_regular_file(name)) {
        io::detail::fail(name, "it is not a regular file", "remove it, or write elsewhere (-o)");
      }
    }
  }
}

void write_task(const ExportArguments& a, const io::Result& result, const io::Input& input, const Task& task) {
  stop_if_interrupted();
  if (task.path.ends_with(".fits")) {
    io::write_fits(task.path, a.overwrite, result, input, task.product, a.position);
  } else if (task.path.ends_with(".png")) {
    io::write_preview(task.path, a.overwrite, result, input, task.product, a.picture);
  } else {
    io::write_text(task.path, a.overwrite, result, input, task.product);
  }
}

/// Says what was left out, and in which of several formats nothing was written.
void report_unused(const ExportArguments& a, const Export& plan, const io::Result& result) {
  const auto wrote = [&](const char* ending) {
    return std::ranges::any_of(plan.tasks, [&](const Task& task) { return task.path.ends_with(ending); });
  };
  if (a.quiet) return;
  if (a.png && !wrote(".png")) message("thor: --png: no picture, because no image or cube is exported\n");
  if (a.txt && !wrote(".txt")) {
    message("thor: --txt: no text, because no spectrum, profile or histogram is exported\n");
  }
  if (!plan.pictures.empty() && !a.png) {
    message("thor: left out {}: pictures of volumes are exported by --png\n", fmt::join(plan.pictures, ", "));
  }
  if (const std::vector<std::string> along = along_sightlines(result); a.names.empty() && !along.empty()) {
    message("thor: left out {}: {}\n", fmt::join(along, ", "), not_exported);
  }
}

ExitCode run_export(const ExportArguments& a) {
  if (a.quiet) say_no_messages();
  if (!a.fits && !a.png && !a.txt) throw Error(ExitCode::usage, "no format: give --fits, --png or --txt");
  const std::optional<io::Result> result = io::open_result(a.file);
  if (!result) {
    const std::vector<io::Object> objects = io::contents(a.file);
    io::require_no_part(a.file, objects);
    io::refuse_as_result(a.file, objects);
  }
  const io::Input input(a.file);
  const Export plan = plan_export(a, *result, input);
  const std::vector<Task>& tasks = plan.tasks;
  require_free(a, tasks);
  const SignalGuard guard;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    try {
      write_task(a, *result, input, tasks[i]);
    } catch (const Error& e) {
      if (e.code() != ExitCode::stopped || i == 0) throw;
      throw Error(e.code(), fmt::format("stopped by a signal: wrote {} of {} files, not {} and the following", i,
                                        tasks.size(), tasks[i].path));
    }
    if (!a.quiet) message("thor: wrote {}\n", tasks[i].path);
  }
  report_unused(a, plan, *result);
  for (const Task& task : tasks) {  // each is printed once
    for (const std::string& caveat : io::caveats_of(*result, task.product.kind, task.product.name)) {
      warning("{}: {}", a.file, caveat);
    }
  }
  return ExitCode::done;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command = app.add_subcommand(
      "export", "write images, cubes, spectra, profiles and histograms of a result as FITS, PNG or text");
  command->footer(
      "Examples:\n"
      "  thor export galaxy.h5 --fits --png           NAME.fits and NAME.png of every image and cube, ...\n"
      "  thor export galaxy.h5 --fits --name ifu --ra 150.1 --dec 2.2 --pa 30 -o mock_\n"
      "  thor export galaxy.h5 --txt -o spectra/\n"
      "docs/formats.md describes the files.");
  command->add_option("FILE", arguments->file, "result (.h5, .zarr)")->required();
  command->add_flag("--fits", arguments->fits,
                    "images, cubes and spectra: NAME.fits with extensions DATA and STAT; profiles as tables");
  command->add_flag("--png", arguments->png, "pictures of images and cubes: NAME.png");
  command->add_flag("--txt", arguments->txt, "spectra, profiles and histograms as columns: NAME.txt");
  command->add_option("--name", arguments->names, "product to export; may be repeated (default: all)")
      ->take_all()
      ->allow_extra_args(false);
  command
      ->add_option("-o,--output", arguments->output,
                   "existing directory, or prefix of file names (default: this directory)")
      ->check(file_name());
  command->add_flag("--overwrite", arguments->overwrite, "replace existing files");
  command->add_flag("--quiet", arguments->quiet, "no list of files");
  io::SkyPosition& position = arguments->position;
  command
      ->add_option("--ra", position.right_ascension, "right ascension of the middle of images in degrees (default: 0)")
      ->check(number_between(0, 360));
  command->add_option("--dec", position.declination, "declination of the middle of images in degrees (default: 0)")
      ->check(number_between(-90, 90));
  command
      ->add_option("--pa", position.position_angle,
                   "position angle of the upward direction, from north through east, in degrees (default: 0)")
      ->check(number_between(-360, 360));
  command
      ->add_option("--bits", arguments->picture.bits, "bits of a colour in pictures of volumes: 8 or 16 (default: 8)")
      ->check(CLI::IsMember({8, 16}));
  command->add_flag("--transparent", arguments->picture.transparent,
                    "pictures of volumes with opacity (RGBA; default: on black)");
  command->add_flag("--no-caveats", arguments->no_caveats,
                    "pictures without the lines about noise, a run that was cut and light beyond the sides");
  arguments->command = command;
  command->callback([arguments, &action] {
    arguments->picture.caveats = !arguments->no_caveats;
    action = [arguments] { return run_export(*arguments); };
  });
}

}  // namespace thor::command
