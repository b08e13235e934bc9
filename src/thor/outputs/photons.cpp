#include "thor/outputs/photons.hpp"

#include <algorithm>
#include <vector>

#include "thor/config/section.hpp"
#include "thor/core/parallel_for.hpp"
#include "thor/datasets/medium.hpp"
#include "thor/outputs/binned.hpp"

namespace thor {
namespace {

/// The fates with their numbers: "escaped=2 absorbed=3 ... in_flight=0,1".
std::string fate_names() {
  std::string text;
  for (const FateInfo& fate : fates) {
    text += std::string(text.empty() ? "" : " ") + fate.name + "=" + std::to_string(int(fate.phase));
    if (is_in_flight(fate.phase)) text += "," + std::to_string(int(Phase::collide));
  }
  return text;
}

}  // namespace

const config::Section<PhotonsOutput>& PhotonsOutput::section() {
  using namespace config;
  using enum PhotonField;
  static const Section<PhotonsOutput> section = [] {
    Section<PhotonsOutput> s("");
    s.choice(
        "of", &PhotonsOutput::of,
        std::vector<Option<PhotonsOf>>{
            {"original", PhotonsOf::original, "photons, as they end"},
            {"peel", PhotonsOf::peel,
             "light that every event sends to the `observer`: id and generator of the photon, luminosity, velocity and "
             "the position of the event; on processors"}},
        {.meaning = "content of a row", .fallback = "original"});
    s.text("observer", &PhotonsOutput::observer, "the name of an observer",
           [](const std::string& name) { return !name.empty(); },
           {.meaning = "observer whose light is kept", .example = "face", .when = {"of", {"peel"}}});
    s.choices("fields", &PhotonsOutput::fields,
              std::vector<Option<PhotonField>>{
                  {"id", id, "number of the photon, which determines its history together with the seed"},
                  {"weight", weight, "luminosity that the photon stands for"},
                  {"velocity_initial", velocity_initial, "c(λ/λ₀ − 1) at emission"},
                  {"velocity_final", velocity_final, "c(λ/λ₀ − 1) at the end"},
                  {"velocity_scattered", velocity_scattered,
                   "c(λ/λ₀ − 1) after the last scattering, without the Hubble flow since then"},
                  {"position", position, "position of the last scattering, or of emission"},
                  {"direction", direction, "direction of the last flight"},
                  {"scatterings", scatterings, "number of scatterings by the line"},
                  {"column", column, "column density of the absorber along the path"},
                  {"position_initial", position_initial, "position of emission"},
                  {"generator", generator, "number of the generator, from 0"},
                  {"source", source,
                   "number of the source: its row in the list or the file of a mesh, or the cell (x n_y + y) n_z + z "
                   "of a grid"},
              },
              {.meaning = "fields that are kept; by default all",
               .example = "[id, velocity_final]",
               .when = {"of", {"original"}}});
    return s;
  }();
  return section;
}

PhotonStream::PhotonStream(const PhotonsOutput& output, const Medium& medium, const std::vector<bool>& of_cells,
                           const FrequencyAxis& axis, double sharing, io::ArrayOutput& file)
    : file_(file),
      axis_(axis),
      size_(medium.size),
      cross_section_(medium.cross_section),
      sharing_(sharing),
      of_cells_(of_cells) {
  const auto open = [&]<class T>(Field<T>& field, const char* name, int width, const char* units, const char* what) {
    field.wanted = true;
    field.column = file.column<T>(std::string("/photons/original/") + name, std::size_t(width), units, what);
  };
  const auto wants = [&](config::PhotonField f) { return std::ranges::count(output.fields, f) > 0; };
  using F = config::PhotonField;
  if (wants(F::id)) open(id_, "id", 1, "", "number of the photon; with the seed it fixes its history");
  if (wants(F::weight)) open(weight_, "weight", 1, "erg s-1", "luminosity that the photon stands for");
  if (wants(F::velocity_initial)) {
    open(velocity_initial_, "velocity_initial", 1, "km s-1", "c (lambda/lambda_0 - 1) at emission");
  }
  if (wants(F::velocity_final)) {
    open(velocity_final_, "velocity_final", 1, "km s-1", "c (lambda/lambda_0 - 1) at the end");
  }
  if (wants(F::velocity_scattered)) {
    open(velocity_scattered_, "velocity_scattered", 1, "km s-1",
         "c (lambda/lambda_0 - 1) as it left its last scattering");
  }
  if (wants(F::position)) open(position_, "position", 3, "cm", "where it last scattered, or was emitted");
  if (wants(F::direction)) open(direction_, "direction", 3, "", "unit vector of its last flight");
  if (wants(F::scatterings)) open(scatterings_, "scatterings", 1, "", "scatterings by the line");
  if (wants(F::column)) open(column_, "column", 1, "cm-2", "column density of the absorber along its way");
  if (wants(F::position_initial)) {
    open(position_initial_, "position_initial", 3, "cm", "where it was emitted; of a beam: where it entered the gas");
  }
  if (wants(F::generator)) open(generator_, "generator", 1, "", "which of the configuration's generators emitted it");
  if (wants(F::source)) {
    open(
        source_, "source", 1, "",
        "which source of the generator: the row of the list of sources or of the leaf or site in its file, or the cell "
        "(x n_y + y) n_z + z of a grid");
    if (medium.mesh && std::ranges::count(of_cells_, true) > 0) rows_ = medium.mesh->rows();
  }
  open(fate_, "fate", 1, "", "what became of it, by the numbers of the attribute names");
}

void PhotonStream::finish() { file_.attribute("/photons/original/fate", "names", fate_names()); }

void PhotonStream::accept(std::span<const Photon> photons) {
  // A device hands over some 10^5 photons at once, which one thread would convert more slowly than they come.
  const auto append = [&]<class T>(Field<T>& field, std::size_t width, auto value) {
    if (!field.wanted) return;
    std::vector<T> values(width * photons.size());
    const auto convert = [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) {
        for (std::size_t k = 0; k < width; ++k) values[width * i + k] = value(photons[i], k);
      }
    };
    parallel_for(std::min(available_threads(), 4), photons.size(), 16384, convert, true);
    field.column.append(values);
  };
  const auto scalar = [&](auto& field, auto value) {
    append(field, 1, [&](const Photon& p, std::size_t) { return value(p); });
  };
  const auto vector = [&](Field<double>& field, double scale, auto member) {
    append(field, 3, [&](const Photon& p, std::size_t k) { return scale * (p.*member)[k]; });
  };
  scalar(id_, [](const Photon& p) { return p.id; });
  scalar(weight_, [&](const Photon& p) { return p.weight / sharing_; });
  scalar(velocity_initial_, [&](const Photon& p) { return velocity(axis_, p.frequency_initial) / constants::km; });
  scalar(velocity_final_, [&](const Photon& p) { return velocity(axis_, p.frequency_final) / constants::km; });
  scalar(velocity_scattered_, [&](const Photon& p) { return velocity(axis_, p.frequency_scattered) / constants::km; });
  vector(position_, size_, &Photon::position);
  vector(direction_, 1, &Photon::direction);
  vector(position_initial_, size_, &Photon::position_initial);
  scalar(generator_, [](const Photon& p) { return std::int64_t(p.generator); });
  scalar(source_, [this](const Photon& p) {
    const bool of_cell = !rows_.empty() && of_cells_[std::size_t(p.generator)];
    return of_cell ? std::uint64_t(rows_[std::size_t(p.source)]) : p.source;
  });
  scalar(scatterings_, [](const Photon& p) { return p.scatterings; });
  scalar(column_, [&](const Photon& p) { return p.column / cross_section_; });
  scalar(fate_, [](const Photon& p) { return std::int64_t(p.fate); });
}

