// SPDX-License-Identifier: Apache-2.0
// Where and when arena buffers are, as the loop program implies, and how near they may come to each
// other as NAME.json states. The checks throw Lie (assay/code.h).
#pragma once
#include <cstdint>
#include <map>
#include <optional>
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
};

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
  // None is below what the run has shown of `wanted`; and if a plan is said to be optimal within
  // them, none is above or missing, in the direction that was run.
  void check_against(const std::vector<Distance>& derived, const Loops& loops,
                     bool is_optimal) const;

 private:
  void check_against(const Stated& stated, const Distance& derived, const Buffer& output,
                     const Buffer& input, bool is_optimal) const;

  std::vector<Stated> stated_;
  std::map<std::pair<std::string, std::string>, size_t> by_pair_;  // output, input
};

// A memory that buffers lie in: the arena, whose name is empty here, or a pool.
struct Region {
  std::string name;
  int64_t bytes = 0;
  int64_t alignment = 1;
};

// The arena and the pools that NAME.json states, the arena first. Checks that pools are no larger
// than the options allow.
std::vector<Region> read_regions(const Json& json);
// Every buffer has its place inside its region, and no region is higher than needed. What is tied
// lies in one, and what the options place lies there.
void check_places(const std::vector<Life>& lives, const std::vector<Region>& regions,
                  const Json& options);
// The program with its regions side by side in one memory: what lies apart stays apart.
Loops side_by_side(Loops loops, const std::vector<Region>& regions);
void check_pairs(const std::vector<Life>& lives, const Distances& distances);

}  // namespace ingot::assay
