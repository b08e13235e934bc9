#pragma once
#include <optional>
#include <string>
#include <vector>

#include "thor/io/png/scale.hpp"
#include "thor/operators/image_task.hpp"

namespace thor {

/// The folder for the frames of a result: out_frames for out.h5.
std::string frames_folder(const std::string& result);

/// The pictures of a camera that moves: FOLDER/NAME.0000.png, ..., and a movie of them where ffmpeg is installed.
/// Nothing is replaced unless `overwrite`; then no older frame and no older movie of that name is left.
class Frames {
 public:
  /// Throws an Error(output) where one of so many frames is there already.
  Frames(std::string folder, std::string name, bool overwrite, std::uint64_t frames);
  /// Values are drawn on the scale of the first frame.
  void add(const ImageTask& task, const std::vector<double>& values);
  /// What a run that ends before all of them says.
  std::string remain() const;
  /// Makes the movie; says what was written.
  std::string finish();

 private:
  std::string path_of(std::size_t frame) const;
  std::string movie() const;
  void remove_older() const;
  std::string folder_, name_;
  bool overwrite_;
  std::size_t count_ = 0;
  std::optional<io::Scale> scale_{};
};

}  // namespace thor
