#include "thor/operators/paths.hpp"

#include "thor/operators/keys.hpp"
#include "thor/operators/ray_product.hpp"

namespace thor {
namespace {

class PathLengths final : public RayProduct {
 public:
  PathLengths(RayWork& work, std::size_t op, const config::PathsOperator& keys)
      : work_(work), keys_(keys), sightlines_(work.sightlines(op, keys.sightlines)) {
    for (std::size_t p = 0; p < work.parts(); ++p) {
      const FieldUse use = work.gas(p).use(keys.field);
      const double width = (keys.high - keys.low) / double(keys.bins);
      jobs_.emplace_back(Paths{use.quantity, keys.low / use.unit, width / use.unit, int(keys.bins)});
    }
    work.require_memory(RayWork::key(op), bytes());
  }
  double rays() const override { return double(sightlines_.begins.size()); }
  double bytes() const override { return 12. * double(keys_.bins) * rays(); }
  double written() const override { return 8. * double(keys_.bins) * rays(); }
  void write(io::ArrayOutput* file) override;

 private:
  RayWork& work_;
  const config::PathsOperator& keys_;
  const SightlineList sightlines_;
  std::vector<SightlineJob> jobs_;  ///< of each part
};

void PathLengths::write(io::ArrayOutput* file) {
  const std::size_t count = sightlines_.begins.size(), size = count * keys_.bins;
  std::vector<float> lengths(size);
  std::vector<double> whole(count), own(size);
  for (std::size_t p = 0; p < work_.parts() && (work_.is_cut() || work_.world.is_first()); ++p) {
    work_.engine(p).follow(sightlines_.rays, jobs_[p], lengths, whole);
    for (std::size_t i = 0; i < size; ++i) own[i] += double(lengths[i]) * work_.outline().length;
  }
  work_.progress(rays());
  if (!work_.world.is_alone()) own = at_first(work_.world, own);
  if (!work_.world.is_first()) return;
  for (std::size_t i = size; i < own.size(); ++i) own[i % size] += own[i];
  own.resize(size);
  file->write<double>("/paths/" + keys_.name + "/length", own, {count, keys_.bins}, "cm",
                      "of each sightline, in bins of " + keys_.field);
}

}  // namespace

const config::Section<config::PathsOperator>& config::PathsOperator::section() {
  static const Section<PathsOperator> section = [] {
    Section<PathsOperator> s("");
    declare_name(s, "run");
    declare_field(s, &PathsOperator::field, "temperature");
    s.number("low", &PathsOperator::low, anything, {.meaning = "lower end of the first bin", .example = "0"});
    s.number("high", &PathsOperator::high, anything, {.meaning = "upper end of the last bin", .example = "1"});
    s.integer("bins", &PathsOperator::bins, 1, 10'000, {.meaning = "number of bins", .example = "10"});
    s.map("sightlines", &PathsOperator::sightlines, sightlines_section(), {.meaning = "sightlines that are followed"});
    return s;
  }();
  return section;
}

std::unique_ptr<RayProduct> config::PathsOperator::product(RayWork& work, std::size_t op) const {
  return std::make_unique<PathLengths>(work, op, *this);
}

}  // namespace thor
