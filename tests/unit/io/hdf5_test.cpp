#include "thor/io/hdf5/hdf5.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <vector>

#include "thor/core/error.hpp"
#include "thor/io/array/contents.hpp"
#include "thor/io/array/output.hpp"

namespace thor::io {
namespace {

namespace fs = std::filesystem;
using File = ArrayOutput;

class Hdf5 : public ::testing::Test {
 protected:
  void SetUp() override {
    version();  // initialises the library before the test itself calls it
    std::string name = (fs::temp_directory_path() / "thor_hdf5_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    path = folder / "out.h5";
    partial = folder / "out.h5.partial";
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path folder, path, partial;
};

/// Reads back with the C API, sharing nothing with the writer.
class Reader {
 public:
  explicit Reader(const fs::path& path) : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {
    EXPECT_GE(file_, 0) << path;
  }
  ~Reader() { H5Fclose(file_); }

  template <class T>
  std::vector<T> values(const std::string& object, hid_t type) {
    const hid_t set = H5Dopen2(file_, object.c_str(), H5P_DEFAULT);
    const hid_t space = H5Dget_space(set);
    std::vector<T> out(H5Sget_simple_extent_npoints(space));
    if (!out.empty()) {
      EXPECT_GE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()), 0);
    }
    H5Sclose(space);
    H5Dclose(set);
    return out;
  }

  std::vector<hsize_t> shape(const std::string& object) {
    const hid_t set = H5Dopen2(file_, object.c_str(), H5P_DEFAULT);
    const hid_t space = H5Dget_space(set);
    std::vector<hsize_t> out(H5Sget_simple_extent_ndims(space));
    H5Sget_simple_extent_dims(space, out.data(), nullptr);
    H5Sclose(space);
    H5Dclose(set);
    return out;
  }

  template <class T>
  T number(const std::string& object, const std::string& name, hid_t type) {
    const hid_t attribute = H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    T out{};
    EXPECT_GE(H5Aread(attribute, type, &out), 0) << object << " " << name;
    H5Aclose(attribute);
    return out;
  }

  std::string text(const std::string& object, const std::string& name) {
    const hid_t attribute = H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute);
    EXPECT_EQ(H5Tis_variable_str(type), 0);
    EXPECT_EQ(H5Tget_cset(type), H5T_CSET_UTF8);
    std::string out(H5Tget_size(type), '?');
    H5Aread(attribute, type, out.data());
    H5Tclose(type);
    H5Aclose(attribute);
    return out;
  }

  /// Name of the enum member in an attribute.
  std::string enumerator(const std::string& object, const std::string& name) {
    const hid_t attribute = H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute);
    EXPECT_EQ(H5Tget_class(type), H5T_ENUM);
    std::int8_t value = -1;
    H5Aread(attribute, type, &value);
    char out[16] = "";
    H5Tenum_nameof(type, &value, out, sizeof out);
    H5Tclose(type);
    H5Aclose(attribute);
    return out;
  }

 private:
  hid_t file_;
};

