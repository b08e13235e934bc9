#include "thor/drivers/sweep/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "thor/core/error.hpp"
#include "thor/io/fingerprint.hpp"
#include "thor/io/partial.hpp"

namespace thor::sweep {
namespace {

namespace fs = std::filesystem;
using io::detail::Descriptor;

constexpr std::uint64_t magic = 0x31707765'65727374;  // format 1
constexpr std::size_t message_bytes = 240;

struct Head {
  std::uint64_t magic, identity, numbers;
};
/// Of a record; the numbers follow, and the hash of all.
struct Begin {
  std::uint64_t model, status;
  char message[message_bytes];
};

std::string journal_of(const std::string& result, int rank) {
  return fmt::format("{}.models{}", result, rank == 0 ? "" : fmt::format(".{}", rank));
}

std::string photons_of(const std::string& journal) { return journal + ".photons"; }

/// Where the photons of a record are in their file, how many numbers, and the hash of these, in halves.
constexpr std::size_t place_numbers = 4;

void write_all(int descriptor, std::span<const char> bytes, const std::string& file, std::uint64_t model) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) io::detail::fail(file, fmt::format("model {}", model), io::detail::write_error(errno));
    done += std::size_t(n);
  }
}

/// All bytes that are asked for, or those before the end.
std::size_t read_at(int descriptor, void* bytes, std::size_t count, std::uint64_t at) {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t n = pread(descriptor, static_cast<char*>(bytes) + done, count - done, off_t(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += std::size_t(n);
  }
  return done;
}

/// Opened and locked for this process alone.
int open_alone(const std::string& file) {
  for (;;) {
    const int opened = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (opened < 0) io::detail::cannot_create(file, errno);
    if (flock(opened, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      close(opened);
      throw Error(ExitCode::output,
                  fmt::format("{}: another process runs this sweep: wait for it, or write another result", file));
    }
    struct stat mine {
    }, named{};
    const bool is_named = fstat(opened, &mine) == 0 && stat(file.c_str(), &named) == 0 && mine.st_ino == named.st_ino &&
                          mine.st_dev == named.st_dev;
    if (is_named) return opened;
    close(opened);  // a process whose sweep was done has removed it meanwhile
  }
}

}  // namespace

Journal::Journal(const std::string& result, int rank, std::uint64_t identity, std::size_t numbers, bool keeps_photons)
    : result_(result),
      own_(journal_of(result, rank)),
      identity_(identity),
      numbers_(numbers),
      all_numbers_(numbers + (keeps_photons ? place_numbers : 0)),
      file_(open_alone(own_)),
      photons_(keeps_photons ? open(photons_of(own_).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666) : -1) {
  if (keeps_photons && photons_.id < 0) io::detail::cannot_create(photons_of(own_), errno);
  const off_t end = lseek(file_.id, 0, SEEK_END);
  const Head head{magic, identity_, all_numbers_};
  Head there{};
  const std::size_t begun = read_at(file_.id, &there, sizeof(there), 0);
  if (begun < sizeof(Head) && std::memcmp(&there, &head, begun) == 0) {  // new, or cut in its first line
    if (ftruncate(file_.id, 0) != 0 || pwrite(file_.id, &head, sizeof(head), 0) != ssize_t(sizeof(head))) {
      io::detail::fail(own_, "its first line", io::detail::write_error(errno));
    }
  } else {
    check_head(own_, file_.id);
  }
  // What a kill has left of a record goes.
  const auto whole = (std::uint64_t(std::max<off_t>(end, sizeof(Head))) - sizeof(Head)) / record_bytes();
  if (ftruncate(file_.id, off_t(sizeof(Head) + whole * record_bytes())) != 0) {
    io::detail::fail(own_, "it cannot be shortened", io::detail::write_error(errno));
  }
  lseek(file_.id, 0, SEEK_END);
  if (keeps_photons) lseek(photons_.id, 0, SEEK_END);  // what a kill has left there, no record names
}

std::size_t Journal::record_bytes() const {
  return sizeof(Begin) + all_numbers_ * sizeof(double) + sizeof(std::uint64_t);
}

void Journal::check_head(const std::string& file, int descriptor) const {
  Head head{};
  read_at(descriptor, &head, sizeof(head), 0);
  if (head.magic == magic && head.identity == identity_ && head.numbers == all_numbers_) return;
  throw Error(
      ExitCode::output,
      fmt::format("{}: has models of another sweep: its configuration, that of the model, or a file that it reads "
                  "has changed. Delete it to begin anew, or write another result",
                  file));
}

void Journal::append(const Record& given) {
  Record record = given;
  record.numbers.resize(all_numbers_, std::nan(""));
  const std::lock_guard lock(mutex_);
  if (photons_.id >= 0) append_photons(record);
  std::vector<char> bytes(record_bytes());
  Begin begin{record.model, std::uint64_t(record.status), {}};
  std::strncpy(begin.message, record.message.c_str(), message_bytes - 1);
  std::memcpy(bytes.data(), &begin, sizeof(begin));
  std::memcpy(bytes.data() + sizeof(begin), record.numbers.data(), all_numbers_ * sizeof(double));
  const std::uint64_t hash = io::hash_of({bytes.data(), bytes.size() - sizeof(std::uint64_t)});
  std::memcpy(bytes.data() + bytes.size() - sizeof(hash), &hash, sizeof(hash));
  write_all(file_.id, bytes, own_, record.model);
}

/// Before the record: one that is there has its photons.
void Journal::append_photons(Record& record) {
  const std::span bytes(reinterpret_cast<const char*>(record.photons.data()), record.photons.size() * sizeof(float));
  const std::uint64_t hash = io::hash_of({bytes.data(), bytes.size()});
  double* place = record.numbers.data() + numbers_;
  place[0] = double(lseek(photons_.id, 0, SEEK_CUR)), place[1] = double(record.photons.size());
  place[2] = double(hash >> 32), place[3] = double(hash & 0xffffffff);
  write_all(photons_.id, bytes, photons_of(own_), record.model);
}

bool Journal::parse(std::span<const char> bytes, Record& record) const {
  std::uint64_t hash = 0;
  std::memcpy(&hash, bytes.data() + bytes.size() - sizeof(hash), sizeof(hash));
  if (hash != io::hash_of({bytes.data(), bytes.size() - sizeof(hash)})) return false;
  Begin begin{};
  std::memcpy(&begin, bytes.data(), sizeof(begin));
  record = {begin.model, Status(begin.status), begin.message, std::vector<double>(all_numbers_)};
  std::memcpy(record.numbers.data(), bytes.data() + sizeof(begin), all_numbers_ * sizeof(double));
  return true;
}

std::vector<std::string> Journal::files() const {
  std::vector<std::string> files;
  const fs::path result(result_);
  const std::string begin = result.filename().string() + ".models";
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator(result.has_parent_path() ? result.parent_path() : fs::path("."), error)) {
    const std::string name = entry.path().filename().string();
    const std::string rest = name.starts_with(begin) ? name.substr(begin.size()) : "?";
    const bool is_rank = rest.starts_with('.') && rest.find_first_not_of("0123456789", 1) == std::string::npos;
    if (rest.empty() || is_rank) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

std::map<std::uint64_t, Journal::Place> Journal::find_all() const {
  std::map<std::uint64_t, Place> found;
  std::vector<char> bytes(record_bytes());
  Record record;
  for (const std::string& name : files()) {
    const Descriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC));
    Head head{};
    if (file.id < 0 || read_at(file.id, &head, sizeof(head), 0) < sizeof(head)) continue;  // a kill left no more of it
    check_head(name, file.id);
    for (std::uint64_t at = sizeof(Head); read_at(file.id, bytes.data(), bytes.size(), at) == bytes.size();
         at += bytes.size()) {
      const bool is_whole = parse(bytes, record) && (all_numbers_ == numbers_ || photons_of_record(name, record));
      if (is_whole) found[record.model] = {name, at, record.status};  // a spoilt one is run again
    }
  }
  return found;
}

