// SPDX-License-Identifier: Apache-2.0
// Building and running the C of a compiled model, natively or on an emulated core.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "toolchain/validate.h"

namespace ingot {

struct BuildSettings {
  std::string compiler;            // empty: the board's
  std::vector<std::string> flags;  // empty: the target's compile_flags
};

// The board on which programs for `target` run, or a diagnostic that lists where they can.
Result<const toolchain::Board*> board_for(const std::string& target);

// Whether everything is installed that `board` needs.
Diagnostics check_programs(const toolchain::Board& board, const BuildSettings& settings);

Result<toolchain::Program> build_generated(const Compiled& compiled, const std::string& target,
                                           const BuildSettings& settings);

// How one output of the model compares over all vectors.
struct TensorComparison {
  std::string name;
  toolchain::Comparison comparison;
};

struct ValidationReport {
  std::vector<TensorComparison> tensors;  // one per output of the graph
  toolchain::Comparison total;
  int64_t num_vectors = 0;
  std::vector<std::string> violations;  // overrun buffers, changed inputs, faults, broken claims
  std::optional<int64_t> stack_bytes;   // the most that was measured
  std::optional<int64_t> stack_bound;   // that NAME.json states

  bool all_is_well() const { return total.equal() && violations.empty(); }
};

// Builds `compiled`, runs it on the inputs of `vectors` and compares.
Result<ValidationReport> validate(const Compiled& compiled, const std::string& target,
                                  std::span<const toolchain::GoldenVector> vectors,
                                  const BuildSettings& settings);

// What one run costs.
struct Measurement {
  std::string unit;    // "instructions" on a core, "nanoseconds" on the host
  int64_t median = 0;  // of the runs
  int64_t least = 0;
  int64_t greatest = 0;
  std::vector<int64_t> steps;         // median of each call of the runner; empty unless asked for
  std::vector<int64_t> step_spreads;  // greatest less least, likewise
};

// Runs `compiled` on `inputs`. With `has_marks` it was compiled with kStepMark.
Result<Measurement> measure(const Compiled& compiled, const std::string& target,
                            std::span<const toolchain::Tensors> inputs, bool has_marks,
                            const BuildSettings& settings);

constexpr std::string_view kStepMark = "MARK_NEXT();";

}  // namespace ingot
