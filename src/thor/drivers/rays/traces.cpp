#include <algorithm>

#include "thor/drivers/rays/products.hpp"
#include "thor/operators/keys.hpp"

namespace thor {
namespace {

/// Fields along sightlines, piece by piece.
class RayTraces final : public RayProduct {
 public:
  RayTraces(RayWork& work, std::size_t op)
      : work_(work),
        op_(op),
        keys_(std::get<config::TracerOperator>(work.config.operators[op])),
        names_(config::listed(keys_.fields)),
        sightlines_(work.sightlines(op, keys_.sightlines)) {
    for (std::size_t i = 0; i < sightlines_.begins.size(); ++i)
      pieces_ += pieces_of(sightlines_.rays, i, work.parts.scene());
    work.require_memory(work.key(op), bytes());
    for (auto& part : work.parts.parts()) {
      std::vector<FieldUse> uses;
      for (const std::string& name : names_) uses.push_back(part.scene.use(name));
      uses_.push_back(std::move(uses));
    }
    for (const FieldUse& use : uses_.front()) units_.push_back(use.units);
  }
  double rays() const override { return double(sightlines_.begins.size()); }
  double written() const override { return 0; }  // known when they are traced
  double bytes() const override { return bytes_of(pieces_); }
  void write(io::ArrayOutput* file) override;

 private:
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

void RayTraces::write(io::ArrayOutput* file) {
  const SightlineList& all = sightlines_;
  const std::size_t fields = names_.size();
  std::vector<std::int64_t> offsets{0};
  std::vector<double> begins, lengths;
  std::vector<std::vector<double>> values(fields);
  const auto make_room = [&](std::size_t pieces) {  // there may be more of a model
    if (pieces <= begins.capacity()) return;
    pieces = std::max(pieces, 2 * begins.capacity());
    work_.require_memory(work_.key(op_), bytes_of(double(pieces)));
    begins.reserve(pieces), lengths.reserve(pieces);
    for (auto& of_field : values) of_field.reserve(pieces);
  };
  if (work_.world.is_first()) make_room(std::size_t(pieces_));
  const RayScene& scene = work_.parts.scene();
  for (std::size_t i = 0; i < all.begins.size(); ++i) {
    std::vector<double> own;  // pieces, one after the other: begin, length, values
    for (std::size_t p = 0; p < work_.parts.parts().size(); ++p) {
      if (!work_.parts.is_cut() && !work_.world.is_first()) break;
      Trace trace{};
      trace.count = int(fields);
      for (std::size_t k = 0; k < fields; ++k) trace.quantity[k] = uses_[p][k].quantity;
      for (std::uint32_t r = all.rays.first[i]; r < all.rays.first[i + 1]; ++r) {
        work_.stop_if_due();
        const RayRun run = work_.parts.parts()[p].tracer->record(all.rays.rays[r], trace);
        for (std::size_t k = 0; k < run.begins.size(); ++k) {
          own.push_back(run.begins[k] * scene.length()), own.push_back(run.lengths[k] * scene.length());
          for (std::size_t f = 0; f < fields; ++f) own.push_back(double(run.values[f][k]) * uses_[p][f].unit);
        }
      }
    }
    work_.progress(1);
    if (!work_.world.is_alone()) own = at_first(work_.world, own);
    if (!work_.world.is_first()) continue;
    const std::size_t width = 2 + fields;
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

std::unique_ptr<RayProduct> make_traces(RayWork& work, std::size_t op) { return std::make_unique<RayTraces>(work, op); }

}  // namespace thor
