#include "thor/drivers/sweep/sweep.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <future>
#include <thread>

#include "thor/core/interrupt.hpp"
#include "thor/core/memory.hpp"
#include "thor/core/message.hpp"
#include "thor/core/version.hpp"
#include "thor/drivers/run.hpp"
#include "thor/drivers/sweep/model.hpp"
#include "thor/io/fingerprint.hpp"
#include "thor/io/partial.hpp"
#include "thor/random/seed.hpp"

namespace thor::sweep {
namespace {

/// Models in flight on a GPU, each with queues of its own, so that the tail of one is filled by others.
constexpr int models_on_device = 8;
constexpr std::uint64_t rows = 1024;  ///< models that are written at once

/// The first model that can be built, of some that are spread over the sweep; the error of the first, if none can.
Built find_reference(const Config& sweep) {
  const std::uint64_t count = sweep.models.count(), tries = std::min<std::uint64_t>(count, 32);
  std::exception_ptr first;
  for (std::uint64_t i = 0; i < tries; ++i) {
    try {
      return build(sweep.document(i * (count - 1) / std::max<std::uint64_t>(tries - 1, 1)));
    } catch (const Error&) {
      if (!first) first = std::current_exception();
    }
  }
  std::rethrow_exception(first);
}

/// Of all that the models depend on.
std::uint64_t identity_of(const Config& sweep, const config::Config& reference) {
  std::uint64_t hash = io::hash_of(sweep.text + version);
  for (const InputFile& input : fingerprints(reference.input_files())) hash = mix64(hash ^ input.print.hash);
  return hash;
}

class SweepRun {
 public:
  SweepRun(const Config& sweep, const RunOptions& options)
      : sweep_(sweep),
        options_(options),
        world_(options.world()),
        result_(options.output.empty() ? sweep.output_path : options.output),
        reference_(find_reference(sweep)),
        layout_(reference_) {}

  ExitCode run();

 private:
  void prepare();
  void run_models(Journal& journal, const std::vector<std::uint64_t>& todo);
  void work(Journal& journal, const std::vector<std::uint64_t>& todo, const Compute& compute, Control& control);
  void write(const Journal& journal, const std::map<std::uint64_t, Journal::Place>& found) const;
  void write_parameters(io::ArrayOutput& out) const;
  void write_numbers(io::ArrayOutput& out, const Journal& journal,
                     const std::map<std::uint64_t, Journal::Place>& found) const;
  ExitCode report(const Journal& journal, const std::map<std::uint64_t, Journal::Place>& found) const;

  const Config& sweep_;
  const RunOptions& options_;
  const comm::World& world_;
  const std::string result_;
  const Built reference_;
  const Layout layout_;
  std::string where_;
  std::atomic<std::uint64_t> next_{0}, done_{0};
  std::atomic<bool> stop_{false};
  bool was_stopped_ = false;
};

void SweepRun::prepare() {
  require_apart(result_, reference_.config, reference_.config.input_files());
  io::detail::require_apart(result_, sweep_.path);
  std::error_code ignored;
  const bool goes_on = std::filesystem::exists(result_ + ".models", ignored);  // the result is what it had then
  if (world_.is_first()) io::detail::require_free(result_, options_.overwrite || goes_on);
  where_ = describe(choose_device(options_).get(), options_.cpu);
}

ExitCode SweepRun::run() {
  prepare();
  Journal journal(result_, world_.rank(), identity_of(sweep_, reference_.config), layout_.numbers());
  const auto found = journal.find_all();
  world_.largest(0);  // nobody appends before all have looked
  std::vector<std::uint64_t> todo;
  const std::uint64_t count = sweep_.models.count();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!found.contains(i) && i % std::uint64_t(world_.ranks()) == std::uint64_t(world_.rank())) todo.push_back(i);
  }
  if (!found.empty()) message("thor: {} of {} models were done before\n", found.size(), count);
  run_models(journal, todo);
  world_.largest(0);  // all are done
  if (!world_.is_first()) return ExitCode::done;
  const auto all = journal.find_all();
  write(journal, all);
  const ExitCode code = report(journal, all);
  if (all.size() == count) journal.remove_all();
  forget_warnings();
  return code;
}

