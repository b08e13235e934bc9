#include "thor/drivers/mcrt/rank_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>

#include "thor/core/message.hpp"
#include "thor/core/version.hpp"
#include "thor/io/fingerprint.hpp"
#include "thor/io/partial.hpp"

namespace thor {
namespace {

/// Collective: the first text that is not empty, at the first rank.
std::string first_text(const comm::World& world, const std::string& text) {
  std::vector<std::uint64_t> words(1 + (text.size() + 7) / 8);
  words[0] = text.size();
  std::memcpy(words.data() + 1, text.data(), text.size());
  const std::vector<std::uint64_t> all = world.at_first(words);
  for (std::size_t i = 0; i < all.size(); i += 1 + (all[i] + 7) / 8) {
    if (all[i] > 0) return {reinterpret_cast<const char*>(all.data() + i + 1), all[i]};
  }
  return {};
}

}  // namespace

std::string RankFile::identity(const comm::World& world, const config::Config& config) {
  std::uint64_t hash = 0;
  if (world.is_first()) {
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    hash = io::hash_of(fmt::format("{} {} {} {} {}", config.resolved, git_commit, world.ranks(), now, getpid()));
  }
  const auto words = world.from_first(world.is_first() ? std::vector{hash} : std::vector<std::uint64_t>{});
  return fmt::format("{:016x}", words.at(0));
}

RankFile::RankFile(const comm::World& world, const config::Config& config, const Setup& setup,
                   const RunOptions& options, std::uint64_t sharing, std::string run)
    : world_(world), options_(options), run_(std::move(run)) {
  const std::string name = io::part_name(options.output, world.rank());
  for (const std::string& input : config.input_files()) io::detail::require_apart(name, input);
  if (options.overwrite) io::require_part(name, world.rank());
  file_.emplace(name, options.overwrite, false);
  photons_.emplace(config, setup, sharing, *file_, [this](const Error& why, const std::string& text) {
    forget(why.what());
    if (!text.empty() && world_.is_first()) {
      message("\nthor: {}\n", text);
    } else if (!text.empty()) {
      say_error(fmt::format("of rank {} of {}: {}", world_.rank(), world_.ranks(), text));
    }
  });
}

RankFile::~RankFile() {
  photons_.reset(), file_.reset();
  if (settled_ || std::uncaught_exceptions() == 0) return;
  std::error_code ignored;
  for (int rank = -1; rank < world_.ranks(); ++rank) {
    const std::string name = rank < 0 ? options_.output : io::part_name(options_.output, rank);
    std::filesystem::remove_all(io::detail::partial_of(io::detail::target_of(name)), ignored);
  }
}

void RankFile::forget(const std::string& why) {
  dropped_ = why;
  file_.reset();
}

bool RankFile::finish(const std::function<void(io::ArrayOutput&)>& header) {
  std::uint64_t rows = photons_->rows().value_or(0), peel = photons_->rows_of_peel().value_or(0);
  const bool original = photons_->rows().has_value(), peeled = photons_->rows_of_peel().has_value();
  try {
    if (*photons_) {
      header(*file_);
      io::write_part(*file_, {world_.rank(), world_.ranks(), run_});
      photons_->finish();
      file_->finish();
    }
  } catch (const Error& e) {
    if (e.code() != ExitCode::output) throw;
    photons_->drop(e);
  }
  const bool kept = world_.largest(*photons_ ? 0 : 1) == 0;
  const std::string why = first_text(world_, dropped_);
  const std::vector<std::uint64_t> all = world_.at_first({rows, peel});
  if (!kept) {
    dropped_ = why;
    return obey(Order::drop) && false;
  }
  parts_ = {world_.ranks(), run_};
  for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
    if (original) parts_.original.push_back(all[i]);
    if (peeled) parts_.peel.push_back(all[i + 1]);
  }
  return true;
}

bool RankFile::commit() {
  world_.from_first({std::uint64_t(Order::commit)});
  return obey(Order::commit);
}

void RankFile::drop() {
  world_.from_first({std::uint64_t(Order::drop)});
  obey(Order::drop);
}

void RankFile::follow() { obey(Order(world_.from_first({}).at(0))); }

bool RankFile::obey(Order order) {
  settled_ = true;
  std::uint64_t failed = 0;
  try {
    if (order == Order::commit) file_->commit(options_.overwrite);
  } catch (const Error& e) {
    say_error(e.what());
    failed = 1;
  }
  photons_.reset(), file_.reset();
  return world_.largest(failed) == 0;
}

}  // namespace thor
