#include "thor/drivers/rays/frames.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "thor/core/error.hpp"
#include "thor/io/partial.hpp"

namespace thor {

std::string frames_folder(const std::string& result) {
  const std::filesystem::path path(result);
  return (path.parent_path() / (path.stem().string() + "_frames")).string();
}

Frames::Frames(std::string folder, std::string name, bool overwrite, std::uint64_t frames)
    : folder_(std::move(folder)), name_(std::move(name)), overwrite_(overwrite) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw Error(ExitCode::output, folder_ + ": cannot make this folder (" + error.message() + "): set output.frames");
  }
  io::detail::require_free(movie(), overwrite_);
  for (std::size_t i = 0; i < frames && !overwrite_; ++i) io::detail::require_free(path_of(i), false);
}

std::string Frames::remain() const {
  if (count_ == 0) return "";
  return fmt::format("; but for {} frames in {}, which --overwrite replaces", count_, folder_);
}

std::string Frames::path_of(std::size_t frame) const {
  return (std::filesystem::path(folder_) / fmt::format("{}.{:04}.png", name_, frame)).string();
}

std::string Frames::movie() const { return (std::filesystem::path(folder_) / (name_ + ".mp4")).string(); }

void Frames::add(const ImageTask& task, const std::vector<double>& values) {
  const int columns = task.job.camera.columns, rows = task.job.camera.rows;
  if (task.is_picture) {
    io::write_png(path_of(count_++), overwrite_, io::picture_of(columns, rows, values));
    return;
  }
  constexpr double decades = 6;
  if (!scale_) scale_.emplace(values, decades);
  io::Raster raster(columns, rows, {0, 0, 0});
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const double v = values[std::size_t(row) * std::size_t(columns) + std::size_t(column)];
      raster.set(column, rows - 1 - row, scale_->colour(v));
    }
  }
  io::write_png(path_of(count_++), overwrite_, raster);
}

/// Frames beyond the last, of a longer way, and the movie of that.
void Frames::remove_older() const {
  std::error_code ignored;
  std::vector<std::filesystem::path> older;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(name_ + ".") || !file.ends_with(".png")) continue;
    const std::string number = file.substr(name_.size() + 1, file.size() - name_.size() - 5);
    const bool counts = number.size() >= 4 && number.size() <= 6 &&
                        std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
    if (counts && std::stoul(number) >= count_) older.push_back(entry.path());
  }
  older.emplace_back(movie());
  for (const auto& path : older) std::filesystem::remove(path, ignored);
}

std::string Frames::finish() {
  if (overwrite_) remove_older();
  std::string said = fmt::format("{} to {}", path_of(0), path_of(count_ - 1));
  const std::string to = movie(), frames = std::to_string(count_);
  const std::string pattern = (std::filesystem::path(folder_) / (name_ + ".%04d.png")).string();
  // Even sides, as the format wants them.
  const char* const arguments[] = {"ffmpeg",
                                   "-nostdin",
                                   "-loglevel",
                                   "error",
                                   "-y",
                                   "-framerate",
                                   "25",
                                   "-i",
                                   pattern.c_str(),
                                   "-frames:v",
                                   frames.c_str(),
                                   "-vf",
                                   "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                   "-pix_fmt",
                                   "yuv420p",
                                   to.c_str(),
                                   nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t process = 0;
  int status = 1;
  const int failed = posix_spawnp(&process, "ffmpeg", &files, nullptr, const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed == 0 && waitpid(process, &status, 0) == process && status == 0) said += " and " + to;
  return said;
}

}  // namespace thor
