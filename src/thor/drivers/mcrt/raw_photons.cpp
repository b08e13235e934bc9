#include "thor/drivers/mcrt/raw_photons.hpp"

#include <fmt/format.h>

namespace thor {

RawPhotons::RawPhotons(const config::Config& config, const Setup& setup, std::uint64_t sharing, io::ArrayOutput& file,
                       Dropped dropped)
    : dropped_(std::move(dropped)) {
  const FrequencyAxis axis = frequency_axis(setup);
  std::vector<bool> of_cells;
  for (const auto& generator : config.generators) of_cells.push_back(generator.type == config::GeneratorType::gas);
  if (config.photons) photons_.emplace(*config.photons, setup.medium, of_cells, axis, double(sharing), file);
  if (config.peeled) {
    const SkyFrame sky = output_context(config, setup).sky({.observer = config.peeled->observer});
    peeled_.emplace(*config.peeled, sky, axis, double(sharing), file);
  }
}

template <class Stream, class Batch>
void RawPhotons::put(std::optional<Stream>& stream, const Batch& batch) {
  try {
    if (stream) stream->accept(batch);
  } catch (const Error& e) {
    if (e.code() != ExitCode::output) throw;
    drop(e, fmt::format("{}; the run goes on, and keeps all but raw photons", e.what()));
  }
}

Sink RawPhotons::sink() {
  Sink sink;
  if (photons_) sink = Sink([this](std::span<const Photon> batch) { put(photons_, batch); });
  if (peeled_) sink.seen = [this](std::span<const Seen> batch) { put(peeled_, batch); };
  return sink;
}

void RawPhotons::drop(const Error& why, const std::string& text) {
  photons_.reset(), peeled_.reset();
  dropped_(why, text);
}

void RawPhotons::finish() {
  if (photons_) photons_->finish();
}

std::optional<std::uint64_t> RawPhotons::rows() const {
  return photons_ ? std::optional(photons_->rows()) : std::nullopt;
}

std::optional<std::uint64_t> RawPhotons::rows_of_peel() const {
  return peeled_ ? std::optional(peeled_->rows()) : std::nullopt;
}

}  // namespace thor