/// Models on one thread of the processor, or through queues of their own on the device.
void SweepRun::work(Journal& journal, const std::vector<std::uint64_t>& todo, const Compute& compute,
                    Control& control) {
  while (!stop_) {
    const std::uint64_t i = next_++;
    if (i >= todo.size()) return;
    const Record record = layout_.run(todo[i], sweep_.document(todo[i]), compute, control);
    if (control.abort) return;
    journal.append(record);
    ++done_;
  }
}

void SweepRun::run_models(Journal& journal, const std::vector<std::uint64_t>& todo) {
  const std::unique_ptr<device::Device> chosen = choose_device(options_);
  const int most = chosen ? std::min(models_on_device, options_.cpu.threads) : options_.cpu.threads;
  const int workers = int(std::min<std::uint64_t>(std::uint64_t(most), std::max<std::uint64_t>(todo.size(), 1)));
  std::vector<Control> controls(static_cast<std::size_t>(workers));
  std::vector<std::exception_ptr> errors(controls.size());
  std::atomic<int> working = workers;
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w) {
    threads.emplace_back([&, w] {
      try {
        std::unique_ptr<device::Device> own;
        if (chosen) own = device::open(fmt::format("{}:{}", chosen->info().backend, chosen->info().index));
        Compute compute{own.get(), options_.device_options, options_.cpu};
        compute.cpu.threads = std::max(options_.cpu.threads / workers, 1);
        work(journal, todo, compute, controls[std::size_t(w)]);
      } catch (...) {
        errors[std::size_t(w)] = std::current_exception();
        stop_ = true;
      }
      --working;
    });
  }
  Progress progress(options_.shown(), todo.size(), "models");
  double stopped_at = -1;
  while (working > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(todo.size() < 100 ? 2 : 20));
    progress.update(done_);
    const double now = progress.seconds();
    const bool is_late = options_.max_walltime > 0 && now > options_.max_walltime;
    if (stopped_at < 0 && (is_interrupted() || is_late)) was_stopped_ = stop_ = true, stopped_at = now;
    if (stopped_at >= 0 && now > stopped_at + options_.drain) {
      for (Control& control : controls) control.abort = true;
    }
  }
  for (std::thread& thread : threads) thread.join();
  progress.finish();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

void SweepRun::write_parameters(io::ArrayOutput& out) const {
  const std::uint64_t count = sweep_.models.count();
  const std::vector<Axis>& axes = sweep_.models.axes();
  std::vector<std::vector<double>> columns(axes.size(), std::vector<double>(count, std::nan("")));
  std::vector<std::string> units(axes.size());
  std::vector<std::vector<std::string>> words(axes.size());
  std::vector<std::uint64_t> seeds(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::vector<std::string> values = sweep_.models.values(i);
    seeds[i] = sweep_.models.seed(i);
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const auto number = number_of(values[k]);
      if (number && (units[k].empty() || units[k] == number->unit) && words[k].empty()) {
        units[k] = number->unit, columns[k][i] = number->value;
      } else if (!values[k].empty()) {  // a word, or another unit: its place among the words
        auto word = std::ranges::find(words[k], values[k]);
        if (word == words[k].end()) word = words[k].insert(words[k].end(), values[k]);
        columns[k][i] = double(word - words[k].begin());
      }
    }
  }
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::string path = "/parameters/" + axes[k].key;
    out.write(path, columns[k], words[k].empty() ? units[k] : "",
              words[k].empty() ? "value of the key in each model" : "index of the word in the attribute words");
    if (!words[k].empty()) out.attribute(path, "words", fmt::format("{}", fmt::join(words[k], "\n")));
  }
  if (sweep_.own_seeds) out.write("/seed", seeds, "", "seed of each model");
}

