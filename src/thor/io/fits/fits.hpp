#pragma once
#include <span>
#include <vector>

#include "thor/io/file_output.hpp"
#include "thor/io/fits/header.hpp"

namespace thor::io {

/// A column of a table.
struct FitsColumn {
  std::string name, unit;
  std::vector<double> values;
};

/// A FITS file of images or tables of double precision: a primary HDU without data, and an extension for each of them
/// (FITS standard 4.0, sections 3, 5.3, 7.1 and 7.3). Called NAME.partial until commit(), as every FileOutput.
class FitsOutput {
 public:
  FitsOutput(const std::filesystem::path& path, bool overwrite) : file_(path, overwrite) {}

  /// Header of the file; first of all, and with the number of values that its extensions will have.
  void primary(const FitsHeader& header, std::uint64_t values);

  /// Adds an extension. The shape is in C order, the values big-endian on disk.
  void image(const std::string& name, const FitsHeader& header, const std::vector<std::uint64_t>& shape,
             std::span<const double> values);

  /// Adds a binary table; all columns have as many rows.
  void table(const std::string& name, const FitsHeader& header, const std::vector<FitsColumn>& columns);

  void commit() { file_.commit(); }

 private:
  void write(std::span<const double> values);

  FileOutput file_;
};

}  // namespace thor::io
