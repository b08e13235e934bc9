#include "thor/io/array/output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>

#include "thor/io/array/contents.hpp"
#include "thor/io/hdf5/hdf5.hpp"
#include "unit/io/input_support.hpp"

namespace thor::io {
namespace {

/// Every test runs with both formats.
class ArrayOutputTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    version();
    std::string name = (fs::temp_directory_path() / "thor_arrays_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    path = folder / (std::string("out") + GetParam());
    partial = path.string() + ".partial";
  }
  void TearDown() override {
    fs::permissions(folder, fs::perms::owner_all);
    fs::remove_all(folder);
  }

  template <class T>
  void round_trip(const std::vector<T>& values, const Shape& shape, int level) {
    {
      ArrayOutput output(path, true);
      output.write<T>("group/below/values", values, shape, "km s-1", "speed of the gas", level);
      output.commit(true);
    }
    const Input input(path);
    EXPECT_EQ(input.array("group/below/values").shape, shape);
    EXPECT_EQ(input.read_all<T>("group/below/values"), values);
    EXPECT_EQ(join_blocks<T>(input, "group/below/values", 2), values);
    EXPECT_EQ(input.text("group/below/values", "units"), "km s-1");
    EXPECT_EQ(input.text("group/below/values", "description"), "speed of the gas");
  }

  bool is_zarr() const { return path.extension() == ".zarr"; }

  fs::path folder, path, partial;
};

template <class T>
std::vector<T> many(std::size_t size) {
  std::vector<T> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = T(i % 1009) + T(i / 1000003);
  values.back() = std::numeric_limits<T>::max();
  values.front() = std::numeric_limits<T>::lowest();
  return values;
}

TEST_P(ArrayOutputTest, EveryTypeIsReadAsItWasWritten) {
  for (const int level : {0, 4}) {
    round_trip(many<float>(5 * 6 * 7), {5, 6, 7}, level);
    round_trip(many<double>(30), {30}, level);
    round_trip(many<std::int64_t>(30), {10, 3}, level);
    round_trip(many<std::uint64_t>(30), {1, 30}, level);
    round_trip(std::vector<float>{}, {0, 3}, level);
  }
}

TEST_P(ArrayOutputTest, LargeArraysAreChunked) {
  for (const int level : {0, 1}) {
    round_trip(many<float>(100 * 130 * 150), {100, 130, 150}, level);  // with edges that are not whole chunks
    round_trip(many<double>(300'000 * 3), {300'000, 3}, level);
  }
  if (is_zarr()) {
    const fs::path last = path / "group/below/values/3.0";
    EXPECT_TRUE(fs::exists(last));
    EXPECT_FALSE(fs::exists(path / "group/below/values/4.0"));
  }
}

TEST_P(ArrayOutputTest, PartsMakeTheWholeArray) {
  const auto in_parts = [&](const Shape& shape, std::uint64_t rows, int level) {
    SCOPED_TRACE(rows);
    const std::size_t row = std::accumulate(shape.begin() + 1, shape.end(), 1UL, std::multiplies<>());
    const auto values = many<float>(shape[0] * row), other = many<float>(shape[0] * row / 2 + 1);
    {
      ArrayOutput output(path, true);
      output.begin<float>("a/values", shape, rows, "K", "temperature", level);
      output.begin<float>("other", {other.size()}, other.size(), "", "", level);
      for (std::uint64_t first = 0; first < shape[0]; first += rows) {
        const std::span part(values.data() + first * row, std::min(rows, shape[0] - first) * row);
        output.append<float>("a/values", part);
        if (first == 0) output.append<float>("other", other);  // between two parts
      }
      output.commit(true);
    }
    const Input input(path);
    EXPECT_EQ(input.array("a/values").shape, shape);
    EXPECT_TRUE(input.read_all<float>("a/values") == values);
    EXPECT_TRUE(input.read_all<float>("other") == other);
    EXPECT_EQ(input.text("a/values", "units"), "K");
  };
  for (const int level : {0, 1}) {
    for (const std::uint64_t rows : {1, 2, 3, 4, 10, 20}) in_parts({10, 6, 7}, rows, level);
    for (const std::uint64_t rows : {7, 48, 67, 96}) in_parts({100, 130, 150}, rows, level);
    in_parts({1000}, 300, level);
    in_parts({30, 1, 5}, 7, level);
  }
}

TEST_P(ArrayOutputTest, PartsThatDoNotFitAreAnError) {
  const std::vector<float> two(2 * 5), one(5);
  const auto wrong = [&](auto&& job) {
    ArrayOutput output(path);
    output.begin<float>("values", {3, 5}, 2, "", "");
    message([&] { job(output); }, ExitCode::internal);
  };
  wrong([&](ArrayOutput& o) { o.append<float>("values", one); });
  wrong([&](ArrayOutput& o) { o.append<float>("none", two); });
  wrong([&](ArrayOutput& o) { o.append<double>("values", std::vector<double>(10)); });
  wrong([&](ArrayOutput& o) { o.append<double>("values", std::vector<double>(5)); });  // as many bytes
  wrong([&](ArrayOutput& o) { o.append<float>("values", two), o.append<float>("values", two); });
  wrong([&](ArrayOutput& o) {
    o.append<float>("values", two), o.append<float>("values", one), o.append<float>("values", one);
  });
  wrong([&](ArrayOutput& o) { o.append<float>("values", two), o.commit(); });  // the last row is missing
  wrong([&](ArrayOutput& o) { o.append<float>("values", two), o.finish(); });
  wrong([&](ArrayOutput& o) { o.begin<float>("other", {3, 5}, 0, "", ""); });
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_P(ArrayOutputTest, DeflateMakesItSmaller) {
  const std::vector<float> values = many<float>(1 << 21);
  const auto size_at = [&](int level) {
    ArrayOutput output(path, true);
    output.write<float>("values", values, {values.size()}, "", "", level);
    output.commit(true);
    std::uintmax_t size = 0;
    if (!is_zarr()) return fs::file_size(path);
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) size += entry.file_size();
    }
    return size;
  };
  EXPECT_GT(size_at(0), 4 * values.size());
  EXPECT_LT(size_at(4), values.size());
}

