#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "thor/io/hdf5/crash.hpp"

/// Sanitizers have handlers of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

using thor::io::ReadingHdf5;

void fail_at_address() {
  int* volatile nothing = nullptr;
  *nothing = 1;
}

TEST(Hdf5CrashTest, NamesTheFileThatIsRead) {
  const auto read = [](void (*crash)()) {
    thor::io::report_crashes_of_hdf5();
    const ReadingHdf5 outer("'outer.h5'");
    { const ReadingHdf5 inner("'inner.h5'"); }
    crash();
  };
  for (const auto crash : {fail_at_address, +[] { std::abort(); }}) {
    EXPECT_EXIT(read(crash), testing::ExitedWithCode(3), "error: cannot read 'outer.h5': HDF5 crashed");
  }
}

TEST(Hdf5CrashTest, LeavesOtherCrashesToOthers) {
  const auto crash = [](void (*how)()) {
    thor::io::report_crashes_of_hdf5();
    { const ReadingHdf5 before("'file.h5'"); }
    how();
  };
  EXPECT_EXIT(crash(fail_at_address), testing::KilledBySignal(SIGSEGV), "^$");
  EXPECT_EXIT(crash([] { std::abort(); }), testing::KilledBySignal(SIGABRT), "^$");
  EXPECT_EXIT(crash([] { raise(SIGSEGV); }), testing::KilledBySignal(SIGSEGV), "^$");
  const auto earlier = [&] {
    std::signal(SIGSEGV, [](int) { _exit(42); });
    crash(fail_at_address);
  };
  EXPECT_EXIT(earlier(), testing::ExitedWithCode(42), "^$");
}

}  // namespace
#endif
