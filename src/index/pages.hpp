// Memory straight from the operating system, so that what a tree no longer needs really leaves the
// process: a general allocator keeps freed pieces between live ones.
#pragma once

#include <cstddef>

namespace smg::index {

// Zeroed, page aligned, `bytes` a multiple of the page size. Throws std::bad_alloc when refused.
std::byte* map_pages(std::size_t bytes);
// Makes pages present before they are written, which is cheaper than one fault for each. A hint: an
// old kernel refuses it.
void populate_pages(std::byte* pages, std::size_t bytes);
void unmap_pages(std::byte* pages, std::size_t bytes);

}  // namespace smg::index
