// SPDX-License-Identifier: Apache-2.0
// Where and when buffers are, as the loop program implies, and what NAME.json says of that.
#pragma once
#include <cstdint>
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
bool may_share(const Buffer& a, const Buffer& b);
// What moves as one, a tied group or a buffer, and where the buffer begins in it.
std::string unit_of(const Buffer& b);
int64_t begin_in_unit(const Buffer& b);
// Whether all bytes of `part` are bytes of `whole`.
bool contains(const Buffer& whole, const Buffer& part);

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
  const Region* region = nullptr;  // null: memory of its own, the caller's
  int64_t begin = 0;
  int64_t end = 0;
  bool is_kept = false;  // no call may destroy it: outputs, and inputs that may not be reused

  bool takes_space() const { return region && buffer->size_bytes > 0 && begin < end; }
  bool is_in_arena() const { return takes_space() && buffer->pool.empty(); }
};

// What a call does with a buffer.
struct Use {
  size_t life = 0;
  bool reads = false;
  bool writes = false;
};

struct Layout {
  const Json& json;
  std::map<std::string, Region> regions = {};  // the arena's name is empty
  // Of all buffers but constants, in the order of the program. A buffer is alive from the first to
  // the last call that it is given to; outputs to the end; inputs from the start, to the end unless
  // they may be reused; what a loop of the runner touches, for the whole loop; parts of a tied
  // whole, as long as the whole.
  std::vector<Life> lives = {};
  std::vector<std::vector<size_t>> parts = {};  // of each, all bytes of which are bytes of it
  std::map<std::string, size_t> by_name = {};   // of buffers
  std::vector<std::vector<Use>> uses = {};      // by call
};

// What follows from `loops`, in which what is lent or borrowed gets a pool of its own. Throws Lie
// (assay/code.h) unless
//  - NAME.json says the same of lifetimes, sizes, alignments and places, and of every memory, none
//    of which is larger than its options allow;
//  - every buffer has its place inside its memory; what is tied lies in one, at its distance, what
//    the options place lies there, and what borrows may do so in C.
Layout lay_out(Loops& loops, const Json& json);

// The lives of which `is_meant` holds.
template <class F>
std::vector<size_t> select(const Layout& layout, const F& is_meant) {
  std::vector<size_t> selected;
  for (size_t i = 0; i < layout.lives.size(); ++i) {
    if (is_meant(layout.lives[i])) selected.push_back(i);
  }
  return selected;
}

}  // namespace ingot::assay
