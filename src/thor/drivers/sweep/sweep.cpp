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
#include "thor/transport/fates.hpp"

namespace thor::sweep {
namespace {

/// Models in flight on a GPU, each with queues and a thread of its own, so that the tail of one is filled by others.
constexpr int models_on_device = 32;
constexpr std::uint64_t rows = 1024;  ///< models that are written at once

/// The first model that can be built, of many that are spread over the sweep; the error of the first, if none can.
Built find_reference(const Config& sweep) {
  const std::uint64_t count = sweep.models.count(), tries = std::min<std::uint64_t>(count, 500);
  std::exception_ptr first;
  for (std::uint64_t i = 0; i < tries; ++i) {
    try {
      return build(sweep.document(i == 0 || tries == count ? i : mix64(i) % count));
    } catch (const Error&) {
      if (!first) first = std::current_exception();
    }
  }
  std::rethrow_exception(first);
}

/// The files that models read, beside the configuration: those of the reference, and of models whose keys have words.
std::vector<std::string> input_files(const Config& sweep, const config::Config& reference) {
  std::vector<std::string> files = reference.input_files();
  const auto add = [&](config::Document document) {
    try {
      const auto checked = config::check(std::move(document));
      std::ranges::copy(checked.config.input_files(), std::back_inserter(files));
    } catch (const Error&) {  // an impossible model
    }
  };
  const auto is_word = [](const std::string& value) { return !value.empty() && !number_of(value); };
  for (const Axis& axis : sweep.models.axes()) {
    for (std::size_t i = 0; i < axis.values.size(); ++i) {
      if (!is_word(axis.values[i])) continue;
      config::Document document = sweep.document(0);
      config::apply_override(document.tree, axis.key + "=" + axis.values[i], document.faults);
      add(std::move(document));
    }
  }
  return config::distinct(files);
}

/// The values of a key: numbers in the unit of the first, if all have one dimension, or else words.
struct Column {
  bool all_numbers = true;
  std::string unit{};
  double unit_size = 0;  ///< cgs
  Dimension dimension = Dimension::none;
  std::vector<std::string> words{};
  std::vector<double> values{};

