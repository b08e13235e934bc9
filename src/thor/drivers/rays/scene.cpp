#include "thor/drivers/rays/scene.hpp"

#include <algorithm>

namespace thor {

std::string ion_of(const Line& line) {
  std::string ion = line.first().ion;
  std::erase(ion, ' ');
  return ion;
}

std::vector<std::string> RayScene::names() const {
  std::vector<std::string> names = own_names(), velocities;
  for (const std::string& name : names) {
    if (name.ends_with("velocity_x")) velocities.push_back(name.substr(0, name.size() - 2));
  }
  std::erase_if(names, [&](const std::string& name) { return std::ranges::count(velocities, name) > 0; });
  names.insert(names.end(), velocities.begin(), velocities.end());
  return names;
}

}  // namespace thor
