#include "thor/io/png/png.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
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

/// A file of rows, each of which begins with its filter.
std::string encode(int width, int height, int bits, int colour_type, const std::vector<std::byte>& rows, int level,
                   double dots_per_inch = 0) {
  std::string header;
  put_number(header, std::uint32_t(width));
  put_number(header, std::uint32_t(height));
  header += {char(bits), char(colour_type), 0, 0, 0};  // deflate, filters by row, not interlaced
  const std::vector<std::byte> packed = detail::deflate(rows, level ? level : bits == 8 && colour_type == 6 ? 1 : 6);
  std::string size;  // pixels per metre (section 11.3.5.3)
  if (dots_per_inch > 0) {
    for (int axis = 0; axis < 2; ++axis) put_number(size, std::uint32_t(std::lround(dots_per_inch / 0.0254)));
    size = chunk("pHYs", size + '\1');
  }
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + size +
         chunk("IDAT", {reinterpret_cast<const char*>(packed.data()), packed.size()}) + chunk("IEND", "");
}

void write_bytes(const std::filesystem::path& path, bool overwrite, const std::string& bytes) {
  FileOutput file(path, overwrite);
  file.write(bytes);
  file.commit();
}

}  // namespace

std::string encode_png(const Raster& raster, int level) {
  std::vector<std::byte> rows((3 * std::size_t(raster.width) + 1) * std::size_t(raster.height));
  auto to = rows.begin();
  for (auto pixel = raster.pixels.begin(); pixel != raster.pixels.end();) {
    *to++ = std::byte{0};  // no filter
    for (int i = 0; i < raster.width; ++i, ++pixel) {
      *to++ = std::byte{pixel->red}, *to++ = std::byte{pixel->green}, *to++ = std::byte{pixel->blue};
    }
  }
  return encode(raster.width, raster.height, 8, 2, rows, level, raster.dots_per_inch);
}

std::string encode_png(const Picture& picture, int level) {
  const std::size_t colours = picture.transparent ? 4 : 3;
  std::vector<std::byte> rows((std::size_t(picture.width) * colours * std::size_t(picture.bits / 8) + 1) *
                              std::size_t(picture.height));
  auto to = rows.begin();
  for (auto number = picture.numbers.begin(); number != picture.numbers.end();) {
    *to++ = std::byte{0};
    for (int i = 0; i < picture.width; ++i, number += 4) {
      for (std::size_t c = 0; c < colours; ++c) {
        if (picture.bits == 16) *to++ = std::byte(number[std::ptrdiff_t(c)] >> 8);
        *to++ = std::byte(number[std::ptrdiff_t(c)] & 0xff);
      }
    }
  }
  return encode(picture.width, picture.height, picture.bits, picture.transparent ? 6 : 2, rows, level);
}

Picture picture_of(int columns, int rows, std::span<const double> rgba, int bits, bool transparent) {
  Picture picture{columns, rows, bits, transparent, {}};
  picture.numbers.resize(4 * std::size_t(columns) * std::size_t(rows));
  const double most = bits == 16 ? 65535 : 255;
  for (std::size_t row = 0; row < std::size_t(rows); ++row) {
    for (std::size_t column = 0; column < std::size_t(columns); ++column) {
      const double* from = rgba.data() + 4 * ((std::size_t(rows) - 1 - row) * std::size_t(columns) + column);
      std::uint16_t* to = picture.numbers.data() + 4 * (row * std::size_t(columns) + column);
      for (std::size_t c = 0; c < 4; ++c) {
        const double value = transparent && c < 3 ? from[c] / std::max(from[3], 1e-6) : from[c];
        to[c] = std::uint16_t(most * std::clamp(value, 0., 1.) + 0.5);
      }
    }
  }
  return picture;
}

void write_png(const std::filesystem::path& path, bool overwrite, const Raster& raster) {
  write_bytes(path, overwrite, encode_png(raster));
}
void write_png(const std::filesystem::path& path, bool overwrite, const Picture& picture) {
  write_bytes(path, overwrite, encode_png(picture));
}

}  // namespace thor::io
