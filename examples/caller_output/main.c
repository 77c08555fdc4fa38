/* SPDX-License-Identifier: Apache-2.0
 * main.c: runs the compiled network with its result between guard bytes, through both interfaces,
 * and says which bytes of the caller's changed. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "keywords.h"
#include "tvmgen_keywords.h"

enum { GUARD_BYTES = 52, PAINT = 0xa5 };

/* What a program keeps beside its int8_t[12] is up to the linker; here it is guard bytes. */
static struct {
  unsigned char before[GUARD_BYTES];
  int8_t result[KEYWORDS_OUTPUT_RESULT_BYTES];
  unsigned char behind[GUARD_BYTES];
} memory;

static union {
  uint8_t bytes[TVMGEN_KEYWORDS_WORKSPACE_SIZE];
  double for_alignment;
} arena;

/* What microTVM's platform layer supplies. */
void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int dtype_code_hint,
                               int dtype_bits_hint) {
  (void)device_type;
  (void)device_id;
  (void)dtype_code_hint;
  (void)dtype_bits_hint;
  return nbytes <= sizeof arena.bytes ? arena.bytes : NULL;
}
int TVMBackendFreeWorkspace(int device_type, int device_id, void* ptr) {
  (void)device_type;
  (void)device_id;
  return ptr == arena.bytes ? 0 : -1;
}

/* The map of the three parts, a character a byte; returns how many guard bytes changed. */
static int print_map(const char* name) {
  const unsigned char* const bytes = (const unsigned char*)&memory;
  const size_t end_of_result = GUARD_BYTES + sizeof memory.result;
  int num_changed = 0;
  size_t i;
  printf("  %-14s ", name);
  for (i = GUARD_BYTES; i < sizeof memory; ++i) {
    if (i == end_of_result) putchar('|');
    putchar(i < end_of_result ? 'i' : bytes[i] == PAINT ? '.' : 'X');
  }
  for (i = 0; i < sizeof memory; ++i) {
    const int is_guard = i < GUARD_BYTES || i >= end_of_result;
    num_changed += is_guard && bytes[i] != PAINT;
  }
  printf("  %d guard bytes changed\n", num_changed);
  return num_changed;
}

int main(void) {
  static int8_t sound[KEYWORDS_INPUT_SOUND_BYTES];
  int8_t first[KEYWORDS_OUTPUT_RESULT_BYTES];
  keywords_inputs inputs;
  keywords_outputs outputs;
  struct tvmgen_keywords_inputs tvm_inputs;
  struct tvmgen_keywords_outputs tvm_outputs;
  int num_changed;
  size_t i;
  for (i = 0; i < sizeof sound; ++i) sound[i] = (int8_t)((int)(i * 37 % 256) - 128);

  memset(&memory, PAINT, sizeof memory);
  inputs.sound = sound;
  outputs.result = memory.result;
  if (keywords_run(&inputs, &outputs, arena.bytes) != 0) return 1;
  num_changed = print_map("keywords_run");
  memcpy(first, memory.result, sizeof first);

  memset(&memory, PAINT, sizeof memory);
  tvm_inputs.sound = sound;
  tvm_outputs.result = memory.result;
  if (tvmgen_keywords_run(&tvm_inputs, &tvm_outputs) != 0) return 1;
  num_changed += print_map("tvmgen_..._run");
  if (memcmp(first, memory.result, sizeof first) != 0) return 1;
  return num_changed == 0 ? 0 : 1;
}