Record Journal::read(const Place& place) const {
  const Descriptor file(open(place.file.c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<char> bytes(record_bytes());
  Record record;
  if (file.id < 0 || read_at(file.id, bytes.data(), bytes.size(), place.at) != bytes.size() || !parse(bytes, record)) {
    throw Error(ExitCode::input, fmt::format("{}: damaged while it was used: run the sweep again", place.file));
  }
  return record;
}

std::optional<std::vector<float>> Journal::photons_of_record(const std::string& name, const Record& record) const {
  const double* at = record.numbers.data() + numbers_;
  const Descriptor file(open(photons_of(name).c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  const double size = file.id >= 0 && fstat(file.id, &status) == 0 ? double(status.st_size) : 0;
  const std::uint64_t hash = (std::uint64_t(at[2]) << 32) | std::uint64_t(at[3]);
  if (!(at[0] >= 0 && at[1] >= 0 && at[0] + at[1] * sizeof(float) <= size)) return std::nullopt;
  std::vector<float> photons(static_cast<std::size_t>(at[1]));
  char* bytes = reinterpret_cast<char*>(photons.data());
  const std::size_t wanted = photons.size() * sizeof(float);
  const bool is_whole =
      read_at(file.id, bytes, wanted, std::uint64_t(at[0])) == wanted && io::hash_of({bytes, wanted}) == hash;
  return is_whole ? std::optional(std::move(photons)) : std::nullopt;
}

std::vector<float> Journal::read_photons(const Place& place) const {
  std::optional<std::vector<float>> photons = photons_of_record(place.file, read(place));
  if (photons) return *std::move(photons);
  throw Error(ExitCode::input,
              fmt::format("{}: damaged while it was used: run the sweep again", photons_of(place.file)));
}

void Journal::remove_all() const {
  std::error_code ignored;
  for (const std::string& name : files()) fs::remove(name, ignored), fs::remove(photons_of(name), ignored);
}

}  // namespace thor::sweep
