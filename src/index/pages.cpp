#include "pages.hpp"

#include <sys/mman.h>

#include <new>

namespace smg::index {

std::byte* map_pages(std::size_t bytes) {
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(pages);
}

void populate_pages([[maybe_unused]] std::byte* pages, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  ::madvise(pages, bytes, MADV_POPULATE_WRITE);
#endif
}

void unmap_pages(std::byte* pages, std::size_t bytes) { ::munmap(pages, bytes); }

}  // namespace smg::index
