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
  constexpr std::size_t most = 1 << 17;
  for (std::size_t i = 0; i < values.size(); i += most) {
    file_.write(big_endian(values.subspan(i, std::min(most, values.size() - i))));
  }
  const std::size_t used = 8 * values.size() % fits_block;
  if (used > 0) file_.write(std::string(fits_block - used, '\0'));
}

}  // namespace thor::io
