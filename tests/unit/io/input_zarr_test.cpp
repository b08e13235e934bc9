#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>

#include "thor/io/zarr/codec.hpp"
#include "unit/io/input_support.hpp"

namespace thor::io {
namespace {

std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return as_text(std::as_bytes(std::span(values)));
}

std::string from_hex(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) out += char(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

/// Stores written by hand from the specification, sharing nothing with the writer.
class ZarrInput : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "thor_zarr_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    store = folder / "in.zarr";
    put(".zgroup", R"({"zarr_format": 2})");
  }
  void TearDown() override { fs::remove_all(folder); }

  void put(const fs::path& file, const std::string& text) {
    fs::create_directories((store / file).parent_path());
    std::ofstream(store / file, std::ios::binary) << text;
  }

  /// Metadata with all keys; `more` comes last and wins.
  static std::string meta(const std::string& shape, const std::string& chunks, const std::string& dtype,
                          const std::string& more = "") {
    return R"({"zarr_format": 2, "order": "C", "filters": null, "compressor": null, "fill_value": 0, "shape": )" +
           shape + R"(, "chunks": )" + chunks + R"(, "dtype": ")" + dtype + '"' + (more.empty() ? "" : ", " + more) +
           "}";
  }

  fs::path folder, store;
};

/// 5 x 7 values in chunks of 2 x 4, the edges padded with -1.
template <class T, class Put>
void put_chunks(Put put) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) {
      std::vector<T> chunk;
      for (int row = 2 * i; row < 2 * i + 2; ++row) {
        for (int column = 4 * j; column < 4 * j + 4; ++column) {
          chunk.push_back(row < 5 && column < 7 ? T(7 * row + column) : T(-1));
        }
      }
      put(i, j, chunk);
    }
  }
}

std::vector<double> thirty_five() {
  std::vector<double> values(35);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

TEST_F(ZarrInput, ChunksWithAndWithoutPacking) {
  put("plain/.zarray", meta("[5, 7]", "[2, 4]", "<f4"));
  put("zlib/.zarray", meta("[5, 7]", "[2, 4]", "<i8", R"("compressor": {"id": "zlib", "level": 1})"));
  put("both/.zarray", meta("[5, 7]", "[2, 4]", "<u2",
                           R"("compressor": {"id": "zlib", "level": 9}, "dimension_separator": "/",
                              "filters": [{"id": "shuffle", "elementsize": 2}])"));
  put("big/.zarray", meta("[5, 7]", "[2, 4]", ">u4"));
  const auto key = [](int i, int j, char separator) { return std::to_string(i) + separator + std::to_string(j); };
  put_chunks<float>([&](int i, int j, const auto& chunk) { put("plain/" + key(i, j, '.'), raw(chunk)); });
  put_chunks<std::int64_t>([&](int i, int j, const auto& chunk) {
    put("zlib/" + key(i, j, '.'), as_text(detail::deflate(std::as_bytes(std::span(chunk)), 1)));
  });
  put_chunks<std::uint16_t>([&](int i, int j, const auto& chunk) {
    std::vector<std::byte> shuffled(16);
    detail::shuffle(std::as_bytes(std::span(chunk)), 2, shuffled);
    EXPECT_EQ(shuffled[1], std::as_bytes(std::span(chunk))[2]);  // the low bytes come first
    put("both/" + key(i, j, '/'), as_text(detail::deflate(shuffled, 9)));
  });
  put_chunks<std::uint32_t>([&](int i, int j, auto chunk) {
    for (auto& value : chunk) value = __builtin_bswap32(value);
    put("big/" + key(i, j, '.'), raw(chunk));
  });
  const Input input(store);
  const std::vector<double> expected = thirty_five();
  for (const auto* name : {"plain", "zlib", "both", "big"}) {
    EXPECT_EQ(input.array(name).shape, (Shape{5, 7}));
    EXPECT_EQ(input.read_all<double>(name), expected) << name;
    EXPECT_EQ(join_blocks<double>(input, name, 1), expected) << name;
    EXPECT_EQ(join_blocks<double>(input, name, 4), expected) << name;
    std::vector<float> rows(14);
    input.read<float>(name, 1, 2, rows);
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), expected.begin() + 7)) << name;
  }
  EXPECT_EQ(input.array("both").type, "uint16");
  EXPECT_EQ(input.children("/"), (std::vector<std::string>{"big", "both", "plain", "zlib"}));
}

