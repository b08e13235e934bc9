#include "thor/io/array/input.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include "unit/io/input_fixture.hpp"

namespace thor::io {
namespace {

TEST_F(InputTest, EveryTypeOfNumberInEitherByteOrder) {
  const std::vector<std::pair<const char*, hid_t>> types{
      {"int8", H5T_STD_I8LE},      {"int16", H5T_STD_I16LE},    {"int32", H5T_STD_I32LE},  {"int64", H5T_STD_I64LE},
      {"uint8", H5T_STD_U8LE},     {"uint16", H5T_STD_U16LE},   {"uint32", H5T_STD_U32LE}, {"uint64", H5T_STD_U64LE},
      {"float32", H5T_IEEE_F32LE}, {"float64", H5T_IEEE_F64LE}, {"int16", H5T_STD_I16BE},  {"int32", H5T_STD_I32BE},
      {"int64", H5T_STD_I64BE},    {"uint16", H5T_STD_U16BE},   {"uint32", H5T_STD_U32BE}, {"uint64", H5T_STD_U64BE},
      {"float32", H5T_IEEE_F32BE}, {"float64", H5T_IEEE_F64BE}};
  const std::vector<double> values = count_up(5 * 7 * 9);
  {
    Maker file(path);
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::string number = std::to_string(i);
      file.array("contiguous" + number, types[i].second, {5, 7, 9}, Maker::contiguous(), values);
      file.array("packed" + number, types[i].second, {5, 7, 9}, Maker::packed({2, 3, 4}), values);
    }
  }
  const Input input(path);
  for (std::size_t i = 0; i < types.size(); ++i) {
    for (const std::string layout : {"contiguous", "packed"}) {
      const std::string name = layout + std::to_string(i);
      const ArrayInfo info = input.array(name);
      EXPECT_EQ(info.type, types[i].first);
      EXPECT_TRUE(info.numeric);
      EXPECT_EQ(info.shape, (Shape{5, 7, 9}));
      EXPECT_EQ(input.read_all<float>(name), std::vector<float>(values.begin(), values.end())) << name;
      EXPECT_EQ(input.read_all<double>(name), values) << name;
      EXPECT_EQ(input.read_all<std::int64_t>(name), std::vector<std::int64_t>(values.begin(), values.end())) << name;
      EXPECT_EQ(input.read_all<std::uint64_t>(name), std::vector<std::uint64_t>(values.begin(), values.end())) << name;
    }
  }
}

TEST_F(InputTest, WhatAnIntegerCannotHoldIsTheNearestAsInHdf5) {
  const std::vector<double> odd{-3.7, 2.9, 1e30, -1e30, std::nan("")};
  std::vector<std::int64_t> expected(odd.size());
  {
    Maker file(path);
    file.array("odd", H5T_IEEE_F64LE, {odd.size()}, Maker::contiguous(), odd);
    const hid_t dataset = H5Dopen2(file.id, "odd", H5P_DEFAULT);
    H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, expected.data());
    H5Dclose(dataset);
    const std::int64_t minus = -5;
    const hid_t negative = file.create("negative", H5T_STD_I64LE, {1}, Maker::contiguous());
    H5Dwrite(negative, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &minus);
    H5Dclose(negative);
  }
  const Input input(path);
  const auto values = input.read_all<std::int64_t>("odd");
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(values[i], expected[i]) << odd[i];
  EXPECT_EQ(values[4], 0);
  EXPECT_EQ(input.read_all<std::uint64_t>("odd")[0], 0u);
  EXPECT_EQ(input.read_all<std::uint64_t>("negative")[0], 0u);
  EXPECT_EQ(input.read_all<float>("odd")[3], -1e30F);
}

