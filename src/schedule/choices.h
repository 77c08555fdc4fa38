// SPDX-License-Identifier: Apache-2.0
// Which schedule a kernel gets, and what tells the better one: the instructions that the loops of
// each say it executes.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "loop/program.h"
#include "schedule/rescheduled.h"
#include "target/target.h"

namespace ingot {

struct BothDirections {
  Rescheduled forward;
  std::optional<Rescheduled> reversed;
};

// By kernel of a program; nullopt: its nest as it is.
using Choices = std::vector<std::optional<BothDirections>>;

// About how many instructions one run of a kernel executes: the operations, loads and stores of its
// loops (loop/cost.h), and what loops themselves take. A function that stands for an instruction of
// the target is one. Compilers are within a tenth of it or so; schedules differ by more.
class InstructionEstimate {
 public:
  // Knows the functions of `program` and the target's.
  InstructionEstimate(const loop::Program& program, const Target& target);

  // Of a nest that calls no further functions.
  int64_t of(const loop::Kernel& kernel) const;
  int64_t of(const Rescheduled& r);

 private:
  void know(const std::vector<loop::Function>& functions);

  loop::Program functions_;
};

}  // namespace ingot
