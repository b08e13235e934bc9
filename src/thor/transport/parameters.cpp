#include "thor/transport/parameters.hpp"

#include "thor/config/section.hpp"

namespace thor::config {
namespace {

const Section<CoreSkip>& fixed_section() {
  static const Section<CoreSkip> section = [] {
    Section<CoreSkip> s("A fixed critical frequency.");
    s.number("fixed", &CoreSkip::x_crit, non_negative,
             {.meaning = "critical frequency x_crit, in thermal widths", .example = "3"});
    s.check([](Reader&, CoreSkip& skip) { skip.mode = CoreSkipMode::fixed; });
    return s;
  }();
  return section;
}

}  // namespace

const Section<Acceleration>& acceleration_section() {
  static const Section<Acceleration> section = [] {
    Section<Acceleration> s(
        "Core skipping leaves out scatterings within |x| < x_crit, and with them path: with dust, absorption on the "
        "hidden path is made up for ([validation](validation.md#dusty-slab)); the `column` of a photon is not. A fixed "
        "x_crit is taken "
        "as it is: above 0.2 (a τ_loc)^{1/3} it biases the result "
        "([validation](validation.md#core-skipping-and-precision)); "
        "`run` and `check` warn where that is so, and with dust above 2.\n\n"
        "Sphere jumps replace all scatterings inside the largest sphere of homogeneous gas around a photon by one draw "
        "from tables of exact histories ([acceleration](acceleration.md)); the `column` of a photon and its number "
        "of scatterings are those of the whole history.");
    using enum CoreSkipMode;
    s.choice_or_map("core_skip", &Acceleration::core_skip,
                    std::vector<Option<CoreSkip>>{
                        {"none", {none, 0}, "every scattering is followed"},
                        {"local",
                         {local, 0},
                         "x_crit = 0.2 (a τ_loc)^{1/3} where a τ_loc ≥ 1, τ_loc over the shortest of the distance to "
                         "the edge, v_th/|dv/ds| and ρ/|∇ρ| (Smith et al. 2015)"},
                        {"smith15", {local, 0}, "alias of `local`"},
                        {"global", {global, 0}, "as `local`, with τ_loc = τ₀"},
                    },
                    fixed_section(),
                    {.meaning = "choice of x_crit for core skipping; `{fixed: 3}` sets it", .fallback = "none"});
    s.boolean("jumps", &Acceleration::jumps,
              {.meaning = "sphere jumps: photons in the line core leave spheres of homogeneous gas in one draw",
               .fallback = "true",
               .beside = {"core_skip", "false"}});
    s.number("jump_depth", &Acceleration::jump_depth, positive,
             {.meaning = "largest line-centre optical depth of a sphere's radius", .fallback = "1e30"});
    s.number("jump_shear", &Acceleration::jump_shear, positive,
             {.meaning = "largest change of the velocity over the radius of a sphere, in thermal speeds",
              .fallback = "0.01"});
    s.number("jump_gradient", &Acceleration::jump_gradient, {.low = 0, .high = 1, .low_open = true},
             {.meaning = "largest relative change of the density over the radius of a sphere", .fallback = "0.1"});
    s.text("jump_tables", &Acceleration::jump_tables, "a file name", [](const std::string&) { return true; },
           {.meaning =
                "file of sphere-jump tables that replace the built-in ones; its path is relative to the configuration",
            .fallback = ""});
    s.check([](Reader& reader, Acceleration& a) {
      if (!a.jumps && a.core_skip.mode == CoreSkipMode::none && reader.has("core_skip") && !reader.has("jumps")) {
        a.note.text = "core_skip: none turns sphere jumps off: remove it to use jumps, or set jumps: false";
      }
      if (!a.jumps) return;
      if (a.core_skip.mode != CoreSkipMode::none) {
        reader.report("jumps", "sphere jumps and core skipping exclude each other: remove either");
      } else if (reader.has("core_skip")) {
        a.note.text = "core_skip: none has no effect with jumps: true; jumps: false turns jumps off";
      }
      reader.omit("core_skip");
    });
    return s;
  }();
  return section;
}

const Section<Limits>& limits_section() {
  static const Section<Limits> section = [] {
    Section<Limits> s("A photon that reaches a limit is lost; the number of lost photons is reported at the end.");
    s.integer(
        "max_scatterings", &Limits::max_scatterings, 1, Limits::most,
        {.meaning =
             "maximum number of scatterings per photon; any smaller value than the default turns sphere jumps off",
         .fallback = "2000000000"});
    s.integer("max_steps", &Limits::max_steps, 1, Limits::most,
              {.meaning = "maximum number of steps per photon: scatterings, cell crossings and sub-steps",
               .fallback = "2000000000"});
    return s;
  }();
  return section;
}

}  // namespace thor::config
