#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "thor/io/descriptor.hpp"

/// The models of a sweep that are done, in a file beside the result, NAME.models, until that is written. A record is
/// appended when a model ends, so that a sweep that is killed at any moment goes on with the next one. Raw photons are
/// in a file beside it, NAME.models.photons, where a record says.
namespace thor::sweep {

enum class Status : std::uint64_t { missing, done, unreliable, failed };

struct Record {
  std::uint64_t model = 0;
  Status status = Status::missing;
  std::string message{};          ///< of a model that failed
  std::vector<double> numbers{};  ///< as many in each record of a journal
  std::vector<float> photons{};   ///< any number of them, in a file of their own
};

class Journal {
 public:
  /// Opens or begins that of a process. Refuses one of another sweep (`identity`), and one that another process has.
  Journal(const std::string& result, int rank, std::uint64_t identity, std::size_t numbers, bool keeps_photons);

  void append(const Record& given);  ///< from any thread

  /// Models in the journals of all processes, and where: those of an earlier run may have been more or fewer.
  struct Place {
    std::string file;
    std::uint64_t at;
    Status status;
  };
  std::map<std::uint64_t, Place> find_all() const;
  Record read(const Place& place) const;
  std::vector<float> read_photons(const Place& place) const;
  /// Removes the journals of all processes.
  void remove_all() const;

 private:
  std::vector<std::string> files() const;
  std::size_t record_bytes() const;
  void check_head(const std::string& file, int descriptor) const;
  bool parse(std::span<const char> bytes, Record& record) const;
  void append_photons(Record& record);
  /// None where they are damaged or not there.
  std::optional<std::vector<float>> photons_of_record(const std::string& name, const Record& record) const;

  std::string result_, own_;
  std::uint64_t identity_;
  std::size_t numbers_, all_numbers_;  ///< the last ones say where photons are
  io::detail::Descriptor file_, photons_;
  std::mutex mutex_;
};

}  // namespace thor::sweep
