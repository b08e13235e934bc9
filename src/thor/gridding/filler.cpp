#include "thor/gridding/filler.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "thor/gridding/census.hpp"
#include "thor/gridding/plan/survey.hpp"

namespace thor::gridding {
namespace {

void refuse_wide_kernels(const Job& job, const Particles& particles) {
  const auto widest = std::max_element(particles.radius.begin(), particles.radius.end());
  if (widest == particles.radius.end() || *widest <= widest_kernel) return;
  refuse(job,
         fmt::format("the kernel of a gas element is {:.3g} cells wide, more than {:.0g}: the cells are too small for "
                     "this snapshot (a larger --size, fewer --cells, or --method nearest), or its density is wrong",
                     2 * *widest, 2 * widest_kernel));
}

}  // namespace

Filler::Filler(const Job& job, const MemoryPlan& memory)
    : job_(job),
      memory_(memory),
      progress_(job.options.quiet ? ProgressMode::never : job.options.progress,
                job.snapshot.gas_count() * std::uint64_t(memory.passes()), "gas elements"),
      census_(job.region, job.gas, job.options.threads),
      sampler_(job.gas.fields.count) {}

template <class T>
void Filler::count_all(CellSums<T>& sums, Sources& sources) {
  const GridOptions& o = job_.options;
  job_.snapshot.for_each_gas(block_size, [&](const io::GasBlock& block) {
    const Particles particles = census_.gather(block);
    if (o.method == Method::kernel) {
      refuse_wide_kernels(job_, particles);
      const Shares s = shares(job_.region.lattice, particles, o.threads);
      census_.count_cut(particles, s.inside);
      deposit(sums, particles, s, o.threads);
    } else {
      census_.count_cut(particles, centres_inside(job_.region.lattice, particles));
      sampler_.add(particles);
    }
    if (o.sources == SourceKind::sfr) add_star_forming(block, census_.used(), job_.region, o.sfr_efficiency, sources);
    show(sums.layers(), block.count);
  });
  refuse_bad_cells(job_, census_.defects());
}

/// For a rank that counts nothing, but needs the elements.
void Filler::read_nearest() {
  job_.snapshot.for_each_gas(block_size, [&](const io::GasBlock& block) { sampler_.add(census_.gather(block)); });
}

template <class T>
void Filler::read_again(CellSums<T>& sums) {
  const int threads = job_.options.threads;
  Gatherer gatherer(job_.region, job_.gas, threads, sums.layers());
  job_.snapshot.for_each_gas(block_size, [&](const io::GasBlock& block) {
    const Particles particles = gatherer.gather(block);
    deposit(sums, particles, shares(job_.region.lattice, particles, threads), threads);
    show(sums.layers(), block.count);
  });
}

void Filler::show(const Layers& slab, std::uint64_t more) {
  std::vector<ProgressPart> parts;
  if (memory_.passes() > 1) {
    parts.push_back({2, fmt::format("slab {} of {}", slab.first / memory_.layers + 1, memory_.slabs())});
  }
  progress_.update(done_ += more, parts);
}

template <class T>
void Filler::fill(CellSums<T>& sums, Sources& sources) {
  const GridOptions& o = job_.options;
  if (sums.layers().first == 0) {
    count_all(sums, sources);
  } else if (o.method == Method::kernel) {
    read_again(sums);
  } else if (!filled_) {
    read_nearest();
  }
  filled_ = true;
  if (o.method == Method::nearest) sampler_.fill(sums, o.threads);
  if (sums.layers().first + memory_.ranks * memory_.layers >= memory_.all_layers) progress_.finish();
}

template void Filler::fill(CellSums<float>&, Sources&);
template void Filler::fill(CellSums<double>&, Sources&);

}  // namespace thor::gridding
