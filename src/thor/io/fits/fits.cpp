#include "thor/io/fits/fits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace thor::io {
namespace {

std::string big_endian(std::span<const double> values) {
  std::string bytes;
  bytes.reserve(8 * values.size());
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 56; shift >= 0; shift -= 8) bytes += char(bits >> shift & 0xff);
  }
  return bytes;
}

}  // namespace

void FitsOutput::primary(const FitsHeader& header, std::uint64_t values) {
  FitsHeader all;
  all.set("SIMPLE", true, "conforms to the FITS standard");
  all.set("BITPIX", 8, "there is no data here");
  all.set("NAXIS", 0, "");
  all.set("EXTEND", true, "the data are in extensions");
  all.append(header);
  const std::string blocks = all.blocks();
  file_.reserve(blocks.size() + 8 * values);
  file_.write(blocks);
}

void FitsOutput::image(const std::string& name, const FitsHeader& header, const std::vector<std::uint64_t>& shape,
                       std::span<const double> values) {
  FitsHeader all;
  all.set("XTENSION", "IMAGE", "image extension");
  all.set("BITPIX", -64, "double precision");
  all.set("NAXIS", shape.size(), "");
  for (std::size_t i = 0; i < shape.size(); ++i) {  // the first axis is the fastest
    all.set(fmt::format("NAXIS{}", i + 1), shape[shape.size() - 1 - i], "");
  }
  all.set("PCOUNT", 0, "");
  all.set("GCOUNT", 1, "");
  all.set("EXTNAME", name, "");
  all.append(header);
  file_.write(all.blocks());
  write(values);
}

void FitsOutput::table(const std::string& name, const FitsHeader& header, const std::vector<FitsColumn>& columns) {
  const std::size_t rows = columns.front().values.size();
  FitsHeader all;
  all.set("XTENSION", "BINTABLE", "binary table");
  all.set("BITPIX", 8, "");
  all.set("NAXIS", 2, "");
  all.set("NAXIS1", 8 * columns.size(), "bytes of a row");
  all.set("NAXIS2", rows, "rows");
  all.set("PCOUNT", 0, "");
  all.set("GCOUNT", 1, "");
  all.set("TFIELDS", columns.size(), "columns");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    all.set(fmt::format("TTYPE{}", i + 1), columns[i].name, "");
    all.set(fmt::format("TFORM{}", i + 1), "1D", "");
    if (!columns[i].unit.empty()) all.set(fmt::format("TUNIT{}", i + 1), columns[i].unit, "");
  }
  all.set("EXTNAME", name, "");
  all.append(header);
  file_.write(all.blocks());
  std::vector<double> values;
  for (std::size_t row = 0; row < rows; ++row) {
    for (const FitsColumn& column : columns) values.push_back(column.values[row]);
  }
  write(values);
}

void FitsOutput::write(std::span<const double> values) {
  constexpr std::size_t most = 1 << 17;
  for (std::size_t i = 0; i < values.size(); i += most) {
    file_.write(big_endian(values.subspan(i, std::min(most, values.size() - i))));
  }
  const std::size_t used = 8 * values.size() % fits_block;
  if (used > 0) file_.write(std::string(fits_block - used, '\0'));
}

}  // namespace thor::io
