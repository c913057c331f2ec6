#include "text_log.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "pages.hpp"

namespace smg::index {
namespace {

constexpr std::size_t kMinChunkBytes = 1U << 20;
constexpr std::size_t kPresentBytes = 16U << 10;  // a few faults' worth at a time

}  // namespace

TextLog::TextLog(std::size_t max_piece)
    : chunk_bytes_(std::max(kMinChunkBytes, std::bit_ceil(4 * max_piece))),
      shift_(static_cast<std::uint32_t>(std::countr_zero(chunk_bytes_ / kUnit))),
      mask_(static_cast<std::uint32_t>(chunk_bytes_ / kUnit - 1)) {}

std::size_t TextLog::block_bytes(std::size_t bytes) {
  return (bytes + sizeof(std::uint32_t) + kUnit - 1) & ~(kUnit - 1);
}

void TextLog::mark_gap(char* at, std::size_t bytes) {
  const std::uint32_t words[2] = {bytes == kUnit ? kPad : kGap, static_cast<std::uint32_t>(bytes)};
  std::memcpy(at, words, bytes == kUnit ? kUnit : sizeof words);
}

std::uint32_t TextLog::put(std::uint32_t owner, const char* text, std::size_t bytes) {
  const std::size_t whole = block_bytes(bytes);
  if (head_ == kNone || chunks_[head_].used + whole > chunk_bytes_) open_chunk();
  Chunk& chunk = chunks_[head_];
  char* place = bases_[head_] + chunk.used;
  while (chunk.present < chunk.used + whole) {
    populate_pages(reinterpret_cast<std::byte*>(bases_[head_] + chunk.present), kPresentBytes);
    chunk.present += kPresentBytes;
  }
  std::memcpy(place, &owner, sizeof owner);
  std::memcpy(place + sizeof owner, text, bytes);
  const auto ref =
      static_cast<std::uint32_t>((static_cast<std::size_t>(head_) << shift_) + chunk.used / kUnit);
  chunk.used += whole;
  chunk.live += whole;
  return ref;
}

void TextLog::drop(std::uint32_t ref, std::size_t bytes) {
  const std::size_t whole = block_bytes(bytes);
  mark_gap(block(ref), whole);
  lose(ref >> shift_, whole);
}

void TextLog::shorten(std::uint32_t ref, std::size_t bytes, std::size_t kept, std::uint32_t owner) {
  std::memcpy(block(ref), &owner, sizeof owner);
  const std::size_t left = block_bytes(kept);
  const std::size_t gap = block_bytes(bytes) - left;
  if (gap == 0) return;
  mark_gap(block(ref) + left, gap);
  lose(ref >> shift_, gap);
}

void TextLog::lose(std::uint32_t id, std::size_t bytes) {
  Chunk& chunk = chunks_[id];
  chunk.live -= bytes;
  if (id == head_) {
    if (chunk.live == 0) chunk.used = 0;
    return;
  }
  if (chunk.live == 0) {
    release(id);
  } else if (!chunk.is_victim && chunk.live < chunk_bytes_ / 2) {
    chunk.is_victim = true;
    victims_.push_back(id);
  }
}

bool TextLog::next_victim() {
  while (!victims_.empty()) {
    const std::uint32_t id = victims_.back();
    victims_.pop_back();
    if (bases_[id] == nullptr || !chunks_[id].is_victim) continue;
    victim_ = id;
    victim_at_ = 0;
    return true;
  }
  return false;
}

void TextLog::open_chunk() {
  const std::uint32_t full = head_;
  if (unmapped_.empty()) {
    head_ = static_cast<std::uint32_t>(bases_.size());
    bases_.push_back(nullptr);
    chunks_.emplace_back();
  } else {
    head_ = unmapped_.back();
    unmapped_.pop_back();
  }
  bases_[head_] = reinterpret_cast<char*>(map_pages(chunk_bytes_));
  if (full != kNone) lose(full, 0);  // what was dropped while it was the head counts now
}

void TextLog::release(std::uint32_t id) {
  unmap_pages(reinterpret_cast<std::byte*>(bases_[id]), chunk_bytes_);
  bases_[id] = nullptr;
  chunks_[id] = {};
  unmapped_.push_back(id);
  if (victim_ == id) victim_ = kNone;
}

void TextLog::clear() {
  for (char* base : bases_) {
    if (base != nullptr) unmap_pages(reinterpret_cast<std::byte*>(base), chunk_bytes_);
  }
  bases_.clear();
  chunks_.clear();
  unmapped_.clear();
  victims_.clear();
  head_ = kNone;
  victim_ = kNone;
}

std::size_t TextLog::memory_bytes() const {
  std::size_t mapped = (bases_.size() - unmapped_.size()) * chunk_bytes_;
  // Pages of the head that nothing was written to take no memory yet.
  if (head_ != kNone) mapped -= chunk_bytes_ - static_cast<std::size_t>(chunks_[head_].used);
  return mapped + bases_.size() * (sizeof(Chunk) + sizeof(char*));
}

bool TextLog::is_full_for(std::size_t bytes) const {
  const std::size_t chunks = bases_.size() - unmapped_.size() + bytes / (chunk_bytes_ / 2) + 1;
  return chunks >= (std::size_t{1} << (32 - shift_));
}

}  // namespace smg::index
