#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "unit/io/input_fixture.hpp"

namespace thor::io {
namespace {

TEST_F(InputTest, NamesAndAttributes) {
  {
    Maker file(path);
    H5Gclose(H5Gcreate2(file.id, "b", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    file.array("b/values", H5T_IEEE_F32LE, {4}, Maker::contiguous(), {1, 2, 3, 4});
    file.array("a", H5T_IEEE_F32LE, {1}, Maker::contiguous(), {1});
    const auto put = [&](const char* object, const char* name, hid_t type, hid_t memory, std::vector<hsize_t> shape,
                         const void* value) {
      const hid_t space = shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, shape.data(), nullptr);
      const hid_t target = H5Oopen(file.id, object, H5P_DEFAULT);
      const hid_t attribute = H5Acreate2(target, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
      EXPECT_GE(H5Awrite(attribute, memory, value), 0);
      H5Aclose(attribute);
      H5Oclose(target);
      H5Sclose(space);
    };
    const double table[3] = {1, 0.5, -2};
    const std::int32_t whole = -7;
    put("/", "MassTable", H5T_IEEE_F32BE, H5T_NATIVE_DOUBLE, {3}, table);
    put("/b", "count", H5T_STD_I16LE, H5T_NATIVE_INT32, {}, &whole);
    const hid_t variable = H5Tcopy(H5T_C_S1), padded = H5Tcopy(H5T_C_S1);
    H5Tset_size(variable, H5T_VARIABLE);
    H5Tset_size(padded, 8);
    H5Tset_strpad(padded, H5T_STR_SPACEPAD);
    const char* text = "km s-1";
    put("b/values", "units", variable, variable, {}, &text);
    put("b/values", "padded", padded, padded, {1}, "cm      ");
    H5Tclose(variable);
    H5Tclose(padded);
  }
  const Input input(path);
  EXPECT_EQ(input.path(), path);
  EXPECT_EQ(input.children("/"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(input.children("/b/"), (std::vector<std::string>{"values"}));
  for (const auto* name : {"/", "a", "/b", "b/values", "/b/values"}) EXPECT_TRUE(input.has(name)) << name;
  for (const auto* name : {"c", "b/c", "a/b", "c/d", "b/values/e"}) EXPECT_FALSE(input.has(name)) << name;
  EXPECT_EQ(input.numbers("/", "MassTable"), (std::vector<double>{1, 0.5, -2}));
  EXPECT_EQ(input.number("b", "count"), -7.0);
  EXPECT_EQ(input.text("b/values", "units"), "km s-1");
  EXPECT_EQ(input.text("b/values", "padded"), "cm");
  EXPECT_EQ(input.number("/", "none"), std::nullopt);
  EXPECT_EQ(input.number("none", "none"), std::nullopt);
  EXPECT_EQ(input.number("b/values", "units"), std::nullopt);
  EXPECT_EQ(input.text("b", "count"), std::nullopt);
  EXPECT_TRUE(mentions(message([&] { input.children("nix"); }), "no group 'nix'"));
  EXPECT_TRUE(mentions(message([&] { input.children("a"); }), "no group 'a'"));
}

TEST_F(InputTest, WhatIsNoArrayOfNumbersIsRefused) {
  {
    Maker file(path);
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 4);
    const hid_t pair = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(pair, "a", 0, H5T_NATIVE_FLOAT);
    H5Tinsert(pair, "b", 4, H5T_NATIVE_FLOAT);
    H5Dclose(file.create("text", text, {2}, Maker::contiguous()));
    H5Dclose(file.create("pair", pair, {2}, Maker::contiguous()));
    H5Gclose(H5Gcreate2(file.id, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Tclose(text);
    H5Tclose(pair);
  }
  const Input input(path);
  EXPECT_FALSE(input.array("text").numeric);
  EXPECT_EQ(input.array("pair").type, "compound");
  const std::string text = message([&] { input.read_all<float>("text"); });
  EXPECT_TRUE(mentions(text, path.string()) && mentions(text, "'text'") && mentions(text, "type text")) << text;
  EXPECT_TRUE(mentions(message([&] { input.read_all<float>("pair"); }), "compound"));
  EXPECT_TRUE(mentions(message([&] { input.read_all<float>("group"); }), "no array 'group'"));
  EXPECT_TRUE(mentions(message([&] { input.read_all<float>("nix"); }), "no array 'nix'"));
  EXPECT_TRUE(mentions(message([&] { input.read_all<float>("/"); }), "no array"));
}

TEST_F(InputTest, RowsBeyondTheEndAreAnError) {
  {
    Maker file(path);
    file.array("values", H5T_IEEE_F32LE, {10, 3}, Maker::contiguous(), count_up(30));
  }
  const Input input(path);
  std::vector<float> some(9);
  const std::string text = message([&] { input.read<float>("values", 8, 3, some); });
  EXPECT_TRUE(mentions(text, "rows 8 to 11") && mentions(text, "has 10")) << text;
  message([&] { input.read<float>("values", 11, 0, {}); });
  message([&] { input.read<float>("values", ~std::uint64_t{0}, 3, some); });
  message([&] { input.read<float>("values", 0, 2, some); }, ExitCode::internal);
  input.read<float>("values", 7, 3, some);
  EXPECT_EQ(some[8], 29.0F);
}

TEST_F(InputTest, WhatIsNoFileOfOursIsNamed) {
  EXPECT_TRUE(mentions(message([&] { Input in(folder / "none.h5"); }), "no such file"));
  EXPECT_TRUE(mentions(message([&] { Input in(folder); }), "not a zarr store"));
  std::ofstream(folder / "text.h5") << "hello";
  EXPECT_TRUE(mentions(message([&] { Input in(folder / "text.h5"); }), "neither an HDF5 file"));
  std::ofstream(folder / "empty.h5");
  EXPECT_TRUE(mentions(message([&] { Input in(folder / "empty.h5"); }), "neither an HDF5 file"));
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(mentions(message([&] { Input in(folder / "pipe"); }), "neither a file nor a directory"));
  fs::create_directory(folder / "three.zarr");
  std::ofstream(folder / "three.zarr" / "zarr.json") << "{}";
  EXPECT_TRUE(mentions(message([&] { Input in(folder / "three.zarr"); }), "version 3"));
}

TEST_F(InputTest, UnreadableFileIsRefused) {
  { Maker file(path); }
  fs::permissions(path, fs::perms::none);
  fs::permissions(folder, fs::perms(0755));
  const bool root = geteuid() == 0;  // root may read everything: become "nobody" for a moment
  if (root && setresuid(65534, 65534, 0) != 0) GTEST_SKIP() << "running as root, and cannot change the user";
  const std::string text = message([&] { Input in(path); });
  ASSERT_TRUE(!root || setresuid(0, 0, 0) == 0);
  EXPECT_TRUE(mentions(text, "Permission denied")) << text;
}

TEST_F(InputTest, TruncatedFileIsNamedSo) {
  {
    Maker file(path);
    file.array("values", H5T_IEEE_F32LE, {10000}, Maker::contiguous(), count_up(10000));
  }
  for (const auto size : {fs::file_size(path) - 1, fs::file_size(path) / 2}) {
    fs::resize_file(path, size);
    const std::string text = message([&] { Input in(path); });
    EXPECT_TRUE(mentions(text, "file is truncated") && mentions(text, path.string())) << text;
  }
}

TEST_F(InputTest, FileCutShortWhileItIsOpen) {
  {
    Maker file(path);
    file.array("values", H5T_IEEE_F32LE, {10000}, Maker::contiguous(), count_up(10000));
  }
  const Input input(path);
  input.array("values");
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_TRUE(mentions(message([&] { input.read_all<float>("values"); }), "file is truncated"));
}

TEST_F(InputTest, DamagedChunkIsAnError) {
  haddr_t address = 0;
  hsize_t size = 0;
  {
    Maker file(path);
    file.array("values", H5T_IEEE_F32LE, {20000}, Maker::packed({10000}), count_up(20000, 9973));
    const hid_t dataset = H5Dopen2(file.id, "values", H5P_DEFAULT), space = H5Dget_space(dataset);
    hsize_t offset = 0;
    unsigned mask = 0;
    ASSERT_GE(H5Dget_chunk_info(dataset, space, 1, &offset, &mask, &address, &size), 0);
    H5Sclose(space);
    H5Dclose(dataset);
  }
  std::fstream raw(path, std::ios::in | std::ios::out | std::ios::binary);
  raw.seekp(std::streamoff(address + size / 2));
  raw << std::string(64, '\xff');
  raw.close();
  const Input input(path);
  const std::string text = message([&] { input.read_all<float>("values"); });
  EXPECT_TRUE(mentions(text, "chunk (1) is damaged")) << text;
  message([&] { input.read_blocks<float>("values", 2, [](const Block<float>&) {}); });
  std::vector<float> good(10000);
  input.read<float>("values", 0, 10000, good);  // the other chunk is intact
  EXPECT_EQ(good[9972], 9972.0F);
}

}  // namespace
}  // namespace thor::io
