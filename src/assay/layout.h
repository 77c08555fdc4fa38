// SPDX-License-Identifier: Apache-2.0
// Where and when buffers are, as the loop program implies, and what NAME.json says of that. The
// checks throw Lie (assay/code.h).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "assay/json.h"
#include "assay/loops.h"

namespace ingot::assay {

// What NAME.json says with yes or no.
struct Claims {
  explicit Claims(const Json& json);

  bool io_in_arena = false;
  bool reuse_inputs = false;
  bool scratch_in_outputs = false;
  bool overlap = false;  // inside operators
  bool optimal = false;
  bool packing_optimal = false;
  bool order_optimal = false;
};

bool is_callers(const Buffer& b);
// What no call may destroy: outputs, and inputs that may not be reused.
bool is_kept(const Buffer& b, const Claims& claims);
// C lets bytes (int8_t, uint8_t) stand in an object of any type, all else in one of its own.
bool may_stand_in(const Element* e, const Element* object);
bool may_share(const Buffer& a, const Buffer& b);
// What moves as one, a tied group or a buffer, and where the buffer begins in it.
std::string unit_of(const Buffer& b);
int64_t begin_in_unit(const Buffer& b);
// Whether all bytes of `part` are bytes of `whole`.
bool contains(const Buffer& whole, const Buffer& part);

// What a call does with a buffer.
struct Touch {
  bool reads = false;
  bool writes = false;

  bool only_reads() const { return reads && !writes; }
  bool only_writes() const { return writes && !reads; }
};

// A buffer and when it is alive: half-open, in calls.
struct Life {
  const Buffer* buffer = nullptr;
  int64_t begin = 0;
  int64_t end = 0;

  bool takes_space() const { return buffer->size_bytes > 0 && begin < end; }
  bool is_alive(int64_t time) const { return takes_space() && begin <= time && time < end; }
  bool meets(const Life& other) const {
    return takes_space() && other.takes_space() && begin < other.end && other.begin < end;
  }
};

// A memory that buffers lie in: the arena, a pool, or an input or output that the caller lends.
struct Region {
  std::string title;
  int64_t bytes = 0;
  int64_t alignment = 1;
  int64_t most_bytes = 0;            // that it may have
  const Element* element = nullptr;  // of an input or output
};

struct Layout {
  Claims claims;
  std::vector<std::map<std::string, Touch>> touches;  // by call, by buffer
  // Of all buffers in some region, in the order of the program. A buffer is alive from the first to
  // the last call that it is given to; outputs to the end; inputs from the start, to the end unless
  // they may be reused; what a loop of the runner touches, for the whole loop; parts of a tied
  // whole, as long as the whole.
  std::vector<Life> lives;
  std::map<std::string, const Life*> by_name;  // of buffers
  std::map<std::string, Region> regions;       // the arena's name is empty
};

// What follows from `loops`, which gets its regions side by side in one memory: what lies apart
// stays apart. Lent inputs and outputs get regions of their own, in which those lie that borrow
// them. Checks that
//  - NAME.json says the same of lifetimes, sizes and places, and no pool is larger than its options
//    allow;
//  - every buffer has its place inside its region, and no region is higher than needed; what is
//    tied lies in one, at its distance, what the options place lies there, and what borrows may do
//    so in C.
Layout lay_out(Loops& loops, const Json& json);

}  // namespace ingot::assay
