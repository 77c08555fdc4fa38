// SPDX-License-Identifier: Apache-2.0
// The memory planner's boundary: integers in, offsets and a certificate out. A problem is a list of
// buffers, each alive for an interval of the runner's time points; a plan gives every buffer a pool
// and an offset so that two buffers which are alive together share no byte, except where the
// problem says how they may (tied groups, and overlaps inside one operator). plan/ knows integers,
// not tensors; storage/ turns a runner into a problem and the answer into addresses.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ingot::plan {

// A half-open interval [begin, end) of time points.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;

  bool meets(Interval other) const {
    return begin < other.end && other.begin < end && begin < end && other.begin < other.end;
  }
  bool operator==(const Interval&) const = default;
};

// One allocation. Members of one group (group >= 0) keep a fixed distance: all have the same
// offset - group_offset; they lie in one pool and may overlap each other (parts of a concatenation
// and the whole), but no buffer outside the group unless an Overlap says so.
struct Buffer {
  std::string name;
  Interval lifetime;
  int64_t size_bytes = 0;
  int64_t alignment = 1;                     // the offset is a multiple of it
  std::optional<int64_t> fixed_offset = {};  // in the first of `pools`
  std::vector<int64_t> pools = {};           // where it may lie, best first; empty: pool 0
  int64_t group = -1;                        // -1: in no group
  int64_t group_offset = 0;                  // in bytes; may be negative
};

// A memory region with offsets of its own.
struct Pool {
  std::string name;
  std::optional<int64_t> capacity_bytes = {};
  int64_t alignment = 0;  // of its base address; 0: as its buffers need
};

// An operator (`step`) writes `output` while `input` dies in it. Run forward, it is right as long
// as
//     offset(input) - offset(output) >= *forward,
// run in reverse as long as
//     offset(output) - offset(input) >= *reverse,
// and in either direction if they share no byte. Absent: in that direction they share no byte. The
// distances may be negative. All overlaps of one step take the same direction.
struct Overlap {
  int64_t output = 0;  // index into buffers
  int64_t input = 0;
  int64_t step = 0;  // any number; names the operator
  std::optional<int64_t> forward = {};
  std::optional<int64_t> reverse = {};
};

struct Problem {
  std::vector<Buffer> buffers;
  std::vector<Pool> pools = {Pool{"arena"}};
  std::vector<Overlap> overlaps = {};
};

enum class Direction { kForward, kReverse };

struct StepDirection {
  int64_t step = 0;
  Direction direction = Direction::kForward;

  bool operator==(const StepDirection&) const = default;
};

// What is proven about the height of one pool. The witness of a bound by load is a time point and
// the buffers alive then: together, with the greatest overlaps that are allowed between them, they
// need lower_bound_bytes. If the bound was raised by an exhausted search, `searched` is set and
// the witness stays that of the load.
struct PoolPlan {
  int64_t height_bytes = 0;  // the greatest offset + size
  int64_t lower_bound_bytes = 0;
  int64_t load_bytes = 0;             // what the witness needs
  int64_t witness_time = 0;           // the first such time point
  std::vector<int64_t> witness = {};  // indices of buffers, ascending
  bool searched = false;
  bool optimal = false;  // no plan with the same buffers in this pool is lower

  bool operator==(const PoolPlan&) const = default;
};

struct Plan {
  std::vector<int64_t> offsets = {};           // one per buffer
  std::vector<int64_t> pool_of = {};           // one per buffer
  std::vector<StepDirection> directions = {};  // one per step of the overlaps, ascending by step
  std::vector<PoolPlan> pools = {};            // one per pool
  bool fits = true;                            // every pool is within its capacity
  // Every pool's height is proven least, and every buffer lies in the pool it likes best.
  bool optimal = false;

  bool operator==(const Plan&) const = default;
};

// How much work `solve` may do. Nodes are counted and the answer is the same on every machine;
// the time limit is for interactive use only, as it makes the answer depend on the machine. With
// the defaults a network of a hundred buffers takes some 50 ms at most.
struct Limits {
  int64_t search_nodes = 10'000;       // of the exact searches; 0: heuristics only
  int64_t climb_steps = 300;           // replays of the hill climbing
  int64_t pairs = 4'000'000;           // of buffers, that each heuristic may look at
  std::optional<double> seconds = {};  // wall clock; none by default
};

// Why the problem makes no sense (an index out of range, a negative size, alignments or fixed
// offsets that contradict a group, sizes whose sum leaves the range); empty if it does.
std::string find_fault(const Problem& problem);
// What of that concerns one buffer alone, without its name: "has a negative size".
std::string find_fault(const Problem& problem, const Buffer& buffer);

// The best plan found within the limits, always valid except that a pool may exceed its capacity
// (`fits`). Deterministic unless `limits.seconds` is set. Requires find_fault(problem).empty().
Plan solve(const Problem& problem, const Limits& limits = {});

// The first rule `plan` breaks, as a sentence naming the buffers; empty if it is valid. Checks
// pools, alignment, fixed offsets, groups, every pair that is alive together, heights, `fits`, the
// claims of the lower bounds' witnesses, and that `optimal` is claimed only where height and bound
// meet. Shares no code with the solvers, so that a mistake in one shows in the other.
std::string find_violation(const Problem& problem, const Plan& plan);

}  // namespace ingot::plan
