#include <fstream>
#include <iterator>

#include "thor/io/array/output.hpp"
#include "unit/io/input_fixture.hpp"

/// Values that were never written, for which HDF5 gives zeros without a word, and values that have changed since.
namespace thor::io {
namespace {

class InputHoles : public InputTest {
 protected:
  /// Reading in each way must fail, with a message that names file, array and these words.
  void expect_refused(const std::string& array, const std::vector<std::string>& words) {
    const Input input(path);
    for (const std::string& text :
         {message([&] { input.read_all<float>(array); }), message([&] { input.require_whole(array); }),
          message([&] { input.read_blocks<double>(array, 2, [](const Block<double>&) {}); })}) {
      EXPECT_TRUE(mentions(text, path.string()) && mentions(text, "'" + array + "'")) << text;
      for (const auto& word : words) EXPECT_TRUE(mentions(text, word)) << text << "\n" << word;
    }
  }

  /// Half of a virtual dataset of 8 values from each of two files.
  void map_halves(hid_t properties, hsize_t second_from = 4) {
    const hsize_t whole = 8, half = 4;
    const hid_t source = H5Screate_simple(1, &half, nullptr);
    for (const hsize_t first : {hsize_t{0}, second_from}) {
      const hid_t space = H5Screate_simple(1, &whole, nullptr);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &half, nullptr);
      EXPECT_GE(H5Pset_virtual(properties, space, first == 0 ? "a.h5" : "b.h5", "values", source), 0);
      H5Sclose(space);
    }
    H5Sclose(source);
  }
};

TEST_F(InputHoles, ChunksThatWereNeverWritten) {
  const float fill = 2.5F;
  {
    Maker file(path);
    const auto chunked = [&](bool packed) {
      return [&, packed](hid_t p) {
        (packed ? Maker::packed({10, 10}) : Maker::chunks({10, 10}))(p);
        H5Pset_fill_value(p, H5T_NATIVE_FLOAT, &fill);
      };
    };
    for (const bool packed : {false, true}) {
      const hid_t dataset = file.create(packed ? "packed" : "plain", H5T_IEEE_F32BE, {25, 30}, chunked(packed));
      const hsize_t first[2] = {10, 20}, count[2] = {10, 10};
      const hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(2, count, nullptr);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, first, nullptr, count, nullptr);
      H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, count_up(100).data());
      H5Sclose(memory);
      H5Sclose(space);
      H5Dclose(dataset);
    }
    H5Dclose(file.create("none", H5T_STD_I32LE, {9}, Maker::chunks({4})));
    H5Dclose(file.create("other", H5T_STD_I32LE, {9}, [](hid_t p) {  // filters that only HDF5 knows
      Maker::chunks({4})(p);
      H5Pset_scaleoffset(p, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT);
    }));
  }
  for (const char* name : {"plain", "packed"})
    expect_refused(name, {"8 of 9 chunks were never written", "copy or make"});
  for (const char* name : {"none", "other"}) expect_refused(name, {"3 of 3 chunks were never written"});
}

TEST_F(InputHoles, ContiguousArraysThatWereNeverWritten) {
  for (const hsize_t user_block : {0, 512}) {  // in a file with one, HDF5 itself reads the values
    Maker file(path, user_block);
    H5Dclose(file.create("late", H5T_IEEE_F32LE, {25, 30}, Maker::contiguous()));
    file.array("written", H5T_IEEE_F32LE, {5}, Maker::contiguous(), count_up(5));
    H5Fflush(file.id, H5F_SCOPE_LOCAL);
    expect_refused("late", {"never written"});
    expect_values<float>("written", count_up(5));
  }
}

TEST_F(InputHoles, PartsOfVirtualArrays) {
  for (const char* name : {"a.h5", "b.h5"}) {
    Maker source(folder / name);
    source.array("values", H5T_IEEE_F32LE, {4}, Maker::contiguous(), count_up(4));
  }
  {
    Maker file(path);
    H5Dclose(file.create("whole", H5T_IEEE_F32LE, {8}, [&](hid_t p) { map_halves(p); }));
    H5Dclose(file.create("gap", H5T_IEEE_F32LE, {9}, [&](hid_t p) {
      const hsize_t whole = 9, half = 4, first = 0;
      const hid_t space = H5Screate_simple(1, &whole, nullptr), source = H5Screate_simple(1, &half, nullptr);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &half, nullptr);
      H5Pset_virtual(p, space, "a.h5", "values", source);
      H5Sclose(space);
      H5Sclose(source);
    }));
    H5Dclose(file.create("twice", H5T_IEEE_F32LE, {8}, [&](hid_t p) { map_halves(p, 2); }));
  }
  expect_values<float>("whole", {0, 1, 2, 3, 0, 1, 2, 3});
  expect_refused("gap", {"virtual", "5 of 9 values"});
  expect_refused("twice", {"virtual", "2 of 8 values"});
  {
    Maker source(folder / "b.h5");
    H5Dclose(source.create("values", H5T_IEEE_F32LE, {4}, Maker::chunks({2})));
  }
  expect_refused("whole", {"part 'values' of 'b.h5'", "2 of 2 chunks were never written"});
  {
    Maker source(folder / "b.h5");
    source.array("values", H5T_IEEE_F32LE, {3}, Maker::contiguous(), count_up(3));
  }
  expect_refused("whole", {"'values' of 'b.h5'", "fewer values"});
  { Maker source(folder / "b.h5"); }
  expect_refused("whole", {"'values' of 'b.h5'", "does not have"});
  fs::remove(folder / "b.h5");
  expect_refused("whole", {"'b.h5'", "missing or damaged", "copy it beside this one"});
}

