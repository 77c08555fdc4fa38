/* SPDX-License-Identifier: Apache-2.0
 * An application in microTVM's style that uses the C interface: structs of pointers. */
#include "application.h"

static struct tvmgen_duo_inputs inputs;
static struct tvmgen_duo_outputs outputs;
#ifdef WORK_FROM_CALLER
static struct tvmgen_duo_workspace_pools pools;
#define RUN(in, out) tvmgen_duo_run(in, out, &pools)
#else
#define RUN(in, out) tvmgen_duo_run(in, out)
#endif

static int num_rows;

static void make_call(void) {
  ++num_rows;
  prepare();
  inputs.x = AT(PLACE_X);
  inputs.bias = AT(PLACE_BIAS);
  outputs.scores = AT(PLACE_SCORES);
  outputs.y = AT(PLACE_Y);
#ifdef WORK_FROM_CALLER
  pools.arena = AT(PLACE_WORK);
#endif
}

static void test_arguments(void) {
  make_call();
  expect_outputs("good call", RUN(&inputs, &outputs));
  make_call();
  expect_refusal("no inputs", RUN(NULL, &outputs), TVMGEN_DUO_ERROR_NULL_POINTER);
  make_call();
  expect_refusal("no outputs", RUN(&inputs, NULL), TVMGEN_DUO_ERROR_NULL_POINTER);
  make_call();
  inputs.x = NULL;
  expect_refusal("null input", RUN(&inputs, &outputs), TVMGEN_DUO_ERROR_NULL_POINTER);
  make_call();
  outputs.y = NULL;
  expect_refusal("null output", RUN(&inputs, &outputs), TVMGEN_DUO_ERROR_NULL_POINTER);
  make_call();
  inputs.bias = AT(PLACE_BIAS + 1);
  expect_refusal("misaligned input", RUN(&inputs, &outputs), TVMGEN_DUO_ERROR_ALIGNMENT);
  make_call();
  outputs.scores = AT(PLACE_SCORES + 2);
  expect_refusal("misaligned output", RUN(&inputs, &outputs), TVMGEN_DUO_ERROR_ALIGNMENT);
}

static void test_work_memory(void) {
#ifdef WORK_FROM_CALLER
  make_call();
  expect_refusal("no pools", tvmgen_duo_run(&inputs, &outputs, NULL),
                 TVMGEN_DUO_ERROR_NULL_POINTER);
  make_call();
  pools.arena = NULL;
  expect_refusal("null arena", RUN(&inputs, &outputs), TVMGEN_DUO_ERROR_NULL_POINTER);
  make_call();
  pools.arena = AT(PLACE_WORK + 1);
  expect_refusal("misaligned arena", RUN(&inputs, &outputs), TVMGEN_DUO_ERROR_ALIGNMENT);
  if (num_allocations != 0) complain("work memory", "asked for:", num_allocations);
#else
  make_call();
  no_memory_left = 1;
  expect_refusal("no memory left", RUN(&inputs, &outputs), TVMGEN_DUO_ERROR_WORKSPACE_ALLOC);
  no_memory_left = 0;
  make_call();
  refuses_back = 1;
  if (RUN(&inputs, &outputs) != TVMGEN_DUO_ERROR_WORKSPACE_FREE) {
    complain("memory not taken back", "gave another result", 0);
  }
  expect_outputs("memory not taken back", 0);
  refuses_back = 0;
  make_call();
  work_offset = 1;
  expect_refusal("misaligned work memory", RUN(&inputs, &outputs), TVMGEN_DUO_ERROR_ALIGNMENT);
  work_offset = 8;
  make_call();
  expect_outputs("work memory aligned to 8", RUN(&inputs, &outputs));
  work_offset = 0;
  if (num_allocations == 0) complain("work memory", "never asked for", 0);
#endif
}

int main(void) {
  test_arguments();
  test_work_memory();
  test_linked_params();
  return finish(num_rows);
}
