#include "thor/drivers/rays/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "thor/config/nearest.hpp"
#include "thor/core/error.hpp"
#include "thor/datasets/dataset_type.hpp"
#include "thor/drivers/common_keys.hpp"

namespace thor::config {
namespace {

struct RaysFile {
  std::string path, frames;
};

const Section<RaysFile>& rays_file_section() {
  static const Section<RaysFile> section = [] {
    Section<RaysFile> s("The result file.");
    add_result_path(s, &RaysFile::path, "rays.h5");
    s.text("frames", &RaysFile::frames, "a folder", [](const std::string&) { return true; },
           {.meaning = "folder for the pictures of cameras that move; by default the name of the result with _frames",
            .fallback = ""});
    return s;
  }();
  return section;
}

struct RaytraceFile {
  Raytrace config;
  RaysFile output;
  Driver driver = Driver::raytrace;
};

void check_names(Reader& reader, RaytraceFile& file) {
  if (!reader.clean("cameras") || !reader.clean("operators")) return;
  std::vector<std::string> cameras;
  std::set<std::string> names;
  for (std::size_t i = 0; i < file.config.cameras.size(); ++i) {
    const std::string& name = file.config.cameras[i].name;
    if (std::ranges::count(cameras, name) > 0)
      reader.report(fmt::format("cameras.{}.name", i), "another camera has it");
    cameras.push_back(name);
  }
  for (std::size_t i = 0; i < file.config.operators.size(); ++i) {
    const auto report = [&](const char* key, const std::string& what) {
      reader.report(fmt::format("operators.{}.{}", i, key), what);
    };
    const Operator& op = file.config.operators[i];
    if (!names.insert(op->name()).second) report("name", "two operators are called \"" + op->name() + "\"");
    const std::string* const camera = op->camera();
    if (!camera) continue;
    if (std::ranges::count(cameras, *camera) == 0) {
      report("camera", cameras.empty() ? "there are no cameras: list them under the key cameras"
                                       : "there is no camera of this name" + suggestion(*camera, cameras));
    } else if (op->needs_parallel_rays() && file.config.camera(*camera).type != CameraType::orthographic) {
      report("camera", fmt::format("a {} needs an orthographic camera", op->type()));
    }
  }
}

/// Keys of the gas that rays have no use for would be ignored without a word.
void check_dataset(Reader& reader, RaytraceFile& file) {
  const Dataset& dataset = file.config.dataset;
  if (!reader.clean("dataset")) return;
  if (dataset.packed) reader.report("dataset.packed", "not possible with driver: raytrace; remove it");
  if (dataset.dust) reader.report("dataset.dust", "not possible with driver: raytrace; project the field dust instead");
  if (dataset.compact && file.config.precision == Precision::double_)
    reader.report("dataset.compact", compact_in_double);
  if (dataset.stop_shift)
    reader.report("dataset.stop_shift", "not possible with driver: raytrace; sightlines.length limits rays");
}

const Section<RaytraceFile>& raytrace_section() {
  static const Section<RaytraceFile> section = [] {
    Section<RaytraceFile> s("");
    const auto of_config = [](auto member) {
      return [member](RaytraceFile & file) -> auto& { return file.config.*member; };
    };
    s.choice("driver", &RaytraceFile::driver,
             std::vector<Option<Driver>>{{"raytrace", Driver::raytrace, "straight rays and operators along them"}},
             {.meaning = "kind of run: `mcrt` or `raytrace`", .example = "raytrace"});
    add_common_keys(
        s, of_config, {.meaning = "line whose `tau0` a shell, slab or cube has; not used in a grid", .fallback = "Lya"},
        "seed of random sightlines and of noise", "floating-point precision of the rays; fields have 32 bits");
    s.list("cameras", of_config(&Raytrace::cameras), camera_section(),
           {.meaning = "cameras for images of the operators", .fallback = "[]"});
    s.list("operators", of_config(&Raytrace::operators), operator_section(),
           {.meaning = "images and spectra that are computed along rays"});
    s.map("output", &RaytraceFile::output, rays_file_section(),
          {.meaning = "the result file and the frames of moving cameras"});
    s.check(check_names);
    s.check(check_dataset);
    return s;
  }();
  return section;
}

}  // namespace

const Camera& Raytrace::camera(const std::string& name) const {
  return *std::ranges::find(cameras, name, &Camera::name);
}

std::vector<std::string> Raytrace::input_files() const { return distinct({dataset.path, line_list}); }

Raytrace check_raytrace(Document document) {
  Tree resolved;
  Reader reader(document.tree, resolved, document.faults, "", document.tree.where);
  RaytraceFile file = raytrace_section().read(reader);
  if (!document.faults.empty()) throw Error(ExitCode::usage, to_text(document.faults));
  Raytrace config = std::move(file.config);
  document.place(config, file.output.path);
  if (!file.output.frames.empty()) config.frames = document.beside(file.output.frames);
  config.resolved = to_yaml(resolved);
  return config;
}

const Schema& raytrace_schema() { return raytrace_section().schema(); }

}  // namespace thor::config
