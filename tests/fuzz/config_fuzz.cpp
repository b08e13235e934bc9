// A libFuzzer target for the configuration reader. A line that begins with "--set " is an override, the rest is the
// file. A thor::Error is what a user should see; anything else is a finding. See run.sh.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "thor/core/error.hpp"
#include "thor/drivers/mcrt/config.hpp"

namespace {

using thor::config::Config;

const std::string name = "folder/f.yaml";

struct Input {
  std::string text;
  std::vector<std::string> overrides;
};

Input split(const std::string& bytes) {
  const std::string prefix = "--set ";
  Input input;
  for (std::size_t start = 0; start < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', start), bytes.size());
    const std::string line = bytes.substr(start, end - start);
    if (line.starts_with(prefix)) {
      input.overrides.push_back(line.substr(prefix.size()));
    } else {
      input.text += line + (end < bytes.size() ? "\n" : "");
    }
    start = end + 1;
  }
  return input;
}

[[noreturn]] void found(const char* what, const std::string& details) {
  std::fprintf(stderr, "FOUND: %s\n%s\n", what, details.c_str());
  std::abort();
}

/// A message must contain the position of the error.
void check_error(const thor::Error& error) {
  const std::string what = error.what();
  if (error.code() == thor::ExitCode::input) return;  // from a line list, which names its own file
  if (error.code() != thor::ExitCode::usage) found("an error that is not about usage", what);
  if (!what.starts_with(name) && !what.starts_with("--set ")) found("a message without a place", what);
}

/// The resolved configuration is stored in the result file, so it must reproduce the run.
void check_resolved(const Config& config) {
  try {
    const Config again = thor::config::parse(config.resolved, name);
    if (!(again == config)) found("the resolved configuration differs", config.resolved + "---\n" + again.resolved);
  } catch (const thor::Error& error) {
    found("the resolved configuration is refused", config.resolved + "---\n" + error.what());
  }
}

using Random = std::minstd_rand;

struct Piece {
  std::size_t begin, end;
};

/// Range between ": " or "=" and the end of a value.
std::vector<Piece> values_in(const std::string& text) {
  std::vector<Piece> pieces;
  for (std::size_t at = 0; (at = text.find_first_of(":=", at)) != std::string::npos; ++at) {
    pieces.push_back({at + 1, std::min(text.find_first_of(",}]\n", at), text.size())});
  }
  return pieces;
}

/// Values to try, with semicolons between them.
const std::string values =
    "0;-1;1e-300;1e300;nan;1e999;3 kpc;-2 km/s;1 nm;1e4 K;1e20 cm^-2;1 cm^-3;1 erg/s;1e15 Hz;true;x;slab;shell;"
    "power_law;linear;extended;beam;surface;medium;continuum;thermal;photons;wavelength;{fixed: 3};{profile: linear};"
    "[1 nm, 2 nm];[0, 0, 1];[1 pc, 0 pc, 0 pc];[];{};~;\"\";\"\\x00\";|\n  a;&a b;*a;18446744073709551615;"
    "4611686018427387904;\xff";

std::string any_value(Random& random) {
  const std::size_t before = values.rfind(';', random() % values.size());
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return " " + values.substr(begin, std::min(values.find(';', begin), values.size()) - begin);
}

/// Replacing values keeps the file well-formed more often than changing bytes.
void change_value(std::string& text, Random& random) {
  const auto pieces = values_in(text);
  if (pieces.empty()) return;
  const Piece to = pieces[random() % pieces.size()], from = pieces[random() % pieces.size()];
  const std::string value = random() % 2 ? text.substr(from.begin, from.end - from.begin) : any_value(random);
  text.replace(to.begin, to.end - to.begin, value);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  Random random(seed);
  if (random() % 2) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (unsigned i = random() % 4; i < 4; ++i) change_value(text, random);
  text.resize(std::min(text.size(), max_size));
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input = split(std::string(reinterpret_cast<const char*>(data), size));
  try {
    check_resolved(thor::config::parse(input.text, name, input.overrides));
  } catch (const thor::Error& error) {
    check_error(error);
  } catch (const std::exception& error) {
    found("an exception that is not a thor::Error", error.what());
  }
  return 0;
}
