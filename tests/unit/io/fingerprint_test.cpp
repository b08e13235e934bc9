#include "thor/io/fingerprint.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "thor/core/error.hpp"

namespace {

using thor::io::fingerprint;
namespace fs = std::filesystem;

class FingerprintTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

  const fs::path folder = fs::temp_directory_path() / ("thor-fingerprint-" + std::to_string(getpid()));
};

// Pieces of 64 KiB were compared once, so that a change between them was missed.
TEST_F(FingerprintTest, EveryByteCounts) {
  std::string text(5'000'003, 'a');
  const fs::path file = folder / "input";
  write(file, text);
  const auto before = fingerprint(file.string());
  EXPECT_EQ(before.bytes, text.size());
  EXPECT_EQ(fingerprint(file.string()), before);
  for (const std::size_t at : {0ul, 1ul, 7ul, 65'536ul, 100'000ul, 2'500'001ul, 4'999'999ul, 5'000'002ul}) {
    std::string changed = text;
    changed[at] ^= 1;
    write(file, changed);
    EXPECT_NE(fingerprint(file.string()).hash, before.hash) << at;
    EXPECT_EQ(fingerprint(file.string()).bytes, before.bytes);
  }
  std::string swapped = text;
  swapped[100] = 'b', swapped[2'000'000] = 'c';
  write(file, swapped);
  const auto one = fingerprint(file.string());
  std::swap(swapped[100], swapped[2'000'000]);
  write(file, swapped);
  EXPECT_NE(fingerprint(file.string()).hash, one.hash) << "the order counts";
  write(file, text + '\0');
  EXPECT_NE(fingerprint(file.string()).hash, before.hash) << "a zero at the end";
}

TEST_F(FingerprintTest, OfADirectoryHasAllFilesAndTheirNames) {
  fs::create_directories(folder / "zarr" / "a");
  write(folder / "zarr" / "a" / "0.0", "numbers"), write(folder / "zarr" / ".zgroup", "{}");
  const std::string path = (folder / "zarr").string();
  const auto before = fingerprint(path);
  EXPECT_EQ(before.bytes, 9u);
  write(folder / "zarr" / "a" / "0.0", "numberz");
  EXPECT_NE(fingerprint(path).hash, before.hash);
  write(folder / "zarr" / "a" / "0.0", "numbers");
  EXPECT_EQ(fingerprint(path), before);
  fs::rename(folder / "zarr" / "a" / "0.0", folder / "zarr" / "a" / "0.1");
  EXPECT_NE(fingerprint(path).hash, before.hash);
}

TEST_F(FingerprintTest, OfADirectoryHasFilesBehindLinks) {
  const fs::path zarr = folder / "zarr";
  for (const fs::path& place : {zarr, folder / "array", folder / "other"}) fs::create_directories(place);
  write(folder / "array" / "0.0", "numbers"), write(folder / "chunk", "chunk"), write(zarr / ".zgroup", "{}");
  fs::create_directory_symlink(folder / "array", zarr / "a");
  fs::create_symlink(folder / "chunk", zarr / "0.1");
  fs::create_directory_symlink(zarr, zarr / "loop");
  fs::create_symlink("self", zarr / "self");
  fs::create_symlink("nowhere", zarr / "dangling");
  const auto before = fingerprint(zarr.string());
  EXPECT_EQ(before.bytes, 14u);
  fs::rename(folder / "array", folder / "other" / "array");
  fs::remove(zarr / "a");
  fs::create_directory_symlink("../other/array", zarr / "a");
  EXPECT_EQ(fingerprint(zarr.string()), before) << "what is there counts, not where";
  write(folder / "other" / "array" / "0.0", "numberz");
  EXPECT_NE(fingerprint(zarr.string()).hash, before.hash);
  write(folder / "other" / "array" / "0.0", "numbers"), write(folder / "chunk", "chunc");
  EXPECT_NE(fingerprint(zarr.string()).hash, before.hash);
}

TEST_F(FingerprintTest, OfAFileThatIsNotThereIsAnError) {
  EXPECT_THROW(fingerprint((folder / "none").string()), thor::Error);
}

}  // namespace