TEST_F(ZarrInput, MissingChunksAreTheFillValue) {
  put("number/.zarray", meta("[5]", "[3]", ">f4", R"("fill_value": 2.5)"));
  put("number/1", raw(std::vector<std::uint32_t>(3, __builtin_bswap32(std::bit_cast<std::uint32_t>(7.0F)))));
  put("negative/.zarray", meta("[2]", "[2]", ">i2", R"("fill_value": -3)"));
  put("nan/.zarray", meta("[2]", "[2]", "<f8", R"("fill_value": "NaN")"));
  put("bare/.zarray", meta("[2]", "[2]", "<f4", R"("fill_value": -Infinity)"));
  put("null/.zarray", meta("[2]", "[2]", "<u8", R"("fill_value": null)"));
  put("half/.zarray", meta("[2]", "[2]", "<f2", R"("fill_value": -0.5)"));
  const Input input(store);
  EXPECT_EQ(input.read_all<float>("number"), (std::vector<float>{2.5F, 2.5F, 2.5F, 7.0F, 7.0F}));
  EXPECT_EQ(join_blocks<float>(input, "number", 2), (std::vector<float>{2.5F, 2.5F, 2.5F, 7.0F, 7.0F}));
  EXPECT_EQ(input.read_all<std::int64_t>("negative"), (std::vector<std::int64_t>{-3, -3}));
  EXPECT_TRUE(std::isnan(input.read_all<float>("nan")[1]));
  EXPECT_EQ(input.read_all<double>("bare")[0], -INFINITY);
  EXPECT_EQ(input.read_all<std::uint64_t>("null")[0], 0u);
  EXPECT_EQ(input.read_all<float>("half")[0], -0.5F);
}

TEST_F(ZarrInput, NoChunkIsMissingOfWhatThorHasWritten) {
  put("number/.zarray", meta("[5]", "[3]", "<f4", R"("fill_value": 0)"));
  put("number/0", raw(std::vector<float>(3, 1.0F)));
  EXPECT_EQ(Input(store).read_all<float>("number")[4], 0.0F);
  put(".zattrs", R"({"thor_version": "0.1.0"})");
  EXPECT_TRUE(mentions(message([&] { Input(store).read_all<float>("number"); }), "chunk 1: the file is missing"));
}

