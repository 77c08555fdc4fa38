// SPDX-License-Identifier: Apache-2.0
// Where and when buffers are, as the loop program implies, and what NAME.json says of that.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/json.h"
#include "assay/loops.h"

namespace ingot::assay {

inline int64_t floor_div(int64_t n, int64_t d) { return n / d - (n % d < 0 ? 1 : 0); }
// Of a flag that NAME.json may leave out.
bool says(const Json& flag);
bool is_callers(const Buffer& b);
// C lets bytes (int8_t, uint8_t) stand in an object of any type, all else in one of its own.
bool may_stand_in(const Element* e, const Element* object);

// A memory that buffers lie in: the arena, a pool, or an input or output that the caller lends.
struct Region {
  std::string title;
  int64_t most_bytes = 0;        // that it may have
  const Buffer* port = nullptr;  // the input or output
  int64_t bytes = 0;             // that its buffers reach
  int64_t alignment = 1;         // that they need
};

// A buffer and when it is alive: half-open, in calls.
struct Life {
  const Buffer* buffer = nullptr;
  Region* region = nullptr;  // null: memory of its own, the caller's
  int64_t begin = 0;
  int64_t end = 0;
  bool is_kept = false;  // no call may destroy it: outputs, and inputs that may not be reused
  size_t unit = 0;       // the first life of what moves as one: a tied group, or the buffer alone

  int64_t first_byte() const { return buffer->tie_offset_bytes; }  // within its unit
  int64_t end_byte() const { return first_byte() + buffer->size_bytes; }
  bool takes_space() const { return region && buffer->size_bytes > 0 && begin < end; }
  bool is_in_arena() const { return takes_space() && buffer->pool.empty(); }
};

// What a call does with a buffer.
struct Use {
  bool reads = false;
  bool writes = false;

  bool only_reads() const { return reads && !writes; }
  bool only_writes() const { return writes && !reads; }
};

struct Layout {
  const Json& json;
  std::map<std::string, Region> regions = {};  // the arena's name is empty
  // Of all buffers but constants, in the order of the program: first those of the arena and the
  // pools, then what is lent (as plan.buffers has them), then what has memory of its own. A buffer
  // is alive from the first to the last call that it is given to; outputs to the end; inputs from
  // the start, to the end unless they may be reused; what a loop of the runner touches, for the
  // whole loop; parts of a tied whole, as long as the whole.
  std::vector<Life> lives = {};
  std::vector<std::vector<size_t>> parts = {};   // of each, all bytes of which are bytes of it
  std::vector<std::vector<size_t>> kin = {};     // of each, some bytes of which are bytes of it
  std::map<std::string, size_t> by_name = {};    // of buffers
  std::vector<std::map<size_t, Use>> uses = {};  // by call, of lives
};

// What follows from `loops`, in which what is lent or borrowed gets a pool of its own. Throws Lie
// (assay/code.h) unless
//  - NAME.json says the same of lifetimes, sizes, alignments and places, in the order of the
//  program
//    and last of what is lent, and of every memory, none of which is larger than its options allow;
//  - every buffer has its place inside its memory; what is tied lies in one, at its distance, what
//    the options place lies there, and what borrows may do so in C.
Layout lay_out(Loops& loops, const Json& json);

// The lives of which `is_meant` holds.
template <class F>
std::vector<size_t> select(const Layout& layout, const F& is_meant) {
  std::vector<size_t> selected;
  for (size_t i = 0; i < layout.lives.size(); ++i) {
    if (std::invoke(is_meant, layout.lives[i])) selected.push_back(i);
  }
  return selected;
}

// Calls f, for each of the `chosen` lives in the order in which they begin, with its number and
// those of the chosen that have begun and not ended by then.
template <class F>
void sweep(const Layout& layout, std::vector<size_t> chosen, const F& f) {
  const std::vector<Life>& lives = layout.lives;
  std::ranges::stable_sort(chosen, {}, [&](size_t i) { return lives[i].begin; });
  std::vector<size_t> alive;
  for (const size_t i : chosen) {
    std::erase_if(alive, [&](size_t j) { return lives[j].end <= lives[i].begin; });
    f(i, alive);
    alive.push_back(i);
  }
}

}  // namespace ingot::assay
