// SPDX-License-Identifier: Apache-2.0
// Where and when buffers are, as the loop program implies, and what NAME.json says of that in a
// word. The checks throw Lie (assay/code.h).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "assay/json.h"
#include "assay/loops.h"

namespace ingot::assay {

// What NAME.json says with a number or a yes.
struct Claims {
  explicit Claims(const Json& json);

  int64_t arena_bytes = -1;
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

// Of each call, in their order: what it does with which buffer.
struct Touch {
  bool reads = false;
  bool writes = false;

  bool only_reads() const { return reads && !writes; }
  bool only_writes() const { return writes && !reads; }
};
using Touches = std::map<std::string, Touch>;
std::vector<Touches> find_touches(const Loops& loops);

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

// Of all buffers in the arena or another memory, in the order of the program. A buffer is alive
// from the first to the last call that it is given to; outputs to the end; inputs from the start,
// to the end unless they may be reused; what a loop of the runner touches, for the whole loop;
// parts of a tied whole, as long as the whole.
std::vector<Life> find_lives(const Loops& loops, const Claims& claims);

// A memory that buffers lie in: a pool, or an input or output that the caller lends.
struct Region {
  int64_t bytes = 0;
  int64_t alignment = 1;
  int64_t most_bytes = 0;            // that it may have
  const Element* element = nullptr;  // of an input or output
};
using Regions = std::map<std::string, Region>;  // the arena's name is empty

// Puts each input and output that the caller lends at the start of a memory of its own, in which
// the buffers lie that borrow it.
void lend_ports(Loops& loops, const Claims& claims);
// The arena and the pools that NAME.json states, no larger than its options allow, and what is
// lent.
Regions read_regions(const Json& json, const Loops& loops);
// Every buffer has its place inside its region, and no region is higher than needed. What is tied
// lies in one, what the options place lies there, and what borrows may do so in C.
void check_places(const std::vector<Life>& lives, const Regions& regions, const Json& options);
// NAME.json's plan.buffers says of all of them the same.
void check_buffers(const Json& plan, const std::vector<Life>& lives);
// Moves the regions side by side into one memory: what lies apart stays apart.
void put_side_by_side(Loops& loops, const Regions& regions);

}  // namespace ingot::assay
