// SPDX-License-Identifier: Apache-2.0
// From a loop program to addresses: the runner's allocations become the planner's problem, and the
// planner's answer becomes offsets, and the directions in which kernels run.
//
// The planner sees buffers of the arena only. The caller's inputs and outputs are parameters of the
// runner: they never enter the problem, so no plan can share, grow or retype them. With
// `io_in_arena` they are part of the arena by the caller's wish: an input is alive from the start
// of a run (to its end, unless inputs may be overwritten), an output from its first write to the
// end.
//
// With `scratch_in_outputs` each of the caller's outputs is a pool of exactly its size, in which it
// lies itself, fixed, from its first write on; what may lie there in C's eyes may do so before.
// The same holds, with `reuse_inputs`, of the caller's inputs after their last reading.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "loop/program.h"
#include "plan/plan.h"
#include "plan/refute.h"
#include "storage/overlaps.h"
#include "support/diagnostic.h"

namespace ingot {

// A memory of the caller's beside the arena.
struct PoolOption {
  std::string name;  // a C name, not "arena"
  int64_t capacity_bytes = 0;
};

struct StorageOptions {
  bool io_in_arena = false;
  bool reuse_inputs = false;
  // The caller's outputs may hold inner values until they are written. They come after the pools,
  // and so do inputs that may be reused.
  bool scratch_in_outputs = false;
  // Inner buffers lie in the first of these that has room, in the arena if none has.
  std::vector<PoolOption> pools = {};
  // By tensor: the pool (or "arena") that its buffer must lie in.
  std::map<std::string, std::string> places = {};
  plan::Limits limits = {};
};

// A pool as the plan uses it.
struct PoolUse {
  std::string name;
  int64_t bytes = 0;  // up to its highest buffer
  int64_t alignment = 1;
};

struct Storage {
  // With offset_bytes of every buffer that lies in the arena, and kernels in the plan's directions.
  loop::Program program;
  plan::Problem problem;
  plan::Plan plan;              // of problem; checked by plan::find_violation
  std::vector<size_t> buffers;  // by buffer of the problem: its index in program.buffers
  // Where the arena's lower bound is above its load: why nothing fits below it.
  std::vector<plan::Decision> refutation = {};
  // No order of the calls needs less, if all lies in the arena; 0 if nothing is known.
  int64_t order_bound_bytes = 0;
  int64_t num_steps = 0;  // time points of the runner: one per call
  int64_t arena_bytes = 0;
  int64_t arena_bytes_in_given_order = 0;  // what the calls would need in the order of `lower`
  int64_t arena_alignment = 1;      // of the arena's start, for the offsets to mean what they say
  std::vector<PoolUse> pools = {};  // as in the options; pool i + 1 of the problem
  // Inputs and outputs of the program that are the pools behind those.
  std::vector<size_t> lenders = {};
};

// What is wrong with `options.places` for this program: a tensor that no inner buffer holds, a pool
// that does not exist, two pools for buffers that are tied.
Diagnostics find_fault_of_places(const loop::Program& program, const StorageOptions& options);

// The planner's problem for `program`, and which of its buffers each allocation is. `reversed` is
// by kernel (empty: all run forward only).
Storage make_problem(loop::Program program, ReversedKernels reversed,
                     const StorageOptions& options);

// make_problem, solved: offsets are set. The calls may come in another order than given, if the
// arena is smaller so (storage/order.h). Throws InternalError if the plan breaks a rule.
Storage place(loop::Program program, ReversedKernels reversed, const StorageOptions& options);

}  // namespace ingot