  void look(const std::string& text) {
    if (text.empty() || !all_numbers) return;
    const auto number = number_of(text);
    if (number && unit_size == 0) {
      unit = number->unit, dimension = number->dimension;
      unit_size = unit.empty() ? 1 : parse_quantity("1 " + unit).value;
    }
    all_numbers = number && number->dimension == dimension;
  }
  void add(const std::string& text) {
    if (text.empty()) {
      values.push_back(std::nan(""));
    } else if (all_numbers) {
      const Number number = *number_of(text);
      values.push_back(number.unit == unit ? number.value : number.cgs / unit_size);
    } else {
      auto word = std::ranges::find(words, text);
      if (word == words.end()) word = words.insert(words.end(), text);
      values.push_back(double(word - words.begin()));
    }
  }
};

/// Of all that the models depend on.
std::uint64_t identity_of(const Config& sweep, const std::vector<std::string>& inputs) {
  std::uint64_t hash = io::hash_of(sweep.text + version);
  for (const InputFile& input : fingerprints(inputs)) hash = mix64(hash ^ input.print.hash);
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
        inputs_(input_files(sweep, reference_.config)),
        layout_(reference_, result_) {}

  ExitCode run();

 private:
  void prepare();
  void run_models(Journal& journal, const std::vector<std::uint64_t>& todo);
  void work(Journal& journal, const std::vector<std::uint64_t>& todo, const Compute& compute, Control& control);
  void write(const Journal& journal, const std::map<std::uint64_t, Journal::Place>& found) const;
  void write_parameters(io::ArrayOutput& out) const;
  void write_numbers(io::ArrayOutput& out, const Journal& journal,
                     const std::map<std::uint64_t, Journal::Place>& found) const;
  void write_photons(io::ArrayOutput& out, const Journal& journal,
                     const std::map<std::uint64_t, Journal::Place>& found) const;
  ExitCode report(const Journal& journal, const std::map<std::uint64_t, Journal::Place>& found) const;

  const Config& sweep_;
  const RunOptions& options_;
  const comm::World& world_;
  const std::string result_;
  const Built reference_;
  const std::vector<std::string> inputs_;
  const Layout layout_;
  std::string where_;
  std::atomic<std::uint64_t> next_{0}, done_{0};
  std::atomic<bool> stop_{false};
  bool was_stopped_ = false;
};

void SweepRun::prepare() {
  require_apart(result_, reference_.config, inputs_);
  io::detail::require_apart(result_, sweep_.path);
  std::error_code ignored;
  if (!result_.ends_with(".zarr") && std::filesystem::is_directory(result_, ignored)) {
    io::detail::fail(result_, "it is a directory", "give a file name");
  }
  const bool goes_on = std::filesystem::exists(result_ + ".models", ignored);  // the result is what it had then
  if (world_.is_first()) io::detail::require_free(result_, options_.overwrite || goes_on);
  where_ = describe(choose_device(options_).get(), options_.cpu);
}

ExitCode SweepRun::run() {
  prepare();
  Journal journal(result_, world_.rank(), identity_of(sweep_, inputs_), layout_.numbers(), bool(layout_.photons()));
  world_.largest(0);  // all have begun theirs
  const auto found = journal.find_all();
  world_.largest(0);  // nobody appends before all have looked
  std::vector<std::uint64_t> todo;
  const std::uint64_t count = sweep_.models.count();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto place = found.find(i);
    if ((place == found.end() || place->second.status == Status::failed) &&
        i % std::uint64_t(world_.ranks()) == std::uint64_t(world_.rank()))
      todo.push_back(i);
  }
  if (!found.empty())
    message("thor: {} of {} models were done before\n", found.size(), count);  // failed ones run again
  run_models(journal, todo);
  world_.largest(0);  // all are done
  if (!world_.is_first()) return ExitCode::done;
  auto all = journal.find_all();
  all.erase(all.lower_bound(count), all.end());
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
  const int most = chosen ? models_on_device : options_.cpu.threads;
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
  std::vector<Column> columns(axes.size());
  std::vector<std::uint64_t> seeds(count);
  const auto own = std::ranges::find(axes, "seed", &Axis::key);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::vector<std::string> values = sweep_.models.values(i);
    for (std::size_t k = 0; k < axes.size(); ++k) columns[k].look(values[k]);
    const std::string given = own == axes.end() ? "" : values[std::size_t(own - axes.begin())];
    seeds[i] = given.empty() ? sweep_.models.seed(i) : std::strtoull(given.c_str(), nullptr, 10);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::vector<std::string> values = sweep_.models.values(i);
    for (std::size_t k = 0; k < axes.size(); ++k) columns[k].add(values[k]);
  }
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::string path = "/parameters/" + axes[k].key;
    const bool words = !columns[k].all_numbers;
    out.write(
        path, columns[k].values, words ? "" : columns[k].unit,
        words ? "index of the word in the attribute words" : "value of the key in each model; NaN: as in the model");
    if (words) out.attribute(path, "words", fmt::format("{}", fmt::join(columns[k].words, "\n")));
  }
  out.write("/seed", seeds, "", "seed of each model");
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
    out.attribute(group, "of",
                  spectrum.of == config::Fate::emitted ? std::string("emitted") : fate_of(Phase(spectrum.of)).name);
    if (!spectrum.generator.empty()) out.attribute(group, "generator", spectrum.generator);
    if (!spectrum.sight.observer.empty()) write_attributes(out, group, spectrum.sight, plan.sky);
    out.begin<double>(group + "/flux", {count, spectrum.bins}, rows, scale.unit, scale.meaning, 4);
    out.begin<double>(group + "/error", {count, spectrum.bins}, rows, scale.unit, "Monte Carlo standard error", 4);
  }
  constexpr auto scalars = std::size_t(Scalar::count);
  std::vector<std::vector<double>> columns(scalars, std::vector<double>(count, std::nan("")));
  std::vector<std::vector<double>> wavelengths(spectra.size(), std::vector<double>(count));
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
        wavelengths[k][i] = first[2 * bins] / constants::angstrom;
      }
    }
    for (std::size_t k = 0; k < spectra.size(); ++k) {
      out.append<double>("/spectra/" + spectra[k].name + "/flux", flux[k]);
      out.append<double>("/spectra/" + spectra[k].name + "/error", error[k]);
    }
  }
  for (std::size_t k = 0; k < spectra.size(); ++k) {
    out.write("/spectra/" + spectra[k].name + "/wavelength0", wavelengths[k], "Angstrom",
              "wavelength that velocities are relative to, in each model");
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

void SweepRun::write_photons(io::ArrayOutput& out, const Journal& journal,
                             const std::map<std::uint64_t, Journal::Place>& found) const {
  const std::vector<KeptPhotons::Field>& fields = layout_.photons().fields();
  std::vector<io::Column<float>> columns;
  for (const KeptPhotons::Field& field : fields) {
    columns.push_back(out.column<float>(fmt::format("/raw/{}", field.name), 1, field.unit, field.meaning));
  }
  std::vector<std::uint64_t> first = {0};
  for (std::uint64_t i = 0; i < sweep_.models.count(); ++i) {
    const auto place = found.find(i);
    const bool is_there = place != found.end() && place->second.status != Status::failed;
    const std::vector<float> rows = is_there ? journal.read_photons(place->second) : std::vector<float>{};
    const std::size_t count = rows.size() / fields.size();
    std::vector<float> values(count);
    for (std::size_t k = 0; k < fields.size(); ++k) {
      for (std::size_t j = 0; j < count; ++j) values[j] = rows[j * fields.size() + k];
      columns[k].append(values);
    }
    first.push_back(first.back() + count);
  }
  out.write("/raw/first", first, "", "first photon of each model, of those that escaped; the last: their number");
}

void SweepRun::write(const Journal& journal, const std::map<std::uint64_t, Journal::Place>& found) const {
  io::ArrayOutput out(result_, true, false);
  write_provenance(out, reference_.config, where_);
  out.attribute("/", "kind", "sweep");
  out.attribute("/", "sweep", sweep_.text);
  out.attribute("/", "models", sweep_.models.count());
  out.attribute("/", "complete", found.size() == sweep_.models.count());
  write_parameters(out);
  write_numbers(out, journal, found);
  if (layout_.photons()) write_photons(out, journal, found);
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
  const auto models = [](std::uint64_t n) { return fmt::format("{} model{}", n, n == 1 ? "" : "s"); };
  if (unreliable > 0) warning("{} lost more than {} % of the photons (status 2)", models(unreliable), 100 * most_lost);
  if (failed > 0) warning("{} failed (status 3), the first: {}", models(failed), first);
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
  constexpr double most_seconds = 4;
  constexpr std::uint64_t most_tried = 64;
  const Layout layout(find_reference(sweep), "");
  const std::uint64_t count = sweep.models.count(), parts = std::min(count, most_tried);
  Cost cost{.models = count,
            .file_bytes = 1e5 + 8. * double(count) * double(layout.numbers() + sweep.models.axes().size() + 2)};
  double raw = 0;
  Compute compute{nullptr, {}, options};
  compute.cpu.threads = 1;
  double building = 0, moving = 0;  // models are built one at a time, and run side by side
  const auto start = std::chrono::steady_clock::now();
  const auto gone = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  for (std::uint64_t t = 0; trial && t < parts && gone() < most_seconds; ++t) {
    const std::uint64_t part = t * 67 % parts;  // a prime above all parts: each once, far from the last
    const std::uint64_t begin = part * count / parts, width = (part + 1) * count / parts - begin;
    const std::uint64_t model = begin + mix64(t) % width;
    const double before = gone();
    const auto [record, share] = run_for_a_second(layout, model, sweep.document(model), compute);
    ++cost.tried;
    if (record.status == Status::failed) {
      ++cost.impossible;
      continue;
    }
    const double transport = record.numbers[std::size_t(Scalar::seconds)];
    raw += double(record.photons.size() * sizeof(float)) / share;
    building += gone() - before - transport;
    moving += transport / share;
  }
  if (cost.tried > 0) cost.file_bytes += raw / double(cost.tried) * double(count);
  if (cost.tried > 0) cost.seconds = (building + moving / options.threads) / double(cost.tried) * double(count);
  return cost;
}

ExitCode run(const Config& sweep, const RunOptions& options) {
  if (options.domains.count > 1) throw Error(ExitCode::usage, "--domains: not possible in a sweep: leave it out");
  if (options.checkpoint > 0) throw Error(ExitCode::usage, "--checkpoint: a sweep keeps each model: leave it out");
  return SweepRun(sweep, options).run();
}

}  // namespace thor::sweep
