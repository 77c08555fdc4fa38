// SPDX-License-Identifier: Apache-2.0
#include "target/target.h"

#include <algorithm>

#include "target/intrinsics.h"
#include "target/vector_intrinsics.h"

namespace ingot {
namespace {

using Flags = std::vector<std::string>;

Target make(std::string name, std::string description, Flags flags, TargetFeatures features = {}) {
  return {std::move(name), std::move(description), std::move(flags), features, {}, {}, {}, {}};
}

Flags arm(const std::string& core, Flags fpu) {
  Flags flags = {"-mcpu=" + core, "-mthumb"};
  flags.insert(flags.end(), fpu.begin(), fpu.end());
  flags.insert(flags.end(), {"-O2", "-ffp-contract=off"});
  return flags;
}

Target with_intrinsics(Target target) {
  if (target.features.has_dsp) {
    target.intrinsics = arm_dsp_intrinsics();
    target.intrinsics.push_back(arm_float_multiply_add());
    target.block = RegisterBlock{};
  }
  if (target.features.has_avx2) target.vectors = x86_vectors(target.features.has_avx512_vnni);
  if (target.features.has_mve) target.vectors = mve_vectors();
  if (target.features.has_neon) target.vectors = neon_vectors();
  if (target.name == "rv32imc") {
    target.block = RegisterBlock{};
    target.packed = PackedBlock{.columns = 3, .unrolled = 4, .registers = {}};
  }
  if (target.name == "cortex-m0plus") {
    target.packed =
        PackedBlock{.columns = 1, .unrolled = 9, .registers = {"r8", "r9", "r10", "r11", "r6"}};
  }
  return target;
}

std::vector<Target> make_targets() {
  const Flags soft = {"-mfloat-abi=soft"};
  const Flags fpv4 = {"-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"};
  const Flags fpv5_single = {"-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"};
  const Flags fpv5_double = {"-mfloat-abi=hard", "-mfpu=fpv5-d16"};
  const Flags helium = {"-mfloat-abi=hard"};  // the core's name implies its FPU and MVE
  const Flags c_flags = {"-O2"};
  return {
      make("c99", "any C99 compiler", c_flags, {.has_long_addresses = true}),
      make("cortex-m0plus", "Arm Cortex-M0+ (Armv6-M)", arm("cortex-m0plus", soft),
           {.has_long_multiply = false, .has_unaligned_access = false, .has_float32 = false}),
      make("cortex-m4", "Arm Cortex-M4 with FPU", arm("cortex-m4", fpv4), {.has_dsp = true}),
      make("cortex-m7", "Arm Cortex-M7 with double FPU", arm("cortex-m7", fpv5_double),
           {.has_dsp = true}),
      make("cortex-m33", "Arm Cortex-M33 with DSP and FPU", arm("cortex-m33", fpv5_single),
           {.has_dsp = true}),
      make("cortex-m55", "Arm Cortex-M55 with Helium", arm("cortex-m55", helium),
           {.has_dsp = true, .has_mve = true}),
      make("rv32imc", "RISC-V RV32IMC", {"-march=rv32imc", "-mabi=ilp32", "-O2"},
           {.has_unaligned_access = false, .has_float32 = false}),
      make("aarch64", "Arm 64 bits with dot products (Armv8.2-A)",
           {"-march=armv8.2-a+dotprod", "-O2", "-ffp-contract=off"},
           {.has_neon = true, .has_long_addresses = true}),
      make("x86-64-v3", "x86-64 with AVX2",
           {"-march=x86-64-v3", "-O2", "-ffp-contract=off", "-Wno-psabi"},
           {.has_avx2 = true, .has_long_addresses = true}),
      make("x86-64-avx512vnni", "x86-64 with AVX-512 VNNI",
           {"-march=x86-64-v4", "-mavx512vnni", "-O2", "-ffp-contract=off", "-Wno-psabi"},
           {.has_avx2 = true, .has_avx512_vnni = true, .has_long_addresses = true}),
  };
}

}  // namespace

std::optional<loop::Function> Target::multiply_add() const {
  const auto found = std::ranges::find(intrinsics, "multiply_add", &loop::Function::name);
  return found == intrinsics.end() ? std::nullopt : std::optional(*found);
}

const std::vector<Target>& all_targets() {
  static const std::vector<Target> targets = [] {
    std::vector<Target> all = make_targets();
    std::ranges::transform(all, all.begin(), with_intrinsics);
    return all;
  }();
  return targets;
}

const Target* find_target(std::string_view name) {
  const std::vector<Target>& targets = all_targets();
  const auto found = std::ranges::find(targets, name, &Target::name);
  return found == targets.end() ? nullptr : &*found;
}

}  // namespace ingot
