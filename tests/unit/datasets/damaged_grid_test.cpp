#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "support/grid.hpp"
#include "thor/core/error.hpp"
#include "thor/datasets/medium.hpp"
#include "thor/io/array/contents.hpp"
#include "thor/line/line.hpp"
#include "unit/io/input_fixture.hpp"

/// HDF5 asks for as much memory as a damaged header says, and goes on without: sanitizers end the process by default.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

/// Grid files as written by h5py, with bytes changed or cut off. Their texts of variable length are in a heap that HDF5
/// itself does not read safely. Each file is read in its own process, which must end by itself, in time, with a result
/// or an input error.
namespace thor {
namespace {

namespace fs = std::filesystem;

void put_text(hid_t object, const char* name, const char* text) {
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, H5T_VARIABLE);
  const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, type, &text), 0);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

void put_number(hid_t object, const char* name, double value) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(object, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value);
  H5Aclose(attribute);
  H5Sclose(space);
}

void make_grid(const fs::path& path) {
  io::version();  // initialises the library
  io::Maker maker(path);
  put_text(maker.id, "format", "thor grid");
  put_number(maker.id, "cell_size", 1e20);
  for (const char* name : {"origin_x", "origin_y", "origin_z", "periodic", "hubble"}) put_number(maker.id, name, 0);
  const std::vector<double> values(64, 1e4);
  for (const char* name : {"HI_density", "temperature", "velocity_x", "velocity_y", "velocity_z"}) {
    maker.array(name, H5T_IEEE_F32LE, {4, 4, 4}, io::Maker::packed({4, 4, 4}), values);
    const hid_t dataset = H5Dopen2(maker.id, name, H5P_DEFAULT);
    const bool velocity = std::string(name).starts_with("velocity");
    put_text(dataset, "units", velocity ? "cm s-1" : std::string(name) == "temperature" ? "K" : "cm-3");
    put_text(dataset, "description", "made up for this test, and long enough to fill some of the heap");
    H5Dclose(dataset);
  }
}

/// Reads everything that a run and `thor info` read. Returns an exit status.
int read_grid(const fs::path& path) {
  alarm(10);
  int status = 0;
  try {
    io::contents(path.string());
  } catch (const Error& e) {
    status = int(e.code());
  }
  try {
    config::Dataset d;
    d.type = "uniform_grid";
    d.path = path.string();
    d.step_limiter = 0.1;
    d.boundary = config::Boundary::open;
    const Line line = *find_line(lines(), "Lya");
    Medium m = build_medium(outline_medium(d, line), d, line, {false, 1});
  } catch (const Error& e) {
    status = int(e.code());
  }
  return status;
}

struct Ends {
  int good = 0, refused = 0, other = 0;
  std::string what;  ///< first unexpected outcome; such files are kept
};

Ends read_damaged(const fs::path& folder, int count, const std::string& from, const std::string& marker) {
  std::mt19937_64 random(13);
  const auto below = [&](std::size_t n) { return std::size_t(random() % n); };
  Ends ends;
  const fs::path path = folder / "damaged.h5";
  for (int i = 0; i < count; ++i) {
    std::string bytes = from;
    if (i % 10 == 9) {
      bytes.resize(below(bytes.size()));
    } else {
      // Half of the changes hit the heap of texts, the others any part of the file.
      const std::size_t heap = from.find(marker);
      for (std::size_t k = 0, changes = 1 + below(4); k < changes; ++k) {
        const bool here = heap != std::string::npos && i % 2 == 0;
        const std::size_t at =
            here ? heap + below(std::min<std::size_t>(512, bytes.size() - heap)) : below(bytes.size());
        bytes[at] = i % 3 == 0 ? char(below(256)) : i % 3 == 1 ? char(0xff) : char(0);
      }
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    const pid_t child = fork();
    if (child == 0) {
      const bool quiet = freopen("/dev/null", "w", stderr) != nullptr;
      int status = quiet ? 99 : 98;
      try {
        status = read_grid(path);
      } catch (...) {
      }
      _exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == int(ExitCode::done)) {
      ++ends.good;
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == int(ExitCode::input)) {
      ++ends.refused;
    } else {
      const fs::path kept = fs::temp_directory_path() / ("thor_damaged_" + std::to_string(i) + ".h5");
      if (ends.other++ < 5) fs::copy_file(path, kept, fs::copy_options::overwrite_existing);
      if (ends.other <= 5)
        ends.what += kept.string() + (WIFSIGNALED(status) ? ": signal " : ": status ") +
                     std::to_string(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)) + "\n";
    }
  }
  return ends;
}

