// SPDX-License-Identifier: Apache-2.0
// A model by hand, for tests, as the compiler would write it.
#pragma once
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/harness_text.h"

namespace ingot::toolchain {

// tiny(x int8[5], f float[3]) = (x + 1, 2 f), with
// one deliberate fault, chosen by the macro FAULT. CHECK_PLACEMENT: buffers must have the alignment
// they ask for and no more.
inline constexpr std::string_view kTinyHeader = R"(
#ifndef TINY_H
#define TINY_H
#include <stdint.h>
#define TINY_ARENA_BYTES 48u
#define TINY_ARENA_ALIGNMENT 16u
#define TINY_INPUT_X_BYTES 5u
#define TINY_INPUT_F_BYTES 12u
#define TINY_OUTPUT_Y_BYTES 5u
#define TINY_OUTPUT_G_BYTES 12u
#ifdef __cplusplus
extern "C" {
#endif
#ifdef IO_IN_ARENA
#define TINY_INPUT_X_OFFSET 0u
#define TINY_INPUT_F_OFFSET 16u
#define TINY_OUTPUT_Y_OFFSET 8u
#define TINY_OUTPUT_G_OFFSET 32u
int32_t tiny_run(void *arena);
#else
typedef struct { const int8_t *x; const float *f; } tiny_inputs;
typedef struct { int8_t *y; float *g; } tiny_outputs;
int32_t tiny_run(const tiny_inputs *inputs, const tiny_outputs *outputs, void *arena);
#endif
#ifdef __cplusplus
}
#endif
#endif
)";

inline constexpr std::string_view kTinySource = R"(
#ifndef FAULT
#define FAULT ((void)0)
#endif
#ifdef IO_IN_ARENA
int32_t tiny_run(void *arena) {
  const int8_t *const x = (const int8_t *)arena;
  const float *const f = (const float *)arena + 4;
  int8_t *const y = (int8_t *)arena + 8;
  float *const g = (float *)arena + 8;
#else
int32_t tiny_run(const tiny_inputs *inputs, const tiny_outputs *outputs, void *arena) {
  const int8_t *const x = inputs->x;
  const float *const f = inputs->f;
  int8_t *const y = outputs->y;
  float *const g = outputs->g;
#endif
  int8_t *const bytes = (int8_t *)arena;
  int i;
#ifdef CHECK_PLACEMENT
  if ((uintptr_t)arena % 32u != 16u) return -1;
#ifndef IO_IN_ARENA
  if ((uintptr_t)x % 2u != 1u || (uintptr_t)y % 2u != 1u) return -2;
  if ((uintptr_t)f % 8u != 4u || (uintptr_t)g % 8u != 4u) return -3;
#endif
#endif
#ifndef IO_IN_ARENA
  for (i = 0; i < 48; ++i) bytes[i] = (int8_t)i;
#endif
  for (i = 0; i < 5; ++i) y[i] = (int8_t)(x[i] + 1);
#ifdef TINY_STEP
  TINY_STEP();
#endif
  for (i = 0; i < 3; ++i) g[i] = 2.0f * f[i];
  FAULT;
  return (int32_t)(bytes == 0);
}
)";

inline ModelInterface tiny() {
  return {.name = "tiny",
          .inputs = {{"x", DType::kInt8, 5}, {"f", DType::kFloat32, 12}},
          .outputs = {{"y", DType::kInt8, 5}, {"g", DType::kFloat32, 12}},
          .arena_bytes = 48,
          .arena_alignment = 16};
}

inline std::vector<OutputFile> tiny_files(const ModelInterface& model = tiny()) {
  const std::string mode = model.io_in_arena ? "#define IO_IN_ARENA\n" : "";
  return {{"tiny.h", mode + std::string(kTinyHeader)},
          {"tiny.c", "#include \"tiny.h\"\n" + std::string(kTinySource)}};
}

template <class T>
std::vector<uint8_t> bytes_of(const std::vector<T>& elements) {
  std::vector<uint8_t> bytes(elements.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

inline GoldenVector golden(int8_t first, float factor) {
  const auto element = [&](int i) { return static_cast<int8_t>(first + i); };
  return {{bytes_of<int8_t>({element(0), element(1), element(2), element(3), element(4)}),
           bytes_of<float>({factor, -0.25F, 3.5F})},
          {bytes_of<int8_t>({element(1), element(2), element(3), element(4), element(5)}),
           bytes_of<float>({2 * factor, -0.5F, 7.0F})}};
}

inline std::vector<GoldenVector> goldens() { return {golden(-3, 0.1F), golden(50, -1e30F)}; }

inline std::vector<Tensors> inputs_of(const std::vector<GoldenVector>& vectors) {
  std::vector<Tensors> inputs;
  for (const GoldenVector& vector : vectors) inputs.push_back(vector.inputs);
  return inputs;
}

}  // namespace ingot::toolchain
