// Memory straight from the operating system, so that what a tree no longer needs really leaves the
// process: a general allocator keeps freed pieces between live ones.
#pragma once

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace smg::index {

// Zeroed, page aligned, `bytes` a multiple of the page size. Throws std::bad_alloc when refused.
std::byte* map_pages(std::size_t bytes);
// Makes pages present before they are written, which is cheaper than one fault for each. A hint: an
// old kernel refuses it.
void populate_pages(std::byte* pages, std::size_t bytes);
void unmap_pages(std::byte* pages, std::size_t bytes);

// The address sanitizer does not know what is free in pages of our own. Nothing in other builds.
#ifdef __SANITIZE_ADDRESS__
inline void allow_access(void* at, std::size_t bytes) { __asan_unpoison_memory_region(at, bytes); }
inline void forbid_access(void* at, std::size_t bytes) { __asan_poison_memory_region(at, bytes); }
#else
inline void allow_access(void*, std::size_t) {}
inline void forbid_access(void*, std::size_t) {}
#endif

}  // namespace smg::index