void expect_sound(const fs::path& folder, const fs::path& good, const char* what) {
  ASSERT_EQ(read_grid(good), 0);
  alarm(0);
  std::ifstream file(good, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const char* more = std::getenv("THOR_DAMAGED_FILES");
  const int count = more ? std::atoi(more) : 160;
  const Ends ends = read_damaged(folder, count, bytes, "GCOL");
  EXPECT_EQ(ends.other, 0) << what << "\n" << ends.what;
  EXPECT_GT(ends.good, count / 20) << what;
  EXPECT_GT(ends.refused, count / 20) << what;
}

/// HDF5 1.10 reads up to 64 KiB beyond the message of an attribute whose sizes are wrong, and converts a number whose
/// bits are outside of it.
TEST(DamagedGrid, SizesOfAttributesAreChecked) {
  std::string name = (fs::temp_directory_path() / "thor_damaged_XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path good = fs::path(name) / "good.h5", bad = fs::path(name) / "bad.h5";
  make_grid(good);
  EXPECT_EQ(read_grid(good), 0);
  std::ifstream file(good, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const std::string text("cell_size\0", 10);
  const std::size_t at = bytes.find(text);
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(bytes[at - 8], 1) << "the version of the message";
  // High bytes of the sizes of name, type and space; the places of sign and exponent in the type, after 16 bytes of
  // name.
  for (const std::ptrdiff_t offset : {-5, -3, -1, 16 + 2, 16 + 12}) {
    std::string damaged = bytes;
    damaged[std::size_t(std::ptrdiff_t(at) + offset)] = char(0xff);
    std::ofstream(bad, std::ios::binary | std::ios::trunc) << damaged;
    EXPECT_EQ(read_grid(bad), int(ExitCode::input)) << offset;
  }
  alarm(0);
  fs::remove_all(name);
}

/// HDF5 1.10 follows the addresses in the link info of a group wherever they lead, and believes the lengths of a link.
TEST(DamagedGrid, LinksAreChecked) {
  std::string name = (fs::temp_directory_path() / "thor_damaged_XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path good = fs::path(name) / "good.h5", bad = fs::path(name) / "bad.h5";
  make_grid(good);
  const hid_t open = H5Fopen(good.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Lcreate_external("elsewhere.h5", "/array", open, "linked", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(open);
  EXPECT_EQ(read_grid(good), 0);
  std::ifstream file(good, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const std::size_t link = bytes.find("linked");
  // Type, size and flags of the message, its version and flags, and two addresses that are not defined.
  const std::size_t info = bytes.find(std::string("\2\0\x18\0\0\0\0\0\0\0", 10) + std::string(16, '\xff'));
  ASSERT_TRUE(link != std::string::npos && info != std::string::npos);
  const auto expect_refused = [&](std::size_t at, char value) {
    std::string damaged = bytes;
    damaged[at] = value;
    std::ofstream(bad, std::ios::binary | std::ios::trunc) << damaged;
    EXPECT_EQ(read_grid(bad), int(ExitCode::input)) << at - link << ", " << at - info;
  };
  for (const std::size_t byte : {0, 7, 8, 15}) expect_refused(info + 10 + byte, char(0x80));
  expect_refused(link - 1, char(0xff));      // length of the name
  expect_refused(link + 6 + 1, char(0xff));  // high byte of the length of the value: flags, "elsewhere.h5", "/array"
  for (const std::size_t end : {13, 20}) expect_refused(link + 6 + 2 + end, 'x');
  alarm(0);
  fs::remove_all(name);
}

TEST(DamagedGrid, NeverCrashesAndNeverHangs) {
  std::string name = (fs::temp_directory_path() / "thor_damaged_XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path folder = name;
  make_grid(folder / "good.h5");
  expect_sound(folder, folder / "good.h5", "as h5py writes it");
  test::GridOptions o;
  o.shape = {4, 4, 4};
  o.emissivity = true;
  o.gas = o.ion = [](int, int, int) { return test::GridCell{1e-3, 1e4, {1, 2, 3}, 0, 1e-25}; };
  const test::GridFile own(o);
  expect_sound(folder, own.path(), "as thor grid writes it");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace thor
