#include "thor/parallel/cpu/ray_sender.hpp"

namespace thor::cpu {

template <class Real>
RaySender<Real>::RaySender(const Thread& thread)
    : problem_(&thread.setting.problem),
      outbox_(thread.outbox),
      emitter_(thread.setting.emitter.view()),
      observers_(thread.setting.observers),
      history_(history_kernel<Real>(problem_->history(), thread.isa)),
      origins_(thread.origins),
      tally_(thread.tally),
      memory_(lane_bytes<Real>(1) / sizeof(double) + 1),
      born_(lane_arrays<Real>(memory_.data(), 1)) {}

template <class Real>
void RaySender<Real>::emit(const Origin& origin) {
  const RayRules& rules = observers_.rules;
  for (int o = 0; o < int(observers_.towards.size()); ++o) {
    const auto& n = observers_.towards[std::size_t(o)];
    Origin birth;
    const double sent = history_.emit(born_, 0, problem_->dataset(), problem_->numerics(), emitter_, origin.id,
                                      {n[0], n[1], n[2]}, birth);
    if (!(sent > 0)) continue;
    const Real frequency = born_.frequency[0];
    tally_.accept(seen_at_birth(birth, o, sent, frequency));
    const bool flies = born_.phase[0] == Phase::fly;
    const double end = flies ? history_.end_of_ray(rules, {emitter_.seed, origin.id, at_birth, o}) : rules.cut;
    const Ray<Real> ray = ray_of_birth(birth, o, sent, frequency, end, rules);
    born_.column[0] = ray.before, born_.tabulated[0] = Real(rules.depth);
    if (flies) {
      wait(born_, 0, cell_of(born_, 0), ray);
    } else {  // it passes the medium by
      see(ray, 0, Phase::escaped);
    }
  }
}

template <class Real>
bool RaySender<Real>::begins_elsewhere(const LaneArrays<Real>& from, int lane, const CellIndex& begun,
                                       const Ray<Real>& ray) {
  if (!part_) return false;
  const CellIndex cell = part_->to_whole(begun);
  if (part_->to_part(cell)) return false;
  Traveller<Real> traveller{Traveller<Real>::ray, 0, load_lane<Real>(from, lane), {}, ray};
  set_cell(traveller.lane, cell);
  traveller.lane.phase = Phase::fly;
  outbox_.post(traveller);
  return true;
}

template <class Real>
void RaySender<Real>::see(const Ray<Real>& ray, double optical_depth, Phase end) {
  const Phase fate = end_of(ray, optical_depth, end);
  tally_.count_ray(fate);
  if (!is_seen(fate)) return;
  tally_.accept(seen_of(ray, history_.left_of_ray(observers_.rules, optical_depth), emitter_));
}

template class RaySender<float>;
template class RaySender<double>;

}  // namespace thor::cpu
