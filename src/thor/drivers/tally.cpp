#include "thor/drivers/tally.hpp"

namespace thor {

void Tally::accept(const Photon& photon) {
  luminosity_emitted += photon.weight;
  scatterings += std::uint64_t(photon.scatterings);
  steps += std::uint64_t(photon.steps);
  switch (photon.fate) {
    case Phase::escaped:
      ++escaped, luminosity_escaped += photon.weight;
      break;
    case Phase::absorbed:
      ++absorbed, luminosity_absorbed += photon.weight;
      break;
    case Phase::lost:
      ++lost, luminosity_lost += photon.weight;
      break;
    default:
      ++in_flight, luminosity_in_flight += photon.weight;
      break;
  }
  for (Spectrum& s : spectra) s.accept(photon);
}

void Tally::merge(const Tally& other) {
  escaped += other.escaped, absorbed += other.absorbed, lost += other.lost, in_flight += other.in_flight;
  scatterings += other.scatterings, steps += other.steps;
  luminosity_emitted += other.luminosity_emitted, luminosity_escaped += other.luminosity_escaped;
  luminosity_absorbed += other.luminosity_absorbed, luminosity_lost += other.luminosity_lost;
  luminosity_in_flight += other.luminosity_in_flight;
  for (std::size_t i = 0; i < spectra.size(); ++i) spectra[i].merge(other.spectra[i]);
}

void Tally::write(io::File& file) const {
  const auto set = [&](const char* name, auto value) { file.attribute("/summary", name, value); };
  set("photons", photons());
  set("escaped", escaped);
  set("absorbed", absorbed);
  set("stopped", std::uint64_t(0));  // no stopping surface yet
  set("lost", lost);
  set("in_flight", in_flight);
  set("scatterings", scatterings);
  set("steps", steps);
  set("luminosity_emitted", luminosity_emitted);
  set("luminosity_escaped", luminosity_escaped);
  set("luminosity_absorbed", luminosity_absorbed);
  set("luminosity_lost", luminosity_lost);
  set("luminosity_in_flight", luminosity_in_flight);
  for (const Spectrum& s : spectra) s.write(file);
}

}  // namespace thor
