#pragma once
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "thor/config/section.hpp"

/// Keys that operators have in common.
namespace thor::config {

inline constexpr std::size_t most_factors = 4;  ///< of a product

/// The factors of a product such as "density * metallicity"; empty if it is none.
std::vector<std::string> factors_of(const std::string& product);
/// The name of an array with the values of a product.
std::string array_name_of(const std::string& product);
/// The names in a list such as "density, temperature".
std::vector<std::string> listed(const std::string& names);

bool is_name(const std::string& text);
inline bool is_product(const std::string& text) { return !factors_of(text).empty(); }

inline constexpr Bounds lengths_of_space{.low = 1e-10, .high = 1e32};

template <class T>
void declare_name(Section<T>& s, const char* example) {
  s.text("name", &T::name, "a name of at most 100 letters, digits, _ and -", is_name,
         {.meaning = "name in the result file; no two share one", .example = example});
}

template <class T>
void declare_camera(Section<T>& s) {
  s.text("camera", &T::camera, "the name of a camera", [](const std::string& name) { return !name.empty(); },
         {.meaning = "name of one of the `cameras`", .example = "face"});
}

template <class T, class Field>
void declare_field(Section<T>& s, Field field, const char* example) {
  s.text("field", field, "a field, or a product such as density * metallicity", is_product,
         {.meaning = "array of the grid, `velocity` (along the ray, away from the camera), or a product of fields",
          .example = example});
}

template <class T, class Field>
void declare_optional_field(Section<T>& s, const char* key, Field field, const char* meaning) {
  s.text(key, field, "a field, or a product", [](const std::string& text) { return text.empty() || is_product(text); },
         {.meaning = meaning, .fallback = ""});
}

template <class T>
void declare_samples(Section<T>& s) {
  s.integer("samples", &T::samples, 1, 16,
            {.meaning = "number of rays along each side of a pixel (of a cell, where a grid's cells are smaller)",
             .fallback = "1"});
}

}  // namespace thor::config
