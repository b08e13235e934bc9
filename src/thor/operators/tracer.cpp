#include "thor/operators/tracer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "thor/operators/keys.hpp"
#include "thor/operators/ray_product.hpp"

namespace thor {
namespace {

/// Fields along sightlines, piece by piece.
class FieldTraces final : public RayProduct {
 public:
  FieldTraces(RayWork& work, std::size_t op, const config::TracerOperator& keys)
      : work_(work),
        op_(op),
        keys_(keys),
        names_(config::listed(keys_.fields)),
        sightlines_(work.sightlines(op, keys_.sightlines)) {
    for (std::size_t i = 0; i < sightlines_.begins.size(); ++i)
      pieces_ += pieces_of(sightlines_.rays, i, work.outline());
    work.require_memory(RayWork::key(op), bytes());
    for (std::size_t p = 0; p < work.parts(); ++p) {
      std::vector<FieldUse> uses;
      for (const std::string& name : names_) uses.push_back(work.gas(p).use(name));
      uses_.push_back(std::move(uses));
    }
    for (const FieldUse& use : uses_.front()) units_.push_back(use.units);
  }
  double rays() const override { return double(sightlines_.begins.size()); }
  double written() const override { return 0; }  // known when they are traced
  double bytes() const override { return bytes_of(pieces_); }
  void write(io::ArrayOutput* file) override;

 private:
  std::vector<double> trace(std::size_t sightline) const;
  double bytes_of(double pieces) const { return 8. * double(2 + names_.size()) * pieces; }

  RayWork& work_;
  const std::size_t op_;
  const config::TracerOperator& keys_;
  const std::vector<std::string> names_;
  const SightlineList sightlines_;
  double pieces_ = 0;  ///< of all sightlines
  std::vector<std::string> units_;
  std::vector<std::vector<FieldUse>> uses_;  ///< of each part
};

/// Pieces that this rank finds along a sightline, one after the other: begin, length, values.
std::vector<double> FieldTraces::trace(std::size_t sightline) const {
  const SightlineRays& rays = sightlines_.rays;
  const double length = work_.outline().length;
  std::vector<double> own;
  for (std::size_t p = 0; p < work_.parts(); ++p) {
    if (!work_.is_cut() && !work_.world.is_first()) break;
    Quantities quantities{};
    quantities.count = int(names_.size());
    for (std::size_t k = 0; k < names_.size(); ++k) quantities.quantity[k] = uses_[p][k].quantity;
    for (std::uint32_t r = rays.first[sightline]; r < rays.first[sightline + 1]; ++r) {
      work_.stop_if_due();
      const RayRun run = work_.engine(p).record(rays.rays[r], quantities);
      for (std::size_t k = 0; k < run.begins.size(); ++k) {
        own.push_back(run.begins[k] * length), own.push_back(run.lengths[k] * length);
        for (std::size_t f = 0; f < names_.size(); ++f) own.push_back(double(run.values[f][k]) * uses_[p][f].unit);
      }
    }
  }
  return own;
}

void FieldTraces::write(io::ArrayOutput* file) {
  const std::size_t fields = names_.size(), width = 2 + fields;
  std::vector<std::int64_t> offsets{0};
  std::vector<double> begins, lengths;
  std::vector<std::vector<double>> values(fields);
  const auto make_room = [&](std::size_t pieces) {  // there may be more of a model
    if (pieces <= begins.capacity()) return;
    pieces = std::max(pieces, 2 * begins.capacity());
    work_.require_memory(RayWork::key(op_), bytes_of(double(pieces)));
    begins.reserve(pieces), lengths.reserve(pieces);
    for (auto& of_field : values) of_field.reserve(pieces);
  };
  if (work_.world.is_first()) make_room(std::size_t(pieces_));
  for (std::size_t i = 0; i < sightlines_.begins.size(); ++i) {
    std::vector<double> own = trace(i);
    work_.progress(1);
    if (!work_.world.is_alone()) own = at_first(work_.world, own);
    if (!work_.world.is_first()) continue;
    std::vector<std::size_t> order(own.size() / width);
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return own[k * width]; });
    make_room(begins.size() + order.size());
    for (const std::size_t k : order) {
      begins.push_back(own[k * width]), lengths.push_back(own[k * width + 1]);
      for (std::size_t f = 0; f < fields; ++f) values[f].push_back(own[k * width + 2 + f]);
    }
    offsets.push_back(std::int64_t(begins.size()));
  }
  if (!work_.world.is_first()) return;
  const std::string group = "/traces/" + keys_.name;
  file->write(group + "/first", offsets, "", "pieces of sightline i are first[i] to first[i + 1]");
  file->write(group + "/begin", begins, "cm", "where a piece begins along its sightline");
  file->write(group + "/length", lengths, "cm", "of a piece");
  for (std::size_t f = 0; f < fields; ++f) {
    file->write(group + "/" + config::array_name_of(names_[f]), values[f], units_[f], names_[f] + " in each piece");
  }
}

}  // namespace

namespace config {

const Section<TracerOperator>& TracerOperator::section() {
  static const Section<TracerOperator> section = [] {
    Section<TracerOperator> s("");
    declare_name(s, "run");
    s.text("fields", &TracerOperator::fields, "fields or products, with commas between them",
           [](const std::string& text) {
             const auto names = listed(text);
             return !names.empty() && std::ranges::all_of(names, is_product);
           },
           {.meaning = "fields or products to store, separated by commas", .example = "density, temperature"});
    s.map("sightlines", &TracerOperator::sightlines, sightlines_section(),
          {.meaning = "sightlines along which fields are stored"});
    s.check([](Reader& reader, const TracerOperator& o) {
      if (!reader.clean("fields")) return;
      std::set<std::string> taken{"first", "begin", "length"};  // of the result
      for (const std::string& field : listed(o.fields)) {
        if (!taken.insert(array_name_of(field)).second) {
          reader.report("fields",
                        fmt::format("\"{}\": another array of the result has this name: leave it out", field));
        }
      }
    });
    return s;
  }();
  return section;
}

std::unique_ptr<RayProduct> TracerOperator::product(RayWork& work, std::size_t op) const {
  return std::make_unique<FieldTraces>(work, op, *this);
}

}  // namespace config
}  // namespace thor