PeelStream::PeelStream(const PhotonsOutput& output, const SkyFrame& sky, const FrequencyAxis& axis, double sharing,
                       io::ArrayOutput& file)
    : axis_(axis), sky_(sky), sharing_(sharing) {
  const std::string group = "/photons/peel";
  id_ = file.column<std::uint64_t>(group + "/id", 1, "", "number of the photon");
  generator_ = file.column<std::int64_t>(group + "/generator", 1, "", "number of its generator, from 0");
  light_ = file.column<double>(group + "/light", 1, "erg s-1",
                               "luminosity that the observer sees, as if it were the same in all directions");
  velocity_ = file.column<double>(group + "/velocity", 1, "km s-1", "c (lambda/lambda_0 - 1) as the observer sees it");
  position_ = file.column<double>(group + "/position", 3, "cm", "of the scattering or emission that sends it");
  write_attributes(file, group, config::Sight{.observer = output.observer}, sky);
}

void PeelStream::accept(std::span<const Seen> light) {
  std::vector<std::uint64_t> id;
  std::vector<std::int64_t> generator;
  std::vector<double> luminosity, velocities, position;
  for (const Seen& seen : light) {
    id.push_back(seen.id);
    generator.push_back(seen.generator);
    luminosity.push_back(seen.light / sharing_);
    const double frequency = seen.frequency + to_rest(sky_, seen.position, sky_.towards);
    velocities.push_back(velocity(axis_, frequency) / constants::km);
    for (int k = 0; k < 3; ++k) {
      position.push_back(sky_.centre[k] + nearest(sky_, k, seen.position[k] * sky_.size - sky_.centre[k]));
    }
  }
  id_.append(id), generator_.append(generator), light_.append(luminosity), velocity_.append(velocities),
      position_.append(position);
}

}  // namespace thor