TEST_F(InputTest, ChunksOfEveryKindGiveTheSameValues) {
  const std::vector<double> values = count_up(34 * 40 * 35);
  const std::vector<hsize_t> shape{34, 40, 35};
  const auto with = [](auto set) {
    return [set](hid_t p) {
      const hsize_t chunk[3] = {32, 32, 32};
      H5Pset_chunk(p, 3, chunk);
      set(p);
    };
  };
  {
    Maker file(path);
    file.array("plain", H5T_IEEE_F32LE, shape, Maker::chunks({32, 32, 32}), values);
    file.array("packed", H5T_IEEE_F32LE, shape, Maker::packed({32, 32, 32}), values);
    file.array("small", H5T_IEEE_F32LE, shape, Maker::packed({7, 5, 11}), values);  // too many to look up
    file.array("big_endian", H5T_IEEE_F64BE, shape, Maker::packed({32, 32, 32}), values);
    file.array("larger", H5T_IEEE_F32LE, shape, Maker::packed({34, 40, 35}), values);
    file.array("deflate", H5T_STD_I32LE, shape, with([](hid_t p) { H5Pset_deflate(p, 1); }), values);
    file.array("shuffle", H5T_STD_I32LE, shape, with([](hid_t p) { H5Pset_shuffle(p); }), values);
    file.array("twice", H5T_STD_I32LE, shape, with([](hid_t p) {
                 H5Pset_deflate(p, 1);
                 H5Pset_shuffle(p);
                 H5Pset_deflate(p, 9);
               }),
               values);
    file.array("checksum", H5T_IEEE_F32LE, shape, with([](hid_t p) { H5Pset_fletcher32(p); }), values);
    file.array("scaled", H5T_STD_I32LE, shape, with([](hid_t p) { H5Pset_scaleoffset(p, H5Z_SO_INT, 0); }), values);
    file.array("raw_edges", H5T_IEEE_F32LE, shape, with([](hid_t p) {
                 H5Pset_deflate(p, 1);
                 H5Pset_chunk_opts(p, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
               }),
               values);
  }
  for (const auto* name : {"plain", "packed", "small", "big_endian", "larger", "deflate", "shuffle", "twice",
                           "checksum", "scaled", "raw_edges"}) {
    expect_values<float>(name, values);
    expect_values<double>(name, values);
  }
}

TEST_F(InputTest, UnusualStorageIsReadByTheLibrary) {
  const std::vector<double> values = count_up(600, 50);
  {
    Maker file(path);
    const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
    H5Tset_fields(half, 15, 10, 5, 0, 10);
    H5Tset_ebias(half, 15);
    H5Tset_precision(half, 16);
    H5Tset_size(half, 2);
    const hid_t three_bytes = H5Tcopy(H5T_STD_U32BE);
    H5Tset_precision(three_bytes, 24);
    H5Tset_size(three_bytes, 3);
    file.array("half", half, {600}, Maker::contiguous(), values);
    file.array("three_bytes", three_bytes, {20, 30}, Maker::chunks({7, 7}), values);
    file.array("long_double", H5T_NATIVE_LDOUBLE, {600}, Maker::contiguous(), values);
    file.array(
        "compact", H5T_IEEE_F32LE, {600}, [](hid_t p) { H5Pset_layout(p, H5D_COMPACT); }, values);
    file.array(
        "external", H5T_IEEE_F32LE, {600},
        [&](hid_t p) { H5Pset_external(p, (folder / "values.bin").c_str(), 0, H5F_UNLIMITED); }, values);
    file.array("of_virtual", H5T_IEEE_F32LE, {600}, Maker::contiguous(), values);
    const hsize_t size = 600;
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    H5Dclose(file.create("virtual", H5T_IEEE_F32LE, {600},
                         [&](hid_t p) { H5Pset_virtual(p, space, ".", "of_virtual", space); }));
    H5Sclose(space);
    H5Tclose(half);
    H5Tclose(three_bytes);
  }
  for (const auto* name : {"half", "three_bytes", "long_double", "compact", "external", "virtual"}) {
    expect_values<float>(name, values);
    expect_values<std::int64_t>(name, values);
  }
}

// Texts are in a heap that is read without HDF5's help: short, long, empty and missing ones.
TEST_F(InputTest, TextsOfVariableLength) {
  const std::vector<std::string> texts = {"km s-1", "", std::string(100'000, 'x') + "end", "Å", std::string(4096, 'y')};
  for (const hsize_t user_block : {0, 512}) {
    {
      Maker file(path, user_block);
      const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
      H5Tset_size(type, H5T_VARIABLE);
      for (std::size_t i = 0; i <= texts.size(); ++i) {
        const std::string name = "text" + std::to_string(i);
        const hid_t attribute = H5Acreate2(file.id, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
        const char* text = i < texts.size() ? texts[i].c_str() : nullptr;
        EXPECT_GE(H5Awrite(attribute, type, &text), 0);
        H5Aclose(attribute);
      }
      const hid_t never = H5Acreate2(file.id, "never", type, space, H5P_DEFAULT, H5P_DEFAULT);
      H5Aclose(never);
      H5Sclose(space);
      H5Tclose(type);
    }
    const Input input(path);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(input.text("/", "text" + std::to_string(i)), texts[i]) << user_block;
    }
    EXPECT_EQ(input.text("/", "text" + std::to_string(texts.size())), "") << user_block;
    EXPECT_EQ(input.text("/", "never"), "") << user_block;
  }
}

TEST_F(InputTest, FileWithAUserBlock) {
  const std::vector<double> values = count_up(4000);
  {
    Maker file(path, 512);
    file.array("contiguous", H5T_IEEE_F32LE, {4000}, Maker::contiguous(), values);
    file.array("packed", H5T_IEEE_F32LE, {4000}, Maker::packed({3000}), values);
  }
  expect_values<float>("contiguous", values);
  expect_values<float>("packed", values);
}

TEST_F(InputTest, LinkIntoAnotherFile) {
  {
    Maker other(folder / "other.h5");
    other.array("values", H5T_IEEE_F32LE, {5000}, Maker::contiguous(), count_up(5000));
    Maker file(path);
    file.array("ours", H5T_IEEE_F32LE, {5000}, Maker::contiguous(), std::vector<double>(5000, -1));
    H5Lcreate_external("other.h5", "values", file.id, "linked", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("nowhere", file.id, "dangling", H5P_DEFAULT, H5P_DEFAULT);
  }
  expect_values<float>("linked", count_up(5000));
  const Input input(path);
  EXPECT_FALSE(input.has("dangling"));
  EXPECT_TRUE(mentions(message([&] { input.array("dangling"); }), "no array 'dangling'"));
}

TEST_F(InputTest, LargeArraysComeInBoundedBlocks) {
  const hsize_t plane = 800, planes = 3;  // a row is 5 MB in double precision, and a chunk 15 MB
  const std::vector<double> values = count_up(planes * plane * plane, 1009);
  {
    Maker file(path);
    file.array("contiguous", H5T_IEEE_F64LE, {planes, plane, plane}, Maker::contiguous(), values);
    file.array("one_chunk", H5T_IEEE_F64LE, {planes, plane, plane}, Maker::packed({planes, plane, plane}), values);
  }
  const Input input(path);
  for (const auto* name : {"contiguous", "one_chunk"}) {
    EXPECT_EQ(join_blocks<double>(input, name, 3), values) << name;
    std::vector<double> row(2 * plane * plane);
    input.read<double>(name, 1, 2, row);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), values.begin() + plane * plane)) << name;
  }
}

TEST_F(InputTest, ChunkThatWasLeftUnpacked) {
  std::vector<std::int32_t> raw(1000);
  std::iota(raw.begin(), raw.end(), 5);
  {
    Maker file(path);
    const hid_t dataset = file.create("values", H5T_STD_I32LE, {1000}, Maker::packed({1000}));
    const hsize_t origin = 0;
    H5Dwrite_chunk(dataset, H5P_DEFAULT, 3, &origin, 4000, raw.data());  // both filters skipped
    H5Dclose(dataset);
  }
  expect_values<double>("values", std::vector<double>(raw.begin(), raw.end()));
}

TEST_F(InputTest, ScalarsAndEmptyArrays) {
  {
    Maker file(path);
    const double value = 4.25;
    const hid_t space = H5Screate(H5S_SCALAR), null = H5Screate(H5S_NULL);
    const hid_t scalar = H5Dcreate2(file.id, "scalar", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(scalar, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    H5Dclose(scalar);
    H5Dclose(H5Dcreate2(file.id, "null", H5T_IEEE_F64LE, null, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Dclose(file.create("empty", H5T_IEEE_F64LE, {0, 3}, Maker::contiguous()));
    H5Sclose(space);
    H5Sclose(null);
  }
  const Input input(path);
  EXPECT_EQ(input.array("scalar").shape, Shape{});
  EXPECT_EQ(input.read_all<float>("scalar"), std::vector<float>{4.25F});
  EXPECT_TRUE(input.read_all<float>("null").empty());
  EXPECT_EQ(input.array("empty").shape, (Shape{0, 3}));
  EXPECT_TRUE(input.read_all<float>("empty").empty());
  input.read_blocks<float>("empty", 4, [](const Block<float>&) { FAIL(); });
}

TEST_F(InputTest, WhatTakeThrowsEndsTheReading) {
  {
    Maker file(path);
    file.array("values", H5T_STD_U8LE, {1000, 100}, Maker::chunks({1, 100}), count_up(100000));
  }
  const Input input(path);
  for (const int threads : {1, 4}) {
    std::atomic<int> taken = 0;
    EXPECT_THROW(input.read_blocks<float>("values", threads,
                                          [&](const Block<float>&) {
                                            if (++taken == 5) throw std::runtime_error("enough");
                                          }),
                 std::runtime_error);
    EXPECT_LT(taken, 1000);
  }
}

TEST_F(InputTest, BlocksAreHandedOverBySeveralThreads) {
  {
    Maker file(path);
    file.array("values", H5T_STD_U8LE, {64, 100}, Maker::chunks({1, 100}), count_up(6400));
  }
  const auto threads_of = [&](int threads) {
    std::mutex mutex;
    std::set<std::thread::id> ids;
    Input(path).read_blocks<float>("values", threads, [&](const Block<float>&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
    return ids.size();
  };
  EXPECT_EQ(threads_of(1), 1u);
  EXPECT_EQ(threads_of(0), 1u);
  EXPECT_GT(threads_of(4), 1u);
}

TEST(InputOfSharedData, GadgetSnapshot) {
  const fs::path file = fs::path(THOR_SHARED) / "data" / "gadget4_gas32_z2.hdf5";
  if (!fs::exists(file)) GTEST_SKIP() << file << " is not available";
  const Input input(file);
  const auto info = input.array("PartType0/Coordinates");
  EXPECT_EQ(info.shape, (Shape{32768, 3}));
  const auto all = input.read_all<float>("PartType0/Coordinates");
  EXPECT_EQ(join_blocks<float>(input, "PartType0/Coordinates", 2), all);
  EXPECT_NEAR(input.number("Header", "Redshift").value_or(0), 2.02, 0.01);
}

}  // namespace
}  // namespace thor::io
