#pragma once
#include <span>
#include <vector>

#include "thor/io/file_output.hpp"
#include "thor/io/fits/header.hpp"

namespace thor::io {

/// A FITS file of images of double precision: a primary HDU without data, and an extension for each of them (FITS
/// standard 4.0, sections 3, 5.3 and 7.1). Called NAME.partial until commit(), as every FileOutput.
class FitsOutput {
 public:
  FitsOutput(const std::filesystem::path& path, bool overwrite) : file_(path, overwrite) {}

  /// Header of the file; first of all, and with the number of values that its extensions will have.
  void primary(const FitsHeader& header, std::uint64_t values);

  /// Adds an extension. The shape is in C order, the values big-endian on disk.
  void image(const std::string& name, const FitsHeader& header, const std::vector<std::uint64_t>& shape,
             std::span<const double> values);

  void commit() { file_.commit(); }

 private:
  FileOutput file_;
};

}  // namespace thor::io
