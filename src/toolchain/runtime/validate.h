/* SPDX-License-Identifier: Apache-2.0
 * Between validate.c, which runs a compiled model on vectors, and the text that is generated for
 * each model (harness_text.h): where the model's buffers are and how it is called. */
#ifndef INGOT_VALIDATE_H
#define INGOT_VALIDATE_H

#include "harness.h"

enum { HARNESS_GUARD_BYTES = 64 };

typedef struct {
  const char* name;
  unsigned char* storage; /* guard bytes, the buffer, guard bytes */
  size_t storage_bytes;
  size_t offset; /* of the buffer in `storage` */
  size_t bytes;  /* of the buffer */
} harness_buffer;

extern const harness_buffer harness_arena;
extern const harness_buffer harness_pools[];
extern const size_t harness_num_pools;
extern const harness_buffer harness_inputs[];
extern const size_t harness_num_inputs;
extern const harness_buffer harness_outputs[];
extern const size_t harness_num_outputs;
extern const int harness_io_in_arena;      /* inputs and outputs are parts of the arena */
extern const int harness_inputs_are_const; /* a run must not change them */

/* The stack that the last run used below its caller's frame; -1 on the host. */
extern long harness_run_stack_bytes;

/* Calls NAME_run on the buffers; the call is a region. Returns what NAME_run returns. */
int32_t harness_run_model(void);

#endif
