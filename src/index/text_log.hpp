// The edges' bytes: an append-only log in large chunks, each piece preceded by the id of its owner.
//
// Dropped pieces leave gaps. A chunk that is less than half alive becomes a victim: compact() moves
// what lives there to the end of the log, tells the owner, and gives the chunk back to the
// operating system. So the log takes at most about twice its live bytes once compaction has caught
// up, whatever the order of drops. Pointers are valid until the next put() or compact(). The owner
// remembers the length of its piece; the log does not. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace smg::index {

class TextLog {
 public:
  // No piece may be longer than `max_piece` bytes.
  explicit TextLog(std::size_t max_piece);
  TextLog(const TextLog&) = delete;
  TextLog& operator=(const TextLog&) = delete;
  ~TextLog() { clear(); }

  // A reference to a copy of `bytes` > 0 bytes. `text` may lie in the log itself.
  std::uint32_t put(std::uint32_t owner, const char* text, std::size_t bytes);
  const char* at(std::uint32_t ref) const { return block(ref) + sizeof(std::uint32_t); }
  void prefetch(std::uint32_t ref, std::size_t bytes) const {
    for (std::size_t line = 0; line < bytes; line += 64) __builtin_prefetch(at(ref) + line);
  }

  void drop(std::uint32_t ref, std::size_t bytes);
  // Keeps the first `kept` of `bytes` bytes, for another owner.
  void shorten(std::uint32_t ref, std::size_t bytes, std::size_t kept, std::uint32_t owner);

  // Moves at least `quota` bytes while there are victims. `length(owner)` is asked for each piece,
  // then `moved(owner, ref)` tells its new place.
  template <class Length, class Moved>
  void compact(std::size_t quota, Length length, Moved moved);
  bool wants_compaction() const { return victim_ != kNone || !victims_.empty(); }

  void clear();
  std::size_t memory_bytes() const;
  bool is_full_for(std::size_t bytes) const;

 private:
  static constexpr std::size_t kUnit = 4;  // a reference counts these
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint32_t kGap = 0xFFFFFFFF;  // in place of an owner; the length follows
  static constexpr std::uint32_t kPad = 0xFFFFFFFE;  // a gap of one unit

  struct Chunk {
    std::uint64_t live = 0;     // bytes of blocks that are not gaps
    std::uint64_t used = 0;     // bytes of all blocks
    std::uint64_t present = 0;  // bytes whose pages have been asked for
    bool is_victim = false;
  };

  static std::size_t block_bytes(std::size_t bytes);
  char* block(std::uint32_t ref) const { return bases_[ref >> shift_] + (ref & mask_) * kUnit; }
  static void mark_gap(char* at, std::size_t bytes);
  void lose(std::uint32_t chunk, std::size_t bytes);
  void open_chunk();
  void release(std::uint32_t chunk);
  bool next_victim();

  const std::size_t chunk_bytes_;
  const std::uint32_t shift_, mask_;
  std::vector<char*> bases_;
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> unmapped_;
  std::vector<std::uint32_t> victims_;  // may name chunks that are gone by now
  std::uint32_t head_ = kNone;          // where put() appends
  std::uint32_t victim_ = kNone;        // being moved, up to victim_at_
  std::size_t victim_at_ = 0;
};

template <class Length, class Moved>
void TextLog::compact(std::size_t quota, Length length, Moved moved) {
  std::size_t done = 0;
  while (done < quota && (victim_ != kNone || next_victim())) {
    const std::uint32_t from = victim_;
    char* piece = bases_[from] + victim_at_;
    const auto* words = reinterpret_cast<const std::uint32_t*>(piece);
    if (words[0] == kGap || words[0] == kPad) {
      victim_at_ += words[0] == kGap ? words[1] : kUnit;
      continue;
    }
    const std::uint32_t owner = words[0];
    const std::size_t bytes = length(owner);
    const std::size_t whole = block_bytes(bytes);
    moved(owner, put(owner, piece + sizeof(std::uint32_t), bytes));
    mark_gap(piece, whole);
    victim_at_ += whole;
    done += whole;
    lose(from, whole);  // the last one releases the chunk and ends its time as victim
  }
}

}  // namespace smg::index
