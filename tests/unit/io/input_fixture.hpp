#pragma once
#include <hdf5.h>

#include <cstdlib>
#include <functional>

#include "thor/io/hdf5/hdf5.hpp"
#include "unit/io/input_support.hpp"

namespace thor::io {

/// A file made with the C API, sharing nothing with the reader.
class Maker {
 public:
  explicit Maker(const fs::path& path, hsize_t user_block = 0) {
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, user_block);
    id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT);
    EXPECT_GE(id, 0);
    H5Pclose(creation);
  }
  ~Maker() { H5Fclose(id); }

  using Properties = std::function<void(hid_t)>;
  static Properties contiguous() {
    return [](hid_t) {};
  }
  static Properties chunks(std::vector<hsize_t> chunk) {
    return [chunk](hid_t p) { H5Pset_chunk(p, int(chunk.size()), chunk.data()); };
  }
  static Properties packed(std::vector<hsize_t> chunk) {
    return [chunk](hid_t p) {
      H5Pset_chunk(p, int(chunk.size()), chunk.data());
      H5Pset_shuffle(p);
      H5Pset_deflate(p, 4);
    };
  }

  hid_t create(const std::string& name, hid_t type, const std::vector<hsize_t>& shape, const Properties& set) {
    const hid_t space = H5Screate_simple(int(shape.size()), shape.data(), nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    set(properties);
    const hid_t dataset = H5Dcreate2(id, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    EXPECT_GE(dataset, 0) << name;
    H5Pclose(properties);
    H5Sclose(space);
    return dataset;
  }

  void array(const std::string& name, hid_t type, const std::vector<hsize_t>& shape, const Properties& set,
             const std::vector<double>& values) {
    const hid_t dataset = create(name, type, shape, set);
    EXPECT_GE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
    H5Dclose(dataset);
  }

  hid_t id = -1;
};

inline std::vector<double> count_up(std::size_t size, std::size_t period = 100) {
  std::vector<double> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = double(i % period);
  return values;
}

class InputTest : public ::testing::Test {
 protected:
  void SetUp() override {
    version();  // initialises the library before the test itself calls it
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    std::string name = (fs::temp_directory_path() / "thor_input_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    path = folder / "in.h5";
  }
  void TearDown() override { fs::remove_all(folder); }

  /// Checks that every way of reading returns the values that were written.
  template <class T>
  void expect_values(const std::string& name, const std::vector<double>& expected) {
    const Input input(path);
    const std::vector<T> values = input.read_all<T>(name);
    ASSERT_EQ(values.size(), expected.size()) << name;
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], T(expected[i])) << name << " " << i;
    EXPECT_EQ(join_blocks<T>(input, name, 1), values) << name;
    EXPECT_EQ(join_blocks<T>(input, name, 4), values) << name;
    const std::uint64_t rows = input.array(name).shape[0], row = values.size() / rows;
    for (const std::uint64_t first : {std::uint64_t{0}, rows / 3, rows - 1}) {
      for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, (rows - first) / 2, rows - first}) {
        std::vector<T> part(count * row);
        input.read<T>(name, first, count, part);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), values.begin() + std::ptrdiff_t(first * row))) << name;
      }
    }
  }

  fs::path folder, path;
};

}  // namespace thor::io