void SweepRun::write_numbers(io::ArrayOutput& out, const Journal& journal,
                             const std::map<std::uint64_t, Journal::Place>& found) const {
  const std::uint64_t count = sweep_.models.count();
  const std::vector<SpectrumOutput>& spectra = layout_.spectra();
  const OutputContext context = output_context(reference_.config, reference_.setup);
  std::vector<std::uint64_t> status(count);
  for (const auto& [model, place] : found) status[model] = std::uint64_t(place.status);
  out.write("/status", status, "", "0 missing, 1 done, 2 unreliable, 3 failed");
  for (const SpectrumOutput& spectrum : spectra) {
    const SpectrumPlan plan = spectrum.plan(context);
    const SpectrumScale scale = spectrum.scale(plan);
    const std::string group = "/spectra/" + spectrum.name;
    spectrum.write_axis(out, plan);
    out.attribute(group, "wavelength0", plan.frequency.wavelength / constants::angstrom);
    out.begin<double>(group + "/flux", {count, spectrum.bins}, rows, scale.unit, scale.meaning, 4);
    out.begin<double>(group + "/error", {count, spectrum.bins}, rows, scale.unit, "Monte Carlo standard error", 4);
  }
  constexpr auto scalars = std::size_t(Scalar::count);
  std::vector<std::vector<double>> columns(scalars, std::vector<double>(count, std::nan("")));
  for (std::uint64_t begin = 0; begin < count; begin += rows) {
    const std::uint64_t end = std::min(begin + rows, count);
    std::vector<std::vector<double>> flux(spectra.size()), error(spectra.size());
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto place = found.find(i);
      const Record record = place != found.end()
                                ? journal.read(place->second)
                                : Record{.numbers = std::vector<double>(layout_.numbers(), std::nan(""))};
      for (std::size_t k = 0; k < scalars; ++k) columns[k][i] = record.numbers[k];
      for (std::size_t k = 0; k < spectra.size(); ++k) {
        const auto first = record.numbers.begin() + std::ptrdiff_t(layout_.first(k));
        const auto bins = std::ptrdiff_t(spectra[k].bins);
        flux[k].insert(flux[k].end(), first, first + bins);
        error[k].insert(error[k].end(), first + bins, first + 2 * bins);
      }
    }
    for (std::size_t k = 0; k < spectra.size(); ++k) {
      out.append<double>("/spectra/" + spectra[k].name + "/flux", flux[k]);
      out.append<double>("/spectra/" + spectra[k].name + "/error", error[k]);
    }
  }
  const auto column = [&](Scalar scalar, const char* name, const char* unit, const char* meaning) {
    out.write(name, columns[std::size_t(scalar)], unit, meaning);
  };
  column(Scalar::seconds, "/transport_seconds", "s", "time of transport");
  column(Scalar::photons, "/photons", "", "number of photons");
  column(Scalar::lost, "/lost", "", "share of the photons that were lost");
  column(Scalar::luminosity, "/luminosity_emitted", "erg s-1", "luminosity emitted");
  column(Scalar::escape_fraction, "/escape_fraction", "", "escaped over emitted luminosity");
  column(Scalar::escape_fraction_error, "/escape_fraction_error", "", "its Monte Carlo standard error");
  column(Scalar::scatterings, "/scatterings", "", "mean number of scatterings of a photon");
}

void SweepRun::write(const Journal& journal, const std::map<std::uint64_t, Journal::Place>& found) const {
  io::ArrayOutput out(result_, true, false);
  write_provenance(out, reference_.config, where_);
  out.attribute("/", "kind", "sweep");
  out.attribute("/", "models", sweep_.models.count());
  out.attribute("/", "complete", found.size() == sweep_.models.count());
  write_parameters(out);
  write_numbers(out, journal, found);
  std::string failures;
  for (const auto& [model, place] : found) {
    if (place.status == Status::failed && failures.size() < 1 << 16) {
      failures += fmt::format("{}: {}\n", model, journal.read(place).message);
    }
  }
  out.attribute("/", "failures", failures);
  out.commit(true);
}

