#include "thor/drivers/frames.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "thor/core/error.hpp"
#include "thor/io/png/colour_map.hpp"
#include "thor/io/png/png.hpp"

namespace thor {

std::string frames_folder(const std::string& result) {
  const std::filesystem::path path(result);
  return (path.parent_path() / (path.stem().string() + "_frames")).string();
}

Frames::Frames(std::string folder, std::string name, bool overwrite)
    : folder_(std::move(folder)), name_(std::move(name)), overwrite_(overwrite) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) {
    throw Error(ExitCode::output, folder_ + ": cannot make this folder (" + error.message() + "): set output.frames");
  }
}

std::string Frames::path_of(std::size_t frame) const {
  return (std::filesystem::path(folder_) / fmt::format("{}.{:04}.png", name_, frame)).string();
}

void Frames::add(const ImageTask& task, const std::vector<double>& values) {
  const int columns = task.job.camera.columns, rows = task.job.camera.rows;
  if (task.is_picture) {
    io::write_png(path_of(count_++), overwrite_, io::picture_of(columns, rows, values));
    return;
  }
  if (count_ == 0) {
    for (const double v : values) high_ = std::isfinite(v) ? std::max(high_, v) : high_;
    double least = HUGE_VAL;
    for (const double v : values) least = v > 0 ? std::min(least, v) : least;
    low_ = std::max(least, high_ * 1e-6);
  }
  io::Raster raster(columns, rows, {0, 0, 0});
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const double v = values[std::size_t(row) * std::size_t(columns) + std::size_t(column)];
      const double place = v > low_ ? std::log(v / low_) / std::log(std::max(high_ / low_, 1.0001)) : 0;
      raster.set(column, rows - 1 - row, io::colour_of(std::min(place, 1.)));
    }
  }
  io::write_png(path_of(count_++), overwrite_, raster);
}

std::string Frames::finish() {
  std::string said = fmt::format("{} to {}", path_of(0), path_of(count_ - 1));
  const std::string movie = (std::filesystem::path(folder_) / (name_ + ".mp4")).string();
  const std::string pattern = (std::filesystem::path(folder_) / (name_ + ".%04d.png")).string();
  // Even sides, as the format wants them.
  const char* const arguments[] = {"ffmpeg",   "-loglevel", "error",         "-y",   "-framerate",
                                   "25",       "-i",        pattern.c_str(), "-vf",  "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                   "-pix_fmt", "yuv420p",   movie.c_str(),   nullptr};
  pid_t process = 0;
  int status = 1;
  if (posix_spawnp(&process, "ffmpeg", nullptr, nullptr, const_cast<char* const*>(arguments), environ) != 0)
    return said;
  if (waitpid(process, &status, 0) == process && status == 0) said += " and " + movie;
  return said;
}

}  // namespace thor
