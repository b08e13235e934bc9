#pragma once
#include <algorithm>
#include <array>
#include <type_traits>

#include "thor/config/schema.hpp"

namespace thor::config {

/// Name of a value, such as "single" for Precision::single_.
template <class E>
struct Option {
  std::string name;
  E value;
  std::string meaning;
};

/// The declaration of a struct T as a map of keys. A field is a pointer to a member of T, or a function that returns
/// a reference to the value.
template <class T>
class Section {
 public:
  explicit Section(std::string meaning) { schema_.meaning = std::move(meaning); }

  template <class Field>
  void number(std::string key, Field field, Bounds bounds, Spec spec) {
    quantity(std::move(key), field, Dimension::none, bounds, std::move(spec));
  }

  template <class Field>
  void quantity(std::string key, Field field, Dimension dimension, Bounds bounds, Spec spec) {
    Parameter& p = add(std::move(key), Kind::quantity, std::move(spec));
    p.dimensions = {dimension};
    p.bounds = bounds;
    set_read(p, [key = p.key, fallback = p.spec.fallback, field, dimension, bounds](Reader& reader, T& object) {
      std::invoke(field, object) = reader.quantity(key, dimension, bounds, fallback);
    });
  }

  /// A length across the line of sight, given as such or as an angle on the sky (Reader::set_angle).
  template <class Field>
  void sky_length(std::string key, Field field, Bounds bounds, Spec spec) {
    Parameter& p = add(std::move(key), Kind::quantity, std::move(spec));
    p.dimensions = {Dimension::length, Dimension::angle};
    p.bounds = bounds;
    set_read(p, [key = p.key, fallback = p.spec.fallback, field, bounds](Reader& reader, T& object) {
      std::invoke(field, object) = reader.sky_length(key, bounds, fallback);
    });
  }

  /// An optional quantity; the field is a std::optional.
  template <class Field>
  void optional_quantity(std::string key, Field field, Dimension dimension, Bounds bounds, Spec spec) {
    quantity(std::move(key), field, dimension, bounds, std::move(spec));
    Parameter& p = schema_.parameters.back();
    p.required = false;
    p.read = [key = p.key, read = p.read](Reader& reader, void* object) {
      if (reader.has(key)) read(reader, object);
    };
  }

  template <class Field>
  void vector(std::string key, Field field, Dimension dimension, Bounds bounds, Spec spec) {
    Parameter& p = add(std::move(key), Kind::quantities, std::move(spec));
    p.dimensions = {dimension};
    p.bounds = bounds;
    p.size = 3;
    set_read(p, [key = p.key, fallback = p.spec.fallback, field, dimension, bounds](Reader& reader, T& object) {
      const auto v = reader.quantities(key, 3, dimension, bounds, fallback);
      std::invoke(field, object) = {v[0], v[1], v[2]};
    });
  }

  /// [low, high] with low < high, in one of the dimensions; `set(object, low, high, dimension)`.
  template <class Set>
  void interval(std::string key, Set set, std::vector<Dimension> dimensions, Bounds bounds, Spec spec) {
    Parameter& p = add(std::move(key), Kind::quantities, std::move(spec));
    p.dimensions = std::move(dimensions);
    p.bounds = bounds;
    p.size = 2;
    p.increasing = true;
    set_read(p, [key = p.key, dims = p.dimensions, set, bounds](Reader& reader, T& object) {
      Dimension dimension = dims.front();
      for (const Dimension d : dims) {
        if (reader.dimension(key) == d) dimension = d;
      }
      const auto v = reader.quantities(key, 2, dimension, bounds, {});
      if (v[0] >= v[1]) reader.report(key, "must increase: the first value is not below the second");
      set(object, v[0], v[1], dimension);
    });
  }

  template <class Field>
  void integer(std::string key, Field field, std::uint64_t low, std::uint64_t high, Spec spec) {
    Parameter& p = add(std::move(key), Kind::integer, std::move(spec));
    p.low = low;
    p.high = high;
    set_read(p, [key = p.key, fallback = p.spec.fallback, field, low, high](Reader& reader, T& object) {
      std::invoke(field, object) = reader.integer(key, low, high, fallback);
    });
  }

  /// A text for which `is_good(text)` holds; `expected` describes it in messages.
  template <class Field, class Good>
  void text(std::string key, Field field, std::string expected, Good is_good, Spec spec) {
    Parameter& p = add(std::move(key), Kind::text, std::move(spec));
    p.expected = std::move(expected);
    set_read(
        p, [key = p.key, fallback = p.spec.fallback, field, expected = p.expected, is_good](Reader& reader, T& object) {
          auto& value = std::invoke(field, object);
          value = reader.text(key, expected, fallback);
          if (reader.clean(key) && !is_good(value)) {
            reader.report(key, "expected " + expected + ", got \"" + value + "\"");
          }
        });
  }

  template <class Field, class E>
  void choice(std::string key, Field field, std::vector<Option<E>> options, Spec spec) {
    Parameter& p = add(std::move(key), Kind::choice, std::move(spec));
    p.words = words(options);
    set_read(p, [key = p.key, spec = p.spec, field, options](Reader& reader, T& object) {
      const auto fallback = spec.fallback_in([&](const std::string& other) { return reader.has(other); });
      const auto index = reader.choice(key, names(options), fallback);
      if (index) std::invoke(field, object) = options[*index].value;
    });
  }

  template <class Field>
  void boolean(std::string key, Field field, Spec spec) {
    choice<Field, bool>(std::move(key), field, {{"true", true, ""}, {"false", false, ""}}, std::move(spec));
  }

