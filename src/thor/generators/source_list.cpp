#include "thor/generators/source_list.hpp"

#include <fmt/format.h>

#include "thor/core/message.hpp"
#include "thor/emission/stars.hpp"
#include "thor/generators/gas_lists.hpp"
#include "thor/generators/source_file.hpp"
#include "thor/generators/source_shares.hpp"

namespace thor {
namespace {

/// Whether a position, in units of the medium's size, is inside a medium without cells, in either precision.
bool is_inside(const Vec3<float>& p, const Medium& m) {
  const Vec3<double> q{p.x, p.y, p.z};
  return std::visit(
      [&]<class D>(const D& data) {
        if constexpr (requires { view<double>(data).locate(q); })
          return view<double>(data).locate(q) != outside && view<float>(convert<float>(data)).locate(p) != outside;
        else
          return false;
      },
      m.dataset);
}

/// Adds the places of a source and its copies to a list: the integers of a cell and the offset in it, or the position.
/// Whether each is inside the medium.
std::vector<bool> add_places(const std::array<double, 3>& position, const Medium& m, SourceList& list) {
  if (!m.mesh) {
    const Vec3<float> p{float(position[0] / m.size), float(position[1] / m.size), float(position[2] / m.size)};
    list.offset.insert(list.offset.end(), {p.x, p.y, p.z});
    return {is_inside(p, m)};
  }
  std::vector<bool> inside;
  for (const auto& site : m.mesh->copies({position[0] / m.size, position[1] / m.size, position[2] / m.size})) {
    const HostMesh::Site place = site.value_or(HostMesh::Site{});
    list.place.insert(list.place.end(), place.place.begin(), place.place.end());
    for (const double offset : place.offset) list.offset.push_back(float(offset));
    inside.push_back(site.has_value());
  }
  return inside;
}

double luminosity_of(const PointSource& p, const config::Generator& g) {
  if (g.brightness == config::Brightness::ionizing_rate) return emission::lya_of_ionizing_rate(p.brightness);
  if (g.brightness == config::Brightness::sfr) return emission::lya_of_sfr(p.brightness, g.efficiency);
  return p.brightness;
}

std::shared_ptr<const SourceList> list_points(const config::Generator& g, const Medium& m, std::uint64_t seed,
                                              Light& light) {
  SourceList list;
  std::vector<double> luminosities;  // 0 for a source outside the medium
  double outside_light = 0;
  std::uint64_t outside_sources = 0;
  SourceShares shares{g, 0};
  LeftOut cut;
  for (const PointSource& p : read_sources(g)) {
    const double luminosity = luminosity_of(p, g);
    for (const bool inside : add_places(p.position, m, list)) {
      if (!inside) {
        ++outside_sources;
        outside_light += luminosity;
      }
      if (g.frame == config::RestFrame::source) {
        for (const double v : p.velocity) list.velocity.push_back(float(v / m.thermal_speed));
      }
      const double here = inside ? luminosity : 0;
      luminosities.push_back(here);
      (shares.leaves_out(here) ? cut.luminosity : shares.sum) += here;
      cut.sources += shares.leaves_out(here) && here > 0 ? 1 : 0;
    }
  }
  if (outside_sources > 0) {
    warning("{}: {} of {} sources are outside the {} and were left out, with {:.3g} erg/s", g.path, outside_sources,
            luminosities.size(), m.mesh ? m.mesh->name() : "gas", outside_light);
  }
  light.sources = 0;
  for (const double l : luminosities) {
    const std::uint64_t slots = shares.slots(l);
    light.sources += shares.shines(l) ? 1 : 0;
    list.end.push_back(list.slots += slots);
    if (!shares.by_source()) continue;
    list.weight.push_back(slots > 0 ? l / double(slots) : 0);
    if (slots > 0) light.add(list.weight.back(), slots);
  }
  check_sources(shares, "sources", cut, list.slots);
  light.by_source = shares.by_source();
  if (!light.by_source) light.share(shares.sum, g.photons);
  list.set_order(order_of_slots(g, seed, list.slots));
  return std::make_shared<const SourceList>(std::move(list));
}

}  // namespace

std::shared_ptr<const SourceList> build_source_list(const config::Generator& generator, const Medium& medium,
                                                    std::uint64_t seed, Light& light) {
  if (generator.type == config::GeneratorType::gas) return GasLists(generator, medium, seed, {}, light).list(0);
  return list_points(generator, medium, seed, light);
}

}  // namespace thor
