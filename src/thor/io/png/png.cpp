#include "thor/io/png/png.hpp"

#include <zlib.h>

#include <string>

#include "thor/io/file_output.hpp"
#include "thor/io/zarr/codec.hpp"

namespace thor::io {
namespace {

void put_number(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += char(value >> shift & 0xff);
}

/// Length, type, data, and the check of type and data (section 5.3).
std::string chunk(const std::string& type, const std::string& data) {
  std::string bytes;
  put_number(bytes, std::uint32_t(data.size()));
  const std::string checked = type + data;
  bytes += checked;
  put_number(bytes, std::uint32_t(crc32(0, reinterpret_cast<const Bytef*>(checked.data()), uInt(checked.size()))));
  return bytes;
}

}  // namespace

void write_png(const std::filesystem::path& path, bool overwrite, const Raster& raster) {
  std::string header;
  put_number(header, std::uint32_t(raster.width));
  put_number(header, std::uint32_t(raster.height));
  header += {8, 2, 0, 0, 0};  // bits, red green blue, deflate, filters by row, not interlaced
  std::vector<std::byte> rows;
  rows.reserve((3 * std::size_t(raster.width) + 1) * std::size_t(raster.height));
  for (std::size_t i = 0; i < raster.pixels.size(); ++i) {
    if (i % std::size_t(raster.width) == 0) rows.push_back(std::byte{0});  // no filter
    for (const auto value : {raster.pixels[i].red, raster.pixels[i].green, raster.pixels[i].blue}) {
      rows.push_back(std::byte{value});
    }
  }
  const std::vector<std::byte> packed = detail::deflate(rows, 6);
  FileOutput file(path, overwrite);
  file.write("\x89PNG\r\n\x1a\n");
  file.write(chunk("IHDR", header));
  file.write(chunk("IDAT", {reinterpret_cast<const char*>(packed.data()), packed.size()}));
  file.write(chunk("IEND", ""));
  file.commit();
}

}  // namespace thor::io