  /// A list of options, each at most once; by default all of them.
  template <class Field, class E>
  void choices(std::string key, Field field, std::vector<Option<E>> options, Spec spec) {
    Parameter& p = add(std::move(key), Kind::choices, std::move(spec));
    p.words = words(options);
    p.required = false;
    set_read(p, [key = p.key, field, options](Reader& reader, T& object) {
      for (const std::size_t i : reader.choices(key, names(options))) {
        std::invoke(field, object).push_back(options[i].value);
      }
    });
  }

  /// One of the options, or a map of keys.
  template <class Field, class E>
  void choice_or_map(std::string key, Field field, std::vector<Option<E>> options, const Section<E>& section,
                     Spec spec) {
    choice(key, field, options, std::move(spec));
    Parameter& p = schema_.parameters.back();
    p.section = &section.schema();
    p.read = [key, field, &section, read_choice = p.read](Reader& reader, void* object) {
      if (!reader.is_map(key)) return read_choice(reader, object);
      std::invoke(field, *static_cast<T*>(object)) = section.read(*reader.map(key));
    };
  }

  /// A nested map. It is required, or may be absent and then has all defaults (fallback "{}"), or is optional if the
  /// field is a std::optional.
  template <class Field, class U>
  void map(std::string key, Field field, const Section<U>& section, Spec spec) {
    constexpr bool optional = !std::is_same_v<std::remove_cvref_t<std::invoke_result_t<Field, T&>>, U>;
    Parameter& p = add(std::move(key), Kind::section, std::move(spec));
    p.section = &section.schema();
    if (optional) p.required = false;
    set_read(p, [key = p.key, required = p.required, field, &section](Reader& reader, T& object) {
      const bool is_there = reader.has(key);
      if (optional && !is_there) return;
      if (required && !is_there) return reader.report(key, "missing; expected a map of keys");
      if (auto below = reader.map(key)) std::invoke(field, object) = section.read(*below);
    });
  }

  /// A list of maps: at least one, or any number if there is a fallback ("[]").
  template <class Field, class U>
  void list(std::string key, Field field, const Section<U>& section, Spec spec) {
    Parameter& p = add(std::move(key), Kind::sections, std::move(spec));
    p.section = &section.schema();
    set_read(p, [key = p.key, required = p.required, field, &section](Reader& reader, T& object) {
      for (Reader& item : reader.list(key, required)) std::invoke(field, object).push_back(section.read(item));
    });
  }

  /// Declares that exactly one of these keys must be given.
  void exactly_one(std::vector<std::string> keys) {
    for (Parameter& p : schema_.parameters) {
      for (const auto& key : keys) p.required = p.required && p.key != key;
    }
    schema_.groups.push_back(std::move(keys));
  }

  /// The keys of another section among these, where the choice `when` is made: `part(object)` points to what they fill,
  /// or is null where another choice was made. A key that several of them have in common is shown once.
  template <class U, class Part>
  void include(const Section<U>& section, Part part, const Condition& when) {
    for (Parameter p : section.schema_.parameters) {
      const bool always = p.spec.when.key.empty();  // whenever the choice is made
      if (always) p.spec.when = when;
      p.read = [read = p.read, part](Reader& reader, void* object) {
        if (auto* const own = part(*static_cast<T*>(object))) read(reader, own);
      };
      const auto same = std::find_if(schema_.parameters.begin(), schema_.parameters.end(), [&](const Parameter& q) {
        const Condition& c = q.spec.when;
        return q.key == p.key && q.spec.meaning == p.spec.meaning && c.key == p.spec.when.key &&
               (always || c.values == p.spec.when.values);
      });
      if (same == schema_.parameters.end()) {
        schema_.parameters.push_back(std::move(p));
        continue;
      }
      if (always) same->spec.when.values.insert(same->spec.when.values.end(), when.values.begin(), when.values.end());
      same->read = [others = same->read, read = p.read](Reader& reader, void* object) {
        others(reader, object);
        read(reader, object);
      };
    }
    check([&section, part](Reader& reader, T& object) {
      U* const own = part(object);
      for (const auto& check : section.checks_) {
        if (own) check(reader, *own);
      }
    });
  }

  /// Function `check(reader, object)` to call after all keys are read.
  template <class Check>
  void check(Check check) {
    checks_.emplace_back(check);
  }

  T read(Reader reader) const {
    T object{};
    read_parameters(schema_, reader, &object);
    for (const auto& check : checks_) check(reader, object);
    return object;
  }

  const Schema& schema() const { return schema_; }

 private:
  template <class>
  friend class Section;

  Parameter& add(std::string key, Kind kind, Spec spec) {
    Parameter p;
    p.key = std::move(key);
    p.kind = kind;
    p.spec = std::move(spec);
    p.required = !p.spec.fallback;
    return schema_.parameters.emplace_back(std::move(p));
  }
  template <class F>
  static void set_read(Parameter& p, F read) {
    p.read = [read](Reader& reader, void* object) { read(reader, *static_cast<T*>(object)); };
  }
  template <class E>
  static std::vector<std::string> names(const std::vector<Option<E>>& options) {
    std::vector<std::string> result;
    for (const auto& option : options) result.push_back(option.name);
    return result;
  }
  template <class E>
  static std::vector<Word> words(const std::vector<Option<E>>& options) {
    std::vector<Word> result;
    for (const auto& option : options) result.push_back({option.name, option.meaning});
    return result;
  }

  Schema schema_;
  std::vector<std::function<void(Reader&, T&)>> checks_;
};

}  // namespace thor::config
