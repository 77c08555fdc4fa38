// SPDX-License-Identifier: Apache-2.0
// NAME.json: what a build system, a test or an auditor needs to know of a compiled model. Its keys
// are a contract (docs/output_format.md).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loop/program.h"
#include "plan/plan.h"
#include "plan/refute.h"
#include "report/json_text.h"

namespace ingot {

// The planned arena of a program, as storage/ has it.
struct ArenaFacts {
  const plan::Problem& problem;
  const plan::Plan& plan;
  std::span<const size_t> buffers;  // by buffer of the problem: its index in program.buffers
  int64_t bytes = 0;
  int64_t alignment = 1;
  // The caller's pools: these follow the arena; the pools behind them are inputs and outputs
  // that are lent.
  size_t num_pools = 0;
  std::span<const plan::Decision> refutation = {};  // of one byte below the lower bound
  int64_t order_bound_bytes = 0;                    // of all orders of the calls

  bool is_lent(int64_t p) const { return static_cast<size_t>(p) > num_pools; }
};

struct ModelFacts {
  std::string ingot_version;
  std::string model_sha256;  // empty: not made from a file
  Json options;              // of `compile`
  std::string target;
  std::vector<std::string> compile_flags;
  std::optional<int64_t> stack_bytes;
  int64_t macs_removed = 0;  // that the model has and the program has not
  Json shrinking = {};       // what was removed; null: nothing
};

// What is stored of the model: the bytes of all constants of the program.
int64_t weights_bytes(const loop::Program& program);
int64_t macs_of(const loop::Program& program);

Json metadata(const loop::Program& program, const ArenaFacts& arena, const ModelFacts& facts);

// How weights were made larger, as NAME.json says it.
Json expansion_json(const loop::Expansion& e);

// An input or output as NAME.json lists it.
Json port_json(const loop::Buffer& buffer);

}  // namespace ingot
