#include "thor/io/array/input_zarr.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>

#include "thor/io/zarr/zarr.hpp"

namespace thor::io::detail {
namespace fs = std::filesystem;
using nlohmann::json;

ZarrType zarr_type(const json& dtype) {
  if (!dtype.is_string()) return {"compound", std::nullopt};
  const auto text = dtype.get<std::string>();
  if (text.size() != 3 || std::string_view("<>|").find(text[0]) == std::string_view::npos) return {text, std::nullopt};
  const unsigned bytes = unsigned(text[2]) - '0';
  const bool is_float = text[1] == 'f';
  if (!std::has_single_bit(bytes) || bytes > 8 || (is_float && bytes == 1)) return {text, std::nullopt};
  if (text[1] != 'i' && text[1] != 'u' && !is_float) return {text, std::nullopt};
  const bool big = text[0] == '>';
  const Number number{is_float         ? Number::Kind::floating
                      : text[1] == 'i' ? Number::Kind::signed_integer
                                       : Number::Kind::unsigned_integer,
                      bytes, big != (std::endian::native == std::endian::big)};
  const std::string kind = is_float ? "float" : text[1] == 'i' ? "int" : "uint";
  return {kind + std::to_string(8 * bytes), number};
}

Index zarr_extent(const json& meta, const char* key, const std::string& name) {
  const auto found = meta.find(key);
  const bool good = found != meta.end() && found->is_array() && found->size() <= 32 &&
                    std::ranges::all_of(*found, [](const json& n) { return n.is_number_unsigned(); });
  if (!good) fail_input(name, std::string("its .zarray has no '") + key + "' of integers");
  return found->get<Index>();
}

std::optional<double> zarr_number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

namespace {

constexpr std::uintmax_t longest_json = 1 << 26;

/// Python writes non-finite numbers as bare words, which JSON does not allow.
std::string quote_bare_words(const std::string& text) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') {
      out += text[i++];
      if (i < text.size()) out += text[i];
      continue;
    }
    if (text[i] == '"') in_string = !in_string;
    std::string_view word;
    for (const std::string_view known : {"NaN", "Infinity", "-Infinity"}) {
      if (!in_string && text.compare(i, known.size(), known) == 0) word = known;
    }
    if (word.empty()) {
      out += text[i];
    } else {
      out += '"' + std::string(word) + '"';
      i += word.size() - 1;
    }
  }
  return out;
}

}  // namespace

json zarr_json(const fs::path& file) {
  const std::string name = "'" + file.string() + "'";
  std::error_code error;
  const auto size = fs::file_size(file, error);
  if (error) fail_input(name, error.message());  // also for a pipe, which must not be opened
  std::ifstream in(file, std::ios::binary);
  if (!in) fail_input(name, "it cannot be opened");
  if (size > longest_json) fail_input(name, "it is too long");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  json out = json::parse(text, nullptr, false);
  if (out.is_discarded()) out = json::parse(quote_bare_words(text), nullptr, false);
  if (!out.is_object()) fail_input(name, "it is not a JSON object (an incomplete copy?)");
  return out;
}

namespace {

class Zarr final : public InputSource {
 public:
  explicit Zarr(const fs::path& path) : path_(path), name_("'" + path.string() + "'") {
    std::error_code error;
    if (zarr::is_group(path) || zarr::is_array(path)) return;
    if (fs::exists(path / "zarr.json", error)) {
      fail_input(name_, "it is zarr version 3; write it with zarr_format=2, or as HDF5");
    }
    fs::directory_iterator first(path, error);
    if (error) fail_input(name_, error.message());
    fail_input(name_, "it is a directory but not a zarr store (it has neither .zgroup nor .zarray)");
  }

  bool has(const std::string& object) const override {
    const std::string path = relative(object);
    return zarr::is_safe(path) && (zarr::is_group(path_ / path) || zarr::is_array(path_ / path));
  }

  std::vector<std::string> children(const std::string& object) const override {
    const std::string path = relative(object);
    if (!has(path) || !zarr::is_group(path_ / path)) fail_input(name_, "there is no group '" + path + "'");
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(path_ / path, error), end; !error && entry != end; entry.increment(error)) {
      if (zarr::is_group(entry->path()) || zarr::is_array(entry->path())) names.push_back(entry->path().filename());
    }
    if (error) fail_input(name_, "group '" + path + "': " + error.message());
    std::ranges::sort(names);
    return names;
  }

  ArrayInfo array(const std::string& path) const override {
    const json meta = metadata(path);
    const ZarrType type = zarr_type(meta.value("dtype", json()));
    return {zarr_extent(meta, "shape", array_name(path)), type.name, type.number.has_value()};
  }

  bool is_written(const std::string&) const override { return true; }

  bool has_attribute(const std::string& object, const std::string& name) const override {
    return !attribute(object, name).is_null();
  }

  std::vector<double> numbers(const std::string& object, const std::string& name) const override {
    const json value = attribute(object, name);
    std::vector<double> out;
    for (const auto& one : value.is_array() ? value : json::array({value})) {
      const auto number = zarr_number(one);
      if (!number) return {};
      out.push_back(*number);
    }
    return out;
  }

  std::optional<std::string> text(const std::string& object, const std::string& name) const override {
    const json value = attribute(object, name);
    return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
  }

  std::shared_ptr<const Storage> storage(const std::string& path) const override {
    // thor writes every chunk, and its version.
    const bool has_all_chunks = attribute("/", "thor_version").is_string();
    return zarr_storage(path_ / relative(path), metadata(path), array_name(path), has_all_chunks);
  }

 private:
  std::string array_name(const std::string& path) const { return name_ + ", array '" + relative(path) + "'"; }

  json metadata(const std::string& object) const {
    const std::string path = relative(object);
    if (!has(path) || !zarr::is_array(path_ / path)) fail_input(name_, "there is no array '" + path + "'");
    json meta = zarr_json(path_ / path / ".zarray");
    if (meta.value("zarr_format", json()) != 2) fail_input(array_name(path), "its zarr_format is not 2");
    return meta;
  }

  /// Null if there is none.
  json attribute(const std::string& object, const std::string& name) const {
    std::error_code error;
    const fs::path file = path_ / relative(object) / ".zattrs";
    if (!has(object) || !fs::exists(file, error)) return {};
    return zarr_json(file).value(name, json());
  }

  fs::path path_;
  std::string name_;
};

}  // namespace

std::unique_ptr<InputSource> open_zarr(const fs::path& path) { return std::make_unique<Zarr>(path); }

}  // namespace thor::io::detail
