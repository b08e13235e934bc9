#pragma once
#include <unistd.h>

namespace thor::io::detail {

/// A file descriptor, closed at the end of its life; negative: none.
struct Descriptor {
  int id;
  explicit Descriptor(int opened) : id(opened) {}
  ~Descriptor() {
    if (id >= 0) close(id);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

}  // namespace thor::io::detail
