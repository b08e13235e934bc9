#include "thor/gridding/deposit/cell_sums.hpp"

#include <sys/mman.h>

#include <new>

#include "thor/core/memory.hpp"

namespace thor::gridding {

/// Allocated by mmap, which returns zeros, in large pages if possible, since deposits access it at random.
template <class T>
CellSums<T>::CellSums(const Lattice& lattice, int fields, const Layers& layers)
    : lattice_(lattice), layers_(layers), fields_(fields), bytes_(cells() * std::size_t(fields) * sizeof(T)) {
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  prefer_large_pages(memory, bytes_);
  data_ = static_cast<T*>(memory);
}

template <class T>
CellSums<T>::~CellSums() {
  munmap(data_, bytes_);
}

template class CellSums<float>;
template class CellSums<double>;

}  // namespace thor::gridding
