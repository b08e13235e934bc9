#pragma once
#include <map>
#include <optional>

#include "thor/io/array/output.hpp"
#include "thor/io/result/result.hpp"

/// Raw photons of a run on several ranks: each rank streams those that end on it into a file of its own, a part, beside
/// the result. `thor merge` joins them (merge.hpp).
namespace thor::io {

/// "NAME.2.h5" of rank 2, for a result NAME.h5; "NAME.2.zarr" for NAME.zarr.
std::string part_name(const std::string& result, int rank);

/// Parts of a run: the group /parts of its result.
struct Parts {
  int count = 0;
  std::string run;                                ///< identity of the run, which its result and all its parts share
  std::vector<std::uint64_t> original{}, peel{};  ///< rows of /photons/original and /photons/peel in each; or nothing
};

void write_parts(ArrayOutput& file, const Parts& parts);
/// None where the photons of a result are not in parts. Error(input) where it is damaged.
std::optional<Parts> parts_of(const Result& result);

/// One part: the group /part of its file.
struct Part {
  int rank = 0, ranks = 0;
  std::string run;
};

void write_part(ArrayOutput& file, const Part& part);
/// None where a file is no part.
std::optional<Part> part_of(const std::vector<Object>& objects);
/// Refuses the file of a rank where a result is expected, and says what to do with it.
void require_no_part(const std::string& name, const std::vector<Object>& objects);

/// Refuses to replace a file with the name of a part that is something else.
void require_part(const std::string& name, int rank);

/// The files of ranks beside a result that belong to it, by rank; of others nothing is known, nor where there is no
/// result that can be read.
std::map<int, std::string> parts_beside(const std::string& result);

/// The names of all parts of a result, in few words: "out.0.h5, out.1.h5", "out.0.h5 to out.7.h5".
std::string names_of_parts(const std::string& result, int count);

}  // namespace thor::io