ExitCode SweepRun::report(const Journal& journal, const std::map<std::uint64_t, Journal::Place>& found) const {
  std::uint64_t failed = 0, unreliable = 0;
  std::string first;
  for (const auto& [model, place] : found) {
    unreliable += place.status == Status::unreliable;
    if (place.status != Status::failed) continue;
    if (failed++ == 0) first = fmt::format("model {}: {}", model, journal.read(place).message);
  }
  const std::uint64_t count = sweep_.models.count();
  message("thor: {} of {} models on {}; wrote {}\n", found.size(), count, where_, result_);
  if (unreliable > 0) warning("{} models lost more than {} % of their photons (status 2)", unreliable, 100 * most_lost);
  if (failed > 0) warning("{} models failed (status 3), the first: {}", failed, first);
  if (found.size() < count) {
    message("thor: stopped: the same command goes on with the other models\n");
    return ExitCode::stopped;
  }
  return failed + unreliable > 0 ? ExitCode::unreliable : ExitCode::done;
}

}  // namespace

namespace {

/// Runs a model, of which a long one is cut; and the share of its photons that ended.
std::pair<Record, double> run_for_a_second(const Layout& layout, std::uint64_t model, config::Document document,
                                           const Compute& compute) {
  Control control;
  std::promise<void> ended;
  std::thread cutter([&control, end = ended.get_future()] {
    if (end.wait_for(std::chrono::seconds(1)) == std::future_status::timeout) control.abort = true;
  });
  std::pair<Record, double> run;
  std::exception_ptr error;
  try {
    run.first = layout.run(model, std::move(document), compute, control);
  } catch (...) {
    error = std::current_exception();
  }
  ended.set_value();
  cutter.join();
  if (error) std::rethrow_exception(error);
  const double photons = run.first.numbers[std::size_t(Scalar::photons)];
  run.second = control.abort ? std::max(double(control.finished), 0.5) / photons : 1;
  return run;
}

}  // namespace

Cost estimate(const Config& sweep, const cpu::Options& options, bool trial) {
  constexpr double most_seconds = 4, seconds_of_a_model = 1e-3;  // beside its photons
  constexpr std::uint64_t most_tried = 64;
  const Layout layout(find_reference(sweep));
  const std::uint64_t count = sweep.models.count();
  Cost cost{.models = count,
            .file_bytes = 1e5 + 8. * double(count) * double(layout.numbers() + sweep.models.axes().size())};
  Compute compute{nullptr, {}, options};
  compute.cpu.threads = 1;
  double sum = 0;
  const auto start = std::chrono::steady_clock::now();
  while (trial && cost.tried < std::min(count, most_tried)) {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start;
    if (gone.count() > most_seconds) break;
    const std::uint64_t model = mix64(cost.tried++) % count;
    const auto [record, share] = run_for_a_second(layout, model, sweep.document(model), compute);
    if (record.status == Status::failed) {
      ++cost.impossible;
      continue;
    }
    sum += (record.numbers[std::size_t(Scalar::seconds)] + seconds_of_a_model) / share;
  }
  if (cost.tried > 0) cost.seconds = sum / double(cost.tried) * double(count) / options.threads;
  return cost;
}

ExitCode run(const Config& sweep, const RunOptions& options) {
  if (options.domains.count > 1) throw Error(ExitCode::usage, "--domains: not possible in a sweep: leave it out");
  if (options.checkpoint > 0) throw Error(ExitCode::usage, "--checkpoint: a sweep keeps each model: leave it out");
  return SweepRun(sweep, options).run();
}

}  // namespace thor::sweep