TEST_F(InputHoles, ExternalFilesThatAreTooShort) {
  const std::string first = (folder / "first.raw").string(), second = (folder / "second.raw").string();
  {
    Maker file(path);
    file.array(
        "values", H5T_IEEE_F32LE, {10},
        [&](hid_t p) {
          H5Pset_external(p, first.c_str(), 8, 16);
          H5Pset_external(p, second.c_str(), 0, H5F_UNLIMITED);
        },
        count_up(10));
  }
  expect_values<float>("values", count_up(10));
  fs::resize_file(second, 23);
  expect_refused("values", {"'" + second + "'", "23 bytes of the 24 expected"});
  fs::remove(second);
  expect_refused("values", {"'" + second + "'", "No such file"});
  std::ofstream(second) << std::string(24, '\0');
  fs::resize_file(first, 20);
  expect_refused("values", {"'" + first + "'", "20 bytes of the 24 expected"});
}

TEST_F(InputHoles, AnArrayLongerThanItsFile) {
  {
    Maker file(path);
    file.array("values", H5T_IEEE_F32LE, {1000}, Maker::contiguous(), count_up(1000));
    file.array("last", H5T_STD_U8LE, {1}, Maker::contiguous(), {1});
  }
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  // The extent of the array and the length of its layout, each 8 bytes, in the header of the file.
  const auto change = [&](std::uint64_t from, std::uint64_t to) {
    const std::string old(reinterpret_cast<const char*>(&from), 8), now(reinterpret_cast<const char*>(&to), 8);
    std::size_t changes = 0;
    for (auto at = bytes.find(old); at != std::string::npos; at = bytes.find(old, at + 8), ++changes)
      bytes.replace(at, 8, now);
    return changes;
  };
  ASSERT_GE(change(1000, std::uint64_t{1} << 50), 1u);
  ASSERT_GE(change(4000, std::uint64_t{1} << 52), 1u);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  const std::string text = message([&] { Input(path).read_all<float>("values"); });
  EXPECT_TRUE(mentions(text, "longer than the file") || mentions(text, "damaged")) << text;
}

TEST_F(InputHoles, ChecksumsOfHdf5) {
  for (const bool packed : {false, true}) {
    const std::vector<double> values = count_up(35 * 7, 251);
    haddr_t address = 0;
    hsize_t size = 0;
    {
      Maker file(path);
      file.array(
          "values", H5T_STD_U8LE, {35, 7},
          [&](hid_t p) {  // chunks with an odd number of bytes
            (packed ? Maker::packed({5, 7}) : Maker::chunks({5, 7}))(p);
            H5Pset_fletcher32(p);
          },
          values);
      const hid_t dataset = H5Dopen2(file.id, "values", H5P_DEFAULT), space = H5Dget_space(dataset);
      hsize_t offset[2] = {};
      unsigned mask = 0;
      ASSERT_GE(H5Dget_chunk_info(dataset, space, 2, offset, &mask, &address, &size), 0);
      H5Sclose(space);
      H5Dclose(dataset);
    }
    expect_values<double>("values", values);
    std::fstream raw(path, std::ios::in | std::ios::out | std::ios::binary);
    raw.seekg(std::streamoff(address + size / 2));
    const char was = char(raw.get());
    raw.seekp(std::streamoff(address + size / 2));
    raw.put(char(was ^ 1));
    raw.close();
    const Input input(path);
    EXPECT_TRUE(mentions(message([&] { input.read_all<float>("values"); }), "chunk (2, 0) is damaged"));
  }
}

TEST_F(InputHoles, ChecksumsOfThor) {
  for (const bool checksums : {false, true}) {
    const std::vector<float> values(1000, 1.5F);
    {
      ArrayOutput file(path, true);
      if (checksums) file.add_checksums();
      file.write<float>("cube", values, {10, 10, 10}, "", "");
      Column<double> column = file.column<double>("column", 1, "", "");
      column.append(std::vector<double>(100, 2.5));
      file.commit(true);
    }
    expect_values<float>("cube", std::vector<double>(1000, 1.5));
    expect_values<double>("column", std::vector<double>(100, 2.5));
    std::ifstream in(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const float value = 1.5F;
    const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&value), 4) +
                                      std::string(reinterpret_cast<const char*>(&value), 4));
    ASSERT_NE(at, std::string::npos);
    bytes[at + 2] = char(bytes[at + 2] ^ 0x40);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    if (checksums) {
      const Input input(path);
      EXPECT_TRUE(mentions(message([&] { input.read_all<float>("cube"); }), "chunk (0, 0, 0) is damaged"));
    } else {
      EXPECT_NE(Input(path).read_all<float>("cube"), values) << "the twin: without checksums nothing is noticed";
    }
  }
}

}  // namespace
}  // namespace thor::io
