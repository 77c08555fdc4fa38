// SPDX-License-Identifier: Apache-2.0
// Where and when arena buffers are, as the loop program implies, and how near they may come to each
// other as NAME.json states. The checks throw Lie (assay/code.h).
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/json.h"
#include "assay/loops.h"
#include "assay/machine.h"

namespace ingot::assay {

struct Options {
  bool reuse_inputs = false;
  bool io_in_arena = false;
  bool overlap = false;  // inside operators
  bool scratch_in_outputs = false;
};

// int8_t and uint8_t of C, which may stand for the bytes of any type.
bool is_of_bytes(const Element& e);

// An arena buffer and when it is alive: half-open, in calls.
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

// Of all arena buffers, in the order of the program. A buffer is alive from the first to the last
// call that it is given to; outputs to the end; inputs from the start, to the end unless they may
// be reused; what a loop of the runner touches, for the whole loop; parts of a tied whole, as long
// as the whole.
std::vector<Life> find_lives(const Loops& loops, const Options& options);

// NAME.json's plan.distances.
class Distances {
 public:
  struct Stated {
    std::string output;
    std::string input;
    int64_t step = -1;
    std::optional<int64_t> forward;
    std::optional<int64_t> reverse;
    std::string runs;  // "forward", "reverse"
  };

  explicit Distances(const Json& json);
  const std::vector<Stated>& all() const { return stated_; }
  const Stated* find(const Buffer& output, const Buffer& input) const;
  // They are of buffers that begin and end in that step, one direction per step.
  void check(const Loops& loops, const std::vector<Life>& lives, const Options& options) const;
  // Whether the two, which are alive together, may lie where they lie.
  bool allow(const Buffer& a, const Buffer& b) const;
  // All pairs of which the run shall show how near they may come: first those of all(), then those
  // of which nothing is stated, though one begins in the step in which the other ends.
  std::vector<Distance> wanted(const Loops& loops, const std::vector<Life>& lives,
                               const Options& options) const;
  // All other pairs of an output and an input of one call that can be anywhere: another order of
  // the calls could let them share bytes.
  void add_possible(const Loops& loops, const std::vector<Life>& lives,
                    std::vector<Distance>& wanted) const;
  // None is below what the run has shown of `wanted`; and if a plan is said to be optimal within
  // them, none is above or missing, in the direction that was run.
  void check_against(std::span<const Distance> derived, const Loops& loops, bool is_optimal) const;

 private:
  void check_against(const Stated& stated, const Distance& derived, const Buffer& output,
                     const Buffer& input, bool is_optimal) const;
  void check_turned(const Stated& stated, const Distance& derived, const Buffer& output,
                    const Buffer& input) const;

  std::vector<Stated> stated_;
  std::map<std::pair<std::string, std::string>, size_t> by_pair_;  // output, input
};

// A memory that buffers lie in: the arena, whose name is empty here, a pool, or an output that
// holds inner values until it is written.
struct Region {
  std::string name;
  int64_t bytes = 0;
  int64_t alignment = 1;
  int64_t most_bytes = 0;            // that it may have
  const Element* element = nullptr;  // of an input or output
};

// The program with each input and output that the caller lends at the start of a memory of its own,
// in which the buffers lie that borrow it.
Loops with_ports_lent(Loops loops, const Options& options);

// The arena and the pools that NAME.json states, the arena first, and lent outputs. Checks that
// pools are no larger than the options allow.
std::vector<Region> read_regions(const Json& json, const Loops& loops);
// Every buffer has its place inside its region, and no region is higher than needed. What is tied
// lies in one, what the options place lies there, and what borrows may do so in C.
void check_places(const std::vector<Life>& lives, const std::vector<Region>& regions,
                  const Json& options);
// The program with its regions side by side in one memory: what lies apart stays apart.
Loops side_by_side(Loops loops, const std::vector<Region>& regions);
void check_pairs(const std::vector<Life>& lives, const Distances& distances);

}  // namespace ingot::assay
