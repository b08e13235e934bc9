#include <fmt/format.h>
#include <fmt/ranges.h>

#include "thor/config/nearest.hpp"
#include "thor/drivers/mcrt/setup.hpp"

namespace thor {

Line choose_line(const config::Config& config, const Refuse& refuse) {
  const std::vector<Line> list = config.line_list.empty() ? lines() : read_lines(config.line_list);
  const Line* found = find_line(list, config.line);
  if (!found) {
    std::vector<std::string> names;
    for (const Line& line : list) names.push_back(line.name);
    refuse("line", fmt::format("expected a line of `thor lines` or of line_list, got \"{}\"{} (lines: {})", config.line,
                               config::suggestion(config.line, names), fmt::join(names, ", ")));
    return list.front();
  }
  Line line = *found;
  if (config.physics.deuterium > 0 && !line.set_deuterium(config.physics.deuterium)) {
    refuse("physics.deuterium", "line " + line.name + " has no transition of deuterium");
  }
  if (config.acceleration.core_skip.mode != config::CoreSkipMode::none) {
    for (const AtomicTransition* t : line.absorbing()) {
      if (line.fluorescence(*t).empty()) continue;
      refuse("acceleration.core_skip", "skips scatterings, each of which could end in fluorescence of " + t->name +
                                           ": set it to none for line " + line.name);
      break;
    }
  }
  return line;
}

}  // namespace thor
