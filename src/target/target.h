// SPDX-License-Identifier: Apache-2.0
// The targets: one value per core that Ingot knows by name. Schedules, the emitter and the
// toolchain read what they need from it; a new core is a new value, not a new case elsewhere.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loop/program.h"

namespace ingot {

// What the core can do beyond plain C.
struct TargetFeatures {
  bool has_dsp = false;   // Arm DSP extension: SMLAD, SXTB16, SSAT ...
  bool has_mve = false;   // Arm M-profile vector extension (Helium)
  bool has_neon = false;  // Arm Advanced SIMD, with dot products
  bool has_avx2 = false;
  bool has_avx512_vnni = false;
  bool has_long_multiply = true;  // 32 x 32 -> 64 bits in hardware
  bool has_unaligned_access = true;
  bool has_float32 = true;          // in hardware
  bool has_long_addresses = false;  // 64 bits; of an unknown machine, they may be
};

// What the C of wide vectors has in place of the general text where the preprocessor's `condition`
// holds: by the name of the function (emit/vectors.h), statements over its parameters.
struct VectorExtension {
  std::string condition;
  std::string header;
  std::map<std::string, std::string> operations;
  // Loads whose instruction adds a constant to an address, and how many constants: these functions
  // get the address and, as a literal, the number of elements behind it, which is less. (Compilers
  // would compute every address outside of the loops that it does not change in, and run out of
  // registers.)
  std::map<std::string, int64_t> reaches = {};
};

// The outputs that a core's registers hold the sums of, in loops without vectors.
struct RegisterBlock {
  int64_t channels = 4;
  int64_t columns = 4;
  int64_t channels_alone = 8;  // where each weight is used once
};

// For cores without products of bytes: several channels in one multiplication
// (schedule/packed_multiply.h).
struct PackedBlock {
  int64_t columns = 1;
  int64_t unrolled = 4;  // steps of the innermost loop, at most
  // Registers for the words, where C compilers leave the high ones unused by themselves and give
  // the low ones to loops around.
  std::vector<std::string> registers;
};

struct Target {
  std::string name;
  std::string description;
  // For the compiler, as in NAME.json. -ffp-contract=off where the core could fuse a product and a
  // sum: generated C rounds every operation once.
  std::vector<std::string> compile_flags;
  TargetFeatures features;
  // Operations with a spelling of their own; the meaning is the function's body.
  std::vector<loop::Function> intrinsics;
  std::optional<RegisterBlock> block;  // for floats, and for bytes where there is nothing better
  std::optional<PackedBlock> packed;
  // Headers that the spellings need: "arm_acle.h".
  std::vector<std::string> headers;
  VectorExtension vectors = {};

  // The intrinsic for a float's sum + a * b, rounded twice, if there is one.
  std::optional<loop::Function> multiply_add() const;

  // Plain C for an unknown machine and compiler: no stack bound, no flags beyond -O2.
  bool is_portable() const { return name == "c99"; }
};

// In the order in which `ingot targets` lists them; the portable one first.
const std::vector<Target>& all_targets();

// nullptr if there is none of that name.
const Target* find_target(std::string_view name);

}  // namespace ingot