TEST_P(ArrayOutputTest, EqualArraysGiveEqualFiles) {
  const auto bytes = [&] {
    {
      std::vector<std::byte> dirt(4 << 20, std::byte{0xa5});  // in the heap, where a chunk's padding may come from
    }
    ArrayOutput output(path, true);
    output.write<float>("values", many<float>(130 * 130 * 70), {130, 130, 70}, "", "", 0);
    output.commit(true);
    std::ifstream file(is_zarr() ? path / "values/2.2.1" : path, std::ios::binary);
    EXPECT_TRUE(file);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string first = bytes();
  EXPECT_EQ(first, bytes());
  if (is_zarr()) {
    EXPECT_EQ(first.substr(first.size() - 4), std::string(4, '\0'));  // beyond the edge
  }
}

TEST_P(ArrayOutputTest, Attributes) {
  {
    ArrayOutput output(path);
    output.attribute("/", "format", std::string_view("thor grid"));
    output.attribute("/", "format_version", std::int64_t{1});
    output.attribute("/", "cell_size", 1e21);
    output.attribute("/", "periodic", true);
    output.attribute("/", "periodic", false);  // the later one wins
    const std::vector<double> list{1.5, -2, std::numeric_limits<double>::infinity()};
    output.attribute("/notes/deep", "list", std::span<const double>(list));
    output.write<float>("values", std::vector<float>{1, 2}, {2}, "K", "temperature");
    output.attribute("values", "floor", 10.0);
    output.commit();
  }
  const Input input(path);
  EXPECT_EQ(input.text("/", "format"), "thor grid");
  EXPECT_EQ(input.number("/", "format_version"), 1.0);
  EXPECT_EQ(input.number("/", "cell_size"), 1e21);
  EXPECT_EQ(input.number("/", "periodic"), 0.0);
  EXPECT_EQ(input.numbers("notes/deep", "list"), (std::vector<double>{1.5, -2, INFINITY}));
  EXPECT_EQ(input.number("values", "floor"), 10.0);
  EXPECT_EQ(input.text("values", "units"), "K");
  EXPECT_EQ(input.children("/"), (std::vector<std::string>{"notes", "values"}));
}

TEST_P(ArrayOutputTest, NothingIsThereBeforeCommit) {
  {
    ArrayOutput output(path);
    output.write<float>("values", std::vector<float>{1, 2}, {2}, "", "");
    EXPECT_TRUE(fs::exists(partial));
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_P(ArrayOutputTest, OldResultStaysUntilTheNewOneIsWhole) {
  const auto write = [&](float value, bool commit) {
    ArrayOutput output(path, true);
    output.write<float>("values", std::vector<float>{value}, {1}, "", "");
    if (commit) output.commit(true);
  };
  write(1, true);
  EXPECT_TRUE(mentions(message([&] { ArrayOutput output(path); }, ExitCode::output), "--overwrite"));
  write(2, false);
  EXPECT_EQ(Input(path).read_all<float>("values")[0], 1.0F);
  write(3, true);
  EXPECT_EQ(Input(path).read_all<float>("values")[0], 3.0F);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

TEST_P(ArrayOutputTest, ResultThatAppearsMeanwhileIsKeptAndSoIsOurs) {
  {
    ArrayOutput output(path);
    output.write<float>("values", std::vector<float>{1}, {1}, "", "");
    std::ofstream(path) << "precious";
    EXPECT_TRUE(mentions(message([&] { output.commit(); }, ExitCode::output), partial.string()));
  }
  EXPECT_EQ(fs::file_size(path), 8u);
  EXPECT_EQ(Input(partial).read_all<float>("values")[0], 1.0F);
}

TEST_P(ArrayOutputTest, WhatIsNoResultOfThisKindIsNotReplaced) {
  fs::create_directory(path);
  std::ofstream(path / "precious") << "data";
  EXPECT_TRUE(mentions(message([&] { ArrayOutput output(path, true); }, ExitCode::output), "is a directory"));
  EXPECT_TRUE(fs::exists(path / "precious"));
}

TEST_P(ArrayOutputTest, FilesOfOthersInADirectoryAreNotReplaced) {
  if (!is_zarr()) return;  // an HDF5 result is one file
  const auto write = [&] {
    ArrayOutput output(path, true);
    output.write<float>("group/values", std::vector<float>{1}, {1}, "", "");
    output.commit(true);
  };
  write();
  write();  // what thor wrote is replaced
  for (const char* name :
       {"notes", "group/notes", "group/values/plot.png", "mine/.zgroup", "mine/0", "group/values/.z"}) {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name) << "precious";
    EXPECT_TRUE(mentions(message(write, ExitCode::output), "thor did not write '" + (path / name).string())) << name;
    EXPECT_EQ(fs::file_size(path / name), 8u) << name;
    EXPECT_FALSE(fs::exists(partial));
    fs::remove(path / name);
  }
  fs::create_symlink(folder, path / "link");
  EXPECT_TRUE(mentions(message(write, ExitCode::output), "thor did not write"));
  fs::remove(path / "link");
  {
    ArrayOutput output(path, true);  // one that comes during the run
    std::ofstream(path / "notes") << "precious";
    EXPECT_TRUE(mentions(message([&] { output.commit(true); }, ExitCode::output), "kept as '" + partial.string()));
  }
  EXPECT_TRUE(mentions(message(write, ExitCode::output), "thor did not write"));
  fs::remove(path / "notes");
  EXPECT_TRUE(mentions(message(write, ExitCode::output), "is a complete result")) << "which the message has promised";
  fs::remove_all(partial);
  fs::remove(path / ".zmetadata");  // as another program would write it
  EXPECT_TRUE(mentions(message(write, ExitCode::output), "thor did not write this directory"));
  EXPECT_TRUE(fs::exists(path / "group/values/0"));
}

TEST_P(ArrayOutputTest, FilesOfOthersAmongLeftoversAreNotRemoved) {
  if (!is_zarr()) return;  // an HDF5 result is one file
  fs::create_directories(partial / "photons/id");
  for (const char* name : {".zgroup", ".reserved", "photons/.zgroup", "photons/id/0"}) std::ofstream(partial / name);
  std::ofstream(partial / "notes") << "precious";
  EXPECT_TRUE(mentions(message([&] { ArrayOutput output(path); }, ExitCode::output), "is in the way"));
  EXPECT_EQ(fs::file_size(partial / "notes"), 8u);
  fs::remove(partial / "notes");
  ArrayOutput output(path);
  EXPECT_FALSE(fs::exists(partial / "photons"));
}

TEST_P(ArrayOutputTest, DirectoryNamedLikeTheReplacedOneIsLeftAlone) {
  if (!is_zarr()) return;  // a file is replaced in one step
  const fs::path other = path.string() + ".replaced";
  fs::create_directory(other);
  std::ofstream(other / "notes") << "precious";
  for (int i = 0; i < 2; ++i) {
    ArrayOutput output(path, true);
    output.commit(true);
  }
  EXPECT_EQ(fs::file_size(other / "notes"), 8u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
}

TEST_P(ArrayOutputTest, PartialThatAnotherRunHasMadeAnewIsNotTouched) {
  if (!is_zarr()) return;  // see hdf5_test.cpp
  {
    ArrayOutput output(path);
    fs::remove_all(partial);
    fs::create_directory(partial);
    std::ofstream(partial / ".zgroup") << "another";
    const auto write = [&] { output.write<float>("values", std::vector<float>{1}, {1}, "", ""); };
    EXPECT_TRUE(mentions(message(write, ExitCode::output), "removed or replaced"));
    EXPECT_TRUE(mentions(message([&] { output.commit(); }, ExitCode::output), "removed or replaced"));
  }
  EXPECT_EQ(fs::file_size(partial / ".zgroup"), 7u);
  EXPECT_FALSE(fs::exists(path));
}

TEST_P(ArrayOutputTest, WhatAnotherRunWritesIsNotTouched) {
  if (is_zarr()) {
    fs::create_directory(partial);
    std::ofstream(partial / ".zgroup") << "{}";
  } else {
    std::ofstream(partial) << "running";
  }
  const int descriptor = open(partial.c_str(), O_RDONLY);
  ASSERT_EQ(flock(descriptor, LOCK_EX), 0);
  EXPECT_TRUE(mentions(message([&] { ArrayOutput output(path); }, ExitCode::output), "another run"));
  close(descriptor);
  ArrayOutput output(path);  // the leftover of a killed run is replaced
  output.commit();
  EXPECT_TRUE(Input(path).children("/").empty());
}

TEST_P(ArrayOutputTest, UnusableNamesAreRefused) {
  const auto refused = [](const fs::path& name) {
    return message([&] { ArrayOutput output(name); }, ExitCode::output);
  };
  EXPECT_TRUE(mentions(refused(folder / "no" / path.filename()), "no directory"));
  EXPECT_TRUE(mentions(refused("/proc" / path.filename()), "no file can be created"));
  const bool root = geteuid() == 0;  // root may write everywhere: become "nobody" for a moment
  fs::permissions(folder, fs::perms(0555));
  if (root && seteuid(65534) != 0) GTEST_SKIP() << "running as root, and cannot change the user";
  const std::string text = refused(path);
  ASSERT_TRUE(!root || seteuid(0) == 0);
  EXPECT_TRUE(mentions(text, "Permission denied")) << text;
}

TEST_P(ArrayOutputTest, MisuseIsAnError) {
  ArrayOutput output(path);
  const std::vector<float> two{1, 2};
  output.write<float>("values", two, {2}, "", "");
  EXPECT_TRUE(mentions(message([&] { output.write<float>("/values", two, {2}, "", ""); }, ExitCode::output), "twice"));
  message([&] { output.write<float>("other", two, {3}, "", ""); }, ExitCode::internal);
  message([&] { output.write<float>("other", two, {}, "", ""); }, ExitCode::internal);
  message([&] { output.write<float>("other", two, {2}, "", "", 10); }, ExitCode::internal);
  if (is_zarr()) {
    message([&] { output.write<float>("../other", two, {2}, "", ""); }, ExitCode::internal);
    message([&] { output.attribute("a/../../b", "name", 1.0); }, ExitCode::internal);
  }
}

/// In a child process with a limit on file size: Error(output), and no file is left.
TEST_P(ArrayOutputTest, FullDisk) {
  for (const int level : {0, 1}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit small{10'000, 10'000};
      setrlimit(RLIMIT_FSIZE, &small);
      int status = 1;
      try {
        ArrayOutput output(path);
        output.write<float>("values", many<float>(3 << 20), {3 << 20}, "", "", level);
        output.commit();
      } catch (const Error& error) {
        const bool good = error.code() == ExitCode::output && mentions(error.what(), path.string()) &&
                          mentions(error.what(), "File too large; raise the limit");
        status = good ? 42 : 2;
        if (!good) std::fprintf(stderr, "%s\n", error.what());
      }
      std::exit(status);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 42);
    EXPECT_TRUE(fs::is_empty(folder));
  }
}

TEST_P(ArrayOutputTest, ColumnsOfManyLengths) {
  for (const std::size_t rows : {0UL, 1UL, 65'536UL, 200'000UL}) {
    std::vector<std::uint64_t> id(rows);
    std::iota(id.begin(), id.end(), 7U);
    std::vector<float> position(3 * rows);
    std::iota(position.begin(), position.end(), 0.0F);
    {
      ArrayOutput output(path, true);
      auto ids = output.column<std::uint64_t>("/photons/original/id", 1, "", "photon number");
      auto positions = output.column<float>("/photons/original/position", 3, "cm", "last scattering");
      output.attribute("/photons/original/id", "early", 1);
      for (std::size_t i = 0; i < rows; i += 999) {  // no divisor of the chunk
        ids.append({id.data() + i, std::min<std::size_t>(999, rows - i)});
      }
      positions.append(position);
      output.attribute("/photons/original/position", "frame", "box");
      EXPECT_EQ(ids.rows(), rows);
      EXPECT_EQ(positions.rows(), rows);
      output.finish();
      EXPECT_TRUE(mentions(message(
                               [&] {
                                 ids.append(id);
                                 ids.append(std::vector<std::uint64_t>(1));
                               },
                               ExitCode::internal),
                           "closed"));
      output.commit(true);
    }
    const Input input(path);
    EXPECT_EQ(input.array("/photons/original/id").shape, Shape{rows});
    EXPECT_EQ(input.array("/photons/original/position").shape, (Shape{rows, 3}));
    EXPECT_EQ(input.read_all<std::uint64_t>("/photons/original/id"), id);
    EXPECT_EQ(input.read_all<float>("/photons/original/position"), position);
    EXPECT_EQ(input.text("/photons/original/position", "units"), "cm");
    EXPECT_EQ(input.text("/photons/original/position", "frame"), "box");
    EXPECT_EQ(input.number("/photons/original/id", "early"), 1);
  }
}

TEST_P(ArrayOutputTest, RoomThatIsKeptIsGivenBack) {
  ArrayOutput output(path);
  output.reserve(1 << 20);
  output.write("/values", std::vector<double>{1, 2}, "", "two");
  output.commit();
  std::uintmax_t size = fs::is_directory(path) ? 0 : fs::file_size(path);
  for (const auto& file : fs::recursive_directory_iterator(fs::is_directory(path) ? path : folder)) {
    if (is_zarr() && file.is_regular_file()) size += file.file_size();
  }
  EXPECT_LT(size, 20'000u);
  EXPECT_GT(size, 16u);
  ArrayOutput greedy(folder / (std::string("other") + GetParam()));
  EXPECT_TRUE(mentions(message([&] { greedy.reserve(std::uint64_t(1) << 61); }, ExitCode::output), "free"));
}

const Object& find(const std::vector<Object>& objects, const std::string& path) {
  const auto found = std::ranges::find(objects, path, &Object::path);
  if (found == objects.end()) throw std::out_of_range(path);
  return *found;
}

TEST_P(ArrayOutputTest, ContentsListsWhatWasWritten) {
  {
    ArrayOutput output(path);
    output.attribute("/", "name", std::string("Lyα"));
    output.attribute("/", "seed", std::uint64_t(18446744073709551615u));
    output.attribute("/g", "good", true);
    output.attribute("/g", "depth", -3);
    output.attribute("/g", "whole", 2.0);
    output.attribute("/g", "list", std::vector<double>{1, 0.1, -2});
    output.write<double>("/g/values", std::vector<double>{1, 2, 3, 4, 5, 6}, {3, 2}, "cm", "six");
    output.column<std::int64_t>("/g/h/rows", 3, "", "none yet");
    output.commit();
  }
  const auto objects = contents(path.string());
  require_whole(path.string(), objects);
  EXPECT_EQ(objects.size(), 5u);
  EXPECT_EQ(std::get<std::string>(find(objects, "/").attributes.at("name")), "Lyα");
  EXPECT_EQ(std::get<std::uint64_t>(find(objects, "/").attributes.at("seed")), 18446744073709551615u);
  EXPECT_TRUE(std::get<bool>(find(objects, "/g").attributes.at("good")));
  EXPECT_EQ(std::get<std::int64_t>(find(objects, "/g").attributes.at("depth")), -3);
  EXPECT_EQ(std::get<double>(find(objects, "/g").attributes.at("whole")), 2);
  EXPECT_EQ(std::get<std::vector<double>>(find(objects, "/g").attributes.at("list")),
            (std::vector<double>{1, 0.1, -2}));
  const Object& values = find(objects, "/g/values");
  EXPECT_TRUE(values.is_dataset);
  EXPECT_EQ(values.type, "float64");
  EXPECT_EQ(values.shape, (Shape{3, 2}));
  EXPECT_EQ(std::get<std::string>(values.attributes.at("units")), "cm");
  EXPECT_EQ(find(objects, "/g/h/rows").shape, (Shape{0, 3}));
}

/// What was lost or cut in a copy of a zarr directory is named.
TEST(ZarrOutput, WhatIsNotWholeIsAnError) {
  std::string name = (fs::temp_directory_path() / "thor_whole_XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path folder = name, good = folder / "good.zarr", bad = folder / "bad.zarr";
  {
    ArrayOutput output(good);
    output.attribute("/summary", "photons", 3);
    output.column<double>("/photons/weight", 1, "", "").append(std::vector<double>(70'000));
    output.commit();
  }
  const auto says = [&](const auto& harm) {
    fs::remove_all(bad);
    fs::copy(good, bad, fs::copy_options::recursive);
    harm();
    return message([&] { require_whole(bad.string(), contents(bad.string())); }, ExitCode::input);
  };
  require_whole(good.string(), contents(good.string()));
  const fs::path column = bad / "photons/weight";
  EXPECT_TRUE(mentions(says([&] { fs::resize_file(column / "1", 100); }), "chunk 1 is truncated"));
  EXPECT_TRUE(mentions(says([&] { fs::remove(column / "0"); }), "chunk 0 is missing"));
  EXPECT_TRUE(mentions(says([&] { fs::remove(column / ".zarray"); }), "photons/weight/.zarray is missing"));
  EXPECT_TRUE(mentions(says([&] { fs::remove_all(bad / "summary"); }), "summary/.zattrs is missing"));
  EXPECT_TRUE(mentions(says([&] { fs::remove(bad / ".zmetadata"); }), ".zmetadata"));
  EXPECT_TRUE(mentions(says([&] { fs::resize_file(column / ".zarray", 30); }), "not a JSON object"));
  EXPECT_TRUE(mentions(says([&] { fs::resize_file(bad / "summary/.zattrs", 5); }), "not a JSON object"));
  EXPECT_TRUE(mentions(says([&] { fs::remove(bad / ".zgroup"); }), "no zarr store"));
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Formats, ArrayOutputTest, ::testing::Values(".h5", ".zarr"),
                         [](const auto& info) { return info.param[1] == 'h' ? "Hdf5" : "Zarr"; });

}  // namespace
}  // namespace thor::io