/// Runs `f`, which must throw a thor::Error, and returns its text.
template <class F>
std::string message(F f, ExitCode expected = ExitCode::output) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(Hdf5, AttributesRoundTrip) {
  const std::string config(100'000, 'y');  // above the 64 kB of the oldest format
  {
    File file(path);
    file.attribute("/", "line", "Lyα");
    file.attribute("/", "config", config);
    file.attribute("/", "empty", "");
    file.attribute("/summary", "complete", false);
    file.attribute("/summary", "complete", true);
    file.attribute("/summary", "photons", std::uint64_t{18'000'000'000'000'000'000U});
    file.attribute("/summary", "threads", 4);
    file.attribute("/summary", "offset", std::int64_t{-5'000'000'000});
    file.attribute("summary", "seconds", 0.1);
    file.commit();
  }
  Reader reader(path);
  EXPECT_EQ(reader.text("/", "line"), "Lyα");
  EXPECT_EQ(reader.text("/", "config"), config);
  EXPECT_EQ(reader.text("/", "empty"), std::string(1, '\0'));
  EXPECT_EQ(reader.enumerator("/summary", "complete"), "TRUE");
  EXPECT_EQ(reader.number<std::uint64_t>("/summary", "photons", H5T_NATIVE_UINT64), 18'000'000'000'000'000'000U);
  EXPECT_EQ(reader.number<std::int64_t>("/summary", "threads", H5T_NATIVE_INT64), 4);
  EXPECT_EQ(reader.number<std::int64_t>("/summary", "offset", H5T_NATIVE_INT64), -5'000'000'000);
  EXPECT_EQ(reader.number<double>("/summary", "seconds", H5T_NATIVE_DOUBLE), 0.1);
}

TEST_F(Hdf5, DatasetsRoundTrip) {
  const std::vector<double> flux{1.5, -2.25, 1e300};
  const std::vector<float> small{0.5F, 3e38F};
  const std::vector<std::int64_t> signed_values{-1, 9'000'000'000'000'000'000};
  const std::vector<std::uint64_t> counts{0, 18'000'000'000'000'000'000U};
  {
    File file(path);
    file.write("/spectra/emergent/flux", flux, "erg s-1", "luminosity per unit x");
    file.attribute("/spectra/emergent/flux", "bins", 3);
    file.attribute("/spectra/emergent", "axis", "x");
    file.write("/small", small, "", "floats");
    file.write("/signed", signed_values, "", "integers");
    file.write("/spectra/emergent/counts", counts, "", "counts");
    file.write("/none", std::span<const double>(), "cm", "nothing");
    file.commit();
  }
  Reader reader(path);
  EXPECT_EQ(reader.values<double>("/spectra/emergent/flux", H5T_NATIVE_DOUBLE), flux);
  EXPECT_EQ(reader.text("/spectra/emergent/flux", "units"), "erg s-1");
  EXPECT_EQ(reader.text("/spectra/emergent/flux", "description"), "luminosity per unit x");
  EXPECT_EQ(reader.number<std::int64_t>("/spectra/emergent/flux", "bins", H5T_NATIVE_INT64), 3);
  EXPECT_EQ(reader.text("/spectra/emergent", "axis"), "x");
  EXPECT_EQ(reader.values<float>("/small", H5T_NATIVE_FLOAT), small);
  EXPECT_EQ(reader.values<std::int64_t>("/signed", H5T_NATIVE_INT64), signed_values);
  EXPECT_EQ(reader.values<std::uint64_t>("/spectra/emergent/counts", H5T_NATIVE_UINT64), counts);
  EXPECT_EQ(reader.shape("/none"), std::vector<hsize_t>{0});
}

TEST_F(Hdf5, ColumnsOfManyLengths) {
  for (const std::size_t rows : {0UL, 1UL, 65'536UL, 200'000UL}) {
    std::vector<std::uint64_t> id(rows);
    std::iota(id.begin(), id.end(), 7U);
    std::vector<float> position(3 * rows);
    std::iota(position.begin(), position.end(), 0.0F);
    {
      File file(path, true);
      auto ids = file.column<std::uint64_t>("/photons/original/id", 1, "", "photon number");
      auto positions = file.column<float>("/photons/original/position", 3, "cm", "last scattering");
      for (std::size_t i = 0; i < rows; i += 999) {  // does not divide the chunk
        const std::size_t n = std::min<std::size_t>(999, rows - i);
        ids.append({id.data() + i, n});
      }
      positions.append(position);
      file.attribute("/photons/original/position", "frame", "box");
      EXPECT_EQ(ids.rows(), rows);
      EXPECT_EQ(positions.rows(), rows);
      file.commit(true);
    }
    Reader reader(path);
    EXPECT_EQ(reader.shape("/photons/original/id"), std::vector<hsize_t>{rows});
    EXPECT_EQ(reader.shape("/photons/original/position"), (std::vector<hsize_t>{rows, 3}));
    EXPECT_EQ(reader.values<std::uint64_t>("/photons/original/id", H5T_NATIVE_UINT64), id);
    EXPECT_EQ(reader.values<float>("/photons/original/position", H5T_NATIVE_FLOAT), position);
    EXPECT_EQ(reader.text("/photons/original/position", "units"), "cm");
    EXPECT_EQ(reader.text("/photons/original/position", "frame"), "box");
  }
}

TEST_F(Hdf5, ColumnsOfOtherTypes) {
  const std::vector<double> weight{1e42, 2e42};
  const std::vector<std::int64_t> scatterings{-1, 1'000'000'000'000};
  {
    File file(path);
    file.column<double>("/weight", 1, "erg s-1", "").append(weight);
    file.column<std::int64_t>("/scatterings", 1, "", "").append(scatterings);
    file.commit();
  }
  EXPECT_LT(fs::file_size(path), 20'000U);  // short columns have short chunks
  Reader reader(path);
  EXPECT_EQ(reader.values<double>("/weight", H5T_NATIVE_DOUBLE), weight);
  EXPECT_EQ(reader.values<std::int64_t>("/scatterings", H5T_NATIVE_INT64), scatterings);
}

TEST_F(Hdf5, EqualContentGivesEqualBytes) {
  std::string bytes[2];
  for (auto& content : bytes) {
    File file(path, true);
    file.write("/a/b", std::vector<double>{1.0}, "cm", "one");
    file.column<float>("/a/c", 1, "", "").append(std::vector<float>{1.0F});
    file.commit(true);
    std::ifstream stream(path, std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(stream), {});
    if (content.data() == bytes[0].data()) usleep(1'100'000);  // HDF5's time stamps are in seconds
  }
  EXPECT_GT(bytes[0].size(), 100U);
  EXPECT_TRUE(bytes[0] == bytes[1]);
}

TEST_F(Hdf5, UncommittedFileVanishes) {
  {
    File file(path);
    file.attribute("/", "seed", 1);
    EXPECT_EQ(file.partial_path(), partial);
    EXPECT_TRUE(fs::exists(partial));
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(Hdf5, ExistingFileIsRefusedOrReplacedAtTheEnd) {
  std::ofstream(path) << "precious";
  const std::string text = message([&] { File file(path); });
  EXPECT_TRUE(contains(text, path.string())) << text;
  EXPECT_TRUE(contains(text, "--overwrite")) << text;
  {
    File file(path, true);
    file.attribute("/", "seed", 1);
  }
  EXPECT_EQ(fs::file_size(path), 8U);  // uncommitted: the old file is still there
  File file(path, true);
  file.commit(true);
  EXPECT_EQ(H5Fis_hdf5(path.c_str()), 1);
  EXPECT_FALSE(fs::exists(partial));
}

TEST_F(Hdf5, FileThatAppearsMeanwhileIsKeptAndSoIsTheResult) {
  {
    File file(path);
    std::ofstream(path) << "precious";
    const std::string text = message([&] { file.commit(); });
    EXPECT_TRUE(contains(text, partial.string())) << text;
  }
  EXPECT_EQ(fs::file_size(path), 8U);
  EXPECT_EQ(H5Fis_hdf5(partial.c_str()), 1);
}

TEST_F(Hdf5, UnusableNamesAreRefused) {
  const std::string missing = message([&] { File file(folder / "no" / "out.h5"); });
  EXPECT_TRUE(contains(missing, (folder / "no").string())) << missing;
  EXPECT_TRUE(contains(missing, "no directory")) << missing;
  EXPECT_TRUE(contains(message([&] { File file(folder, true); }), "is a directory"));
  EXPECT_TRUE(contains(message([] { File file("/proc/out.h5"); }), "no file can be created"));
}

TEST_F(Hdf5, UnwritableDirectoryIsRefused) {
  const bool root = geteuid() == 0;  // root may write everywhere: become "nobody" for a moment
  fs::permissions(folder, fs::perms(0555));
  if (root && seteuid(65534) != 0) GTEST_SKIP() << "running as root, and cannot change the user";
  const std::string text = message([&] { File file(path); });
  ASSERT_TRUE(!root || seteuid(0) == 0);
  fs::permissions(folder, fs::perms::owner_all);
  EXPECT_TRUE(contains(text, "Permission denied")) << text;
}

TEST_F(Hdf5, FileOfARunningRunIsNotTouched) {
  std::ofstream(partial) << "running";
  const int descriptor = open(partial.c_str(), O_RDWR);
  ASSERT_EQ(flock(descriptor, LOCK_EX), 0);
  EXPECT_TRUE(contains(message([&] { File file(path); }), "another run"));
  EXPECT_EQ(fs::file_size(partial), 7U);
  close(descriptor);
  File file(path);  // the leftover of a killed run is replaced
  file.commit();
  EXPECT_EQ(H5Fis_hdf5(path.c_str()), 1);
}

TEST_F(Hdf5, MisuseIsAnError) {
  Column<float> column;
  {
    File file(path);
    file.write("/a", std::vector<double>{1.0}, "", "");
    EXPECT_TRUE(contains(message([&] { file.write("/a", std::vector<double>{2.0}, "", ""); }),
                         "/a: this dataset is written twice"));
    const std::string below = message([&] { file.attribute("/a/b", "name", 1); });
    EXPECT_TRUE(contains(below, "/a/b")) << below;
    column = file.column<float>("/b", 3, "", "");
    message([&] { column.append(std::vector<float>{1.0F}); }, ExitCode::internal);
    message([&] { file.column<float>("/b", 1, "", ""); });
    file.commit();
  }
  message([&] { column.append(std::vector<float>(3)); }, ExitCode::internal);
}

/// In a child process with a file size limit, calls `f`, which must end in Error(output); then calls exit(), so that
/// HDF5 has the chance to misbehave there too.
template <class F>
void expect_full_disk(rlim_t limit, const fs::path& folder, F f) {
  int out[2];
  ASSERT_EQ(pipe(out), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    dup2(out[1], STDERR_FILENO);
    close(out[1]);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{limit, limit};
    setrlimit(RLIMIT_FSIZE, &small);
    int status = 1;
    try {
      f();
    } catch (const Error& error) {
      const std::string text = error.what();
      status = error.code() == ExitCode::output && contains(text, "out.h5") &&
                       contains(text, "File too large; raise the limit")
                   ? 42
                   : 2;
      if (status != 42) std::fprintf(stderr, "%s\n", text.c_str());
    }
    std::exit(status);
  }
  close(out[1]);
  std::string printed;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(out[0], buffer, sizeof buffer)) > 0;) printed.append(buffer, n);
  close(out[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(printed, "");
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(Hdf5, FullDiskWhileWriting) {
  expect_full_disk(100'000, folder, [&] {
    File file(path);
    file.write("/flux", std::vector<double>(100'000), "erg s-1", "too long");
    file.commit();
  });
}

TEST_F(Hdf5, FullDiskWhileAppending) {
  expect_full_disk(1'000'000, folder, [&] {
    File file(path);
    auto column = file.column<float>("/photons/original/position", 3, "cm", "");
    for (int i = 0; i < 100; ++i) column.append(std::vector<float>(30'000));
    file.commit();
  });
}

TEST_F(Hdf5, FullDiskAtTheEnd) {
  for (const rlim_t limit : {1UL, 1000UL, 5000UL}) {
    expect_full_disk(limit, folder, [&] {
      File file(path);
      for (int i = 0; i < 50; ++i) file.attribute("/summary", "n" + std::to_string(i), i);
      file.column<double>("/weight", 1, "erg s-1", "").append(std::vector<double>(1000, 1.0));
      file.commit();
    });
  }
}

TEST(Hdf5Library, NamesItsVersion) {
  const std::string text = version();
  EXPECT_EQ(std::count(text.begin(), text.end(), '.'), 2) << text;
}

const Object& find(const std::vector<Object>& objects, const std::string& path) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const Object& o) { return o.path == path; });
  if (found == objects.end()) throw std::out_of_range(path);
  return *found;
}

TEST_F(Hdf5, ContentsListsWhatWasWritten) {
  {
    File file(path);
    file.attribute("/", "name", std::string("Lyα"));
    file.attribute("/", "seed", std::uint64_t(18446744073709551615u));
    file.attribute("/g", "good", true);
    file.attribute("/g", "depth", -3);
    file.write("/g/values", std::vector<double>{1, 2, 3}, "cm", "three");
    file.column<std::int64_t>("/g/h/rows", 3, "", "none yet");
    file.commit();
  }
  const auto objects = contents(path.string());
  EXPECT_EQ(objects.size(), 5u);
  EXPECT_EQ(std::get<std::string>(find(objects, "/").attributes.at("name")), "Lyα");
  EXPECT_EQ(std::get<std::uint64_t>(find(objects, "/").attributes.at("seed")), 18446744073709551615u);
  EXPECT_TRUE(std::get<bool>(find(objects, "/g").attributes.at("good")));
  EXPECT_EQ(std::get<std::int64_t>(find(objects, "/g").attributes.at("depth")), -3);
  const Object& values = find(objects, "/g/values");
  EXPECT_TRUE(values.is_dataset);
  EXPECT_EQ(values.type, "float64");
  EXPECT_EQ(values.shape, (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(std::get<std::string>(values.attributes.at("units")), "cm");
  EXPECT_EQ(find(objects, "/g/h/rows").shape, (std::vector<std::uint64_t>{0, 3}));
}

TEST_F(Hdf5, ContentsOfWhatIsNoWholeFile) {
  {
    File file(path);
    file.write("/values", std::vector<double>(10000, 1.5), "", "many");
    file.commit();
  }
  const auto size = fs::file_size(path);
  const fs::path text = folder / "text.h5";
  std::ofstream(text) << "no file";
  std::vector<fs::path> bad{folder / "none.h5", folder, text};
  for (const auto length : {size - 1, size / 2, std::uintmax_t(100), std::uintmax_t(0)}) {
    const fs::path copy = folder / ("cut" + std::to_string(length) + ".h5");
    fs::copy_file(path, copy);
    fs::resize_file(copy, length);
    bad.push_back(copy);
  }
  for (const auto& name : bad) {
    try {
      contents(name.string());
      ADD_FAILURE() << name;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::input);
      EXPECT_EQ(std::string(e.what()).find(name.string() + ": "), 0u);
    }
  }
}

}  // namespace
}  // namespace thor::io