TEST_F(ZarrInput, ChunkFarLargerThanTheArray) {
  std::vector<double> chunk(2 * 600'000, -1.0);  // 9.6 MB, which is passed on in parts: most are empty
  const std::vector<double> expected{1, 2, 3, 4, 5, 6};
  std::copy_n(expected.begin(), 3, chunk.begin());
  std::copy_n(expected.begin() + 3, 3, chunk.begin() + 600'000);
  put("plain/.zarray", meta("[2, 3]", "[2, 600000]", "<f8"));
  put("plain/0.0", raw(chunk));
  put("packed/.zarray", meta("[2, 3]", "[2, 600000]", "<f8", R"("compressor": {"id": "zlib"})"));
  put("packed/0.0", as_text(detail::deflate(std::as_bytes(std::span(chunk)), 1)));
  const Input input(store);
  for (const auto* name : {"plain", "packed"}) {
    EXPECT_EQ(input.read_all<double>(name), expected) << name;
    EXPECT_EQ(join_blocks<double>(input, name, 2), expected) << name;
  }
}

TEST_F(ZarrInput, HalfPrecisionAndScalars) {
  put("half/.zarray", meta("[5]", "[5]", "<f2"));
  put("half/0", raw(std::vector<std::uint16_t>{0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00}));  // IEEE 754
  put("scalar/.zarray", meta("[]", "[]", "<f8"));
  put("scalar/0", raw(std::vector<double>{0.1}));
  const Input input(store);
  EXPECT_EQ(input.read_all<double>("half"),
            (std::vector<double>{1, -2, 65504, 0x1p-24, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(input.read_all<double>("scalar"), std::vector<double>{0.1});
}

/// 64 values, 0, 0.5, 1, ..., as numcodecs 0.11 packs them.
TEST_F(ZarrInput, BloscAndZstd) {
  put("lz4/.zarray", meta("[64]", "[64]", "<f4", R"("compressor": {"id": "blosc", "cname": "lz4", "shuffle": 1})"));
  put("lz4/0", from_hex("02013104000100000001000073000000140000005b0000001f0001006ef33880c0002040608090a0b0c0d0e0f0000"
                        "810182028303840485058606870788084888c9094989ca0a4a8acb0b4b8bcc0c4c8ccd0d4d8dce0e4e8ecf0f4f8fc"
                        "003f3f3f404040404005001f41010017504141414141"));
  put("bits/.zarray", meta("[64]", "[64]", "<f4", R"("compressor": {"id": "blosc", "cname": "zstd", "shuffle": 2})"));
  put("bits/0",
      from_hex("02019404000100000001000061000000140000004900000028b52ffd600000fd010054020000aaaaaaaacccccccc0"
               "0aaccccf0f0f0f0a0ccf0f000ff00ffc800ffff0cffff0ef0ff000a202083da38c8220d171c8cb006b441488345401"
               "e54c102"));
  put("zstd/.zarray", meta("[64]", "[64]", "<f4", R"("compressor": {"id": "zstd", "level": 3})"));
  put("zstd/0", from_hex("28b52ffd6000007d0400b2cf2126804d6139588ba286a397b159ac8b623ecab1518e8fa25b5280cf826140be150be"
                         "ed350004b01951cc98d9cc8851cc87d9cc7751cc76ddce6342ee3304e731767711597398a9b3889c35cc441dcc35d"
                         "cee11a8ee12cb7700a97709543b88333b873054770033739810b3880fb11f9787c361fcd27f3c17c2e1fcba7f2399"
                         "fc9e714cd14cb9403010002c002"));
  const Input input(store);
  std::vector<float> expected(64);
  for (std::size_t i = 0; i < 64; ++i) expected[i] = 0.5F * float(i);
  for (const std::string name : {"lz4", "bits", "zstd"}) {
    if (name == "zstd" ? detail::has_zstd() : detail::has_blosc()) {
      EXPECT_EQ(input.read_all<float>(name), expected) << name;
      fs::resize_file(store / name / "0", 60);
      EXPECT_TRUE(mentions(message([&] { input.read_all<float>(name); }), "truncated or damaged")) << name;
    } else {
      const std::string text = message([&] { input.read_all<float>(name); });
      EXPECT_TRUE(mentions(text, name == "zstd" ? "libzstd-dev" : "libblosc-dev")) << text;
    }
  }
}

TEST_F(ZarrInput, GroupsAndAttributes) {
  put(".zattrs", R"({"redshift": 2, "list": [1, 2.5], "name": "a \"NaN\" box", "odd": NaN, "yes": true, "o": {}})");
  put("group/.zgroup", R"({"zarr_format": 2})");
  put("group/values/.zarray", meta("[2]", "[2]", "<f4"));
  put("group/values/.zattrs", R"({"units": "km s-1"})");
  put("group/other/notes.txt", "neither group nor array");
  const Input input(store);
  EXPECT_EQ(input.children("group"), (std::vector<std::string>{"values"}));
  EXPECT_TRUE(input.has("group/values"));
  EXPECT_FALSE(input.has("group/other"));
  EXPECT_EQ(input.number("/", "redshift"), 2.0);
  EXPECT_EQ(input.numbers("/", "list"), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(input.number("/", "yes"), 1.0);
  EXPECT_TRUE(std::isnan(input.number("/", "odd").value()));
  EXPECT_EQ(input.text("/", "name"), "a \"NaN\" box");
  EXPECT_EQ(input.text("group/values", "units"), "km s-1");
  EXPECT_EQ(input.number("/", "o"), std::nullopt);
  EXPECT_EQ(input.number("/", "none"), std::nullopt);
  EXPECT_EQ(input.number("group", "none"), std::nullopt);
  EXPECT_EQ(input.text("none", "none"), std::nullopt);
}

TEST_F(ZarrInput, BadMetadataIsNamed) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"not JSON at all", "not a JSON object"},
      {"[1, 2]", "not a JSON object"},
      {"", "not a JSON object"},
      {meta("[5]", "[3]", "<f4").substr(0, 100), "not a JSON object"},
      {std::string(100'000, '['), "not a JSON object"},
      {R"({"zarr_format": 3})", "zarr_format is not 2"},
      {meta("[-5]", "[3]", "<f4"), "no 'shape' of integers"},
      {meta("[5.5]", "[3]", "<f4"), "no 'shape' of integers"},
      {meta("5", "[3]", "<f4"), "no 'shape' of integers"},
      {meta("[5]", "[0]", "<f4"), "'chunks' are empty"},
      {meta("[5]", "[-1]", "<f4"), "no 'chunks' of integers"},
      {meta("[5]", "[3, 3]", "<f4"), "differ in rank"},
      {meta("[4294967296, 4294967296, 4]", "[1, 1, 1]", "<f4"), "shape is too large"},
      {meta("[5, 5]", "[4294967296, 4294967296]", "<f4"), "shape is too large"},
      {meta("[5]", "[2000000000]", "<f4", R"("compressor": {"id": "zlib"})"), "chunks are too large"},
      {meta("[5, 5]", "[1, 1000000000000]", "<f4"), "chunks are too large"},
      {meta("[5]", "[3]", "<U4"), "not hold readable numbers"},
      {meta("[5]", "[3]", "<c8"), "not hold readable numbers"},
      {meta("[5]", "[3]", "<f3"), "not hold readable numbers"},
      {meta("[5]", "[3]", ""), "not hold readable numbers"},
      {meta("[5]", "[3]", "<f4", R"("dtype": [["a", "<f4"]])"), "compound"},
      {meta("[5]", "[3]", "<f4", R"("order": "F")"), "order is F"},
      {meta("[5]", "[3]", "<f4", R"("dimension_separator": "/../")"), "dimension_separator"},
      {meta("[5]", "[3]", "<f4", R"("fill_value": "AAAA")"), "fill_value is not a number"},
      {meta("[5]", "[3]", "<f4", R"("compressor": {"id": "lz4"})"), "'lz4'"},
      {meta("[5]", "[3]", "<f4", R"("compressor": "zlib")"), "\"zlib\""},
      {meta("[5]", "[3]", "<f4", R"("filters": [{"id": "delta"}])"), "'delta'"},
      {meta("[5]", "[3]", "<f4", R"("filters": 7)"), "'filters'"},
      {meta("[5]", "[3]", "<f4", R"("filters": [{"id": "shuffle", "elementsize": 0}])"), "elementsize"},
      {meta("[5]", "[3]", "<f4", R"("filters": [{"id": "shuffle", "elementsize": -4}])"), "elementsize"}};
  for (const auto& [text, why] : bad) {
    put("values/.zarray", text);
    const Input input(store);
    const std::string said = message([&] { input.read_all<float>("values"); });
    EXPECT_TRUE(mentions(said, why)) << said << "\n" << text.substr(0, 300);
    EXPECT_TRUE(mentions(said, store.string())) << said;
  }
  put("values/.zarray", meta("[5]", "[3]", "<f4"));
  EXPECT_EQ(Input(store).read_all<float>("values").size(), 5u);  // so each error was due to the change
}

TEST_F(ZarrInput, BadChunksAreNamed) {
  put("plain/.zarray", meta("[4]", "[4]", "<f4"));
  put("packed/.zarray", meta("[4]", "[4]", "<f4", R"("compressor": {"id": "zlib"})"));
  put("bomb/.zarray", meta("[1]", "[500000000]", "<f8", R"("compressor": {"id": "zlib"})"));
  const std::vector<float> values{1, 2, 3, 4};
  const std::string packed = as_text(detail::deflate(std::as_bytes(std::span(values)), 1));
  put("plain/0", raw(values));
  put("packed/0", packed);
  put("bomb/0", packed);
  EXPECT_EQ(Input(store).read_all<float>("packed"), values);
  EXPECT_TRUE(mentions(message([&] { Input(store).read_all<float>("bomb"); }), "chunk 0: the file is truncated"));
  put("plain/0", raw(values).substr(1));
  put("packed/0", packed.substr(0, packed.size() - 3));
  EXPECT_TRUE(mentions(message([&] { Input(store).read_all<float>("plain"); }), "chunk 0: the file is truncated"));
  EXPECT_TRUE(mentions(message([&] { Input(store).read_all<float>("packed"); }), "chunk 0: the file is truncated"));
  put("plain/0", raw(values) + "x");
  put("packed/0", "");
  EXPECT_TRUE(mentions(message([&] { Input(store).read_all<float>("plain"); }), "too long"));
  message([&] { Input(store).read_blocks<float>("packed", 3, [](const Block<float>&) {}); });
  fs::remove(store / "plain/0");
  fs::create_directory(store / "plain/0");
  EXPECT_TRUE(mentions(message([&] { Input(store).read_all<float>("plain"); }), "not a file"));
}

TEST_F(ZarrInput, NoWayOutOfTheStore) {
  fs::create_directories(folder / "secret");
  std::ofstream(folder / "secret" / ".zarray") << meta("[1]", "[1]", "<f4");
  put("group/.zgroup", R"({"zarr_format": 2})");
  const Input input(store);
  for (const std::string name :
       {"../secret", "group/../../secret", "group//../../secret", "./group", "group/.zgroup", "group/."}) {
    EXPECT_FALSE(input.has(name)) << name;
    message([&] { input.array(name); });
    message([&] { input.read_all<float>(name); });
    message([&] { input.children(name); });
    EXPECT_EQ(input.number(name, "a"), std::nullopt);
  }
  EXPECT_EQ(Input(folder / "secret").array("/").shape, Shape{1});  // an array by itself
}

}  // namespace
}  // namespace thor::io
