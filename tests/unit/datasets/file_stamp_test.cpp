#include "thor/datasets/file_stamp.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "thor/core/error.hpp"

namespace {

using namespace thor;

TEST(FileStamp, SeesAFileThatTakesThePlaceOfAnother) {
  const std::string path = testing::TempDir() + "thor_stamp_" + std::to_string(getpid()), other = path + "_other";
  std::ofstream(path) << "gas";
  const FileStamp stamp(path);
  EXPECT_NO_THROW(stamp.require_same());
  std::ofstream(other) << "sag";
  std::filesystem::last_write_time(other, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
  std::filesystem::rename(other, path);
  try {
    stamp.require_same();
    ADD_FAILURE() << "of the same size, written at another time";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::input);
    EXPECT_EQ(std::string(e.what()), path + ": changed while it was read: run again");
  }
  std::filesystem::remove(path);
  EXPECT_THROW(stamp.require_same(), Error);
}

}  // namespace
