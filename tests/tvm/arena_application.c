/* SPDX-License-Identifier: Apache-2.0
 * An application in microTVM's style whose inputs and outputs lie in the pool: it asks where. */
#include "application.h"

static struct tvmgen_duo_workspace_pools pools;
static int num_rows;

static void expect_in_arena(const char* what, const void* pointer, size_t bytes) {
  const unsigned char* const arena = (const unsigned char*)AT(PLACE_WORK);
  const unsigned char* const first = (const unsigned char*)pointer;
  if (first < arena || first + bytes > arena + TVMGEN_DUO_WORKSPACE_SIZE) {
    complain(what, "not in the arena, bytes:", (long long)bytes);
  }
}

/* Paints everything and puts the inputs where they belong. */
static void make_call(void) {
  struct tvmgen_duo_inputs inputs;
  ++num_rows;
  prepare();
  pools.arena = AT(PLACE_WORK);
  inputs = tvmgen_duo_map_inputs(&pools);
  expect_in_arena("x", inputs.x, TVMGEN_DUO_X_SIZE);
  expect_in_arena("bias", inputs.bias, TVMGEN_DUO_BIAS_SIZE);
  memcpy(inputs.x, expected_x, sizeof expected_x);
  memcpy(inputs.bias, expected_bias, sizeof expected_bias);
  memcpy(before, storage.bytes, sizeof before);
}

static void run_and_compare(const char* row) {
  const int32_t status = tvmgen_duo_run(&pools);
  const struct tvmgen_duo_outputs outputs = tvmgen_duo_map_outputs(&pools);
  expect_in_arena("scores", outputs.scores, TVMGEN_DUO_SCORES_SIZE);
  expect_in_arena("y", outputs.y, TVMGEN_DUO_Y_SIZE);
  memcpy(AT(PLACE_SCORES), outputs.scores, sizeof expected_scores);
  memcpy(AT(PLACE_Y), outputs.y, sizeof expected_y);
  expect_outputs(row, status);
}

static void test_runs(void) {
  make_call();
  run_and_compare("good call");
  make_call();
  run_and_compare("second call");
  if (num_allocations != 0) complain("work memory", "asked for:", num_allocations);
}

static void test_refusals(void) {
  make_call();
  expect_refusal("no pools", tvmgen_duo_run(NULL), TVMGEN_DUO_ERROR_NULL_POINTER);
  if (tvmgen_duo_map_inputs(NULL).x != NULL || tvmgen_duo_map_outputs(NULL).y != NULL) {
    complain("no pools", "but a tensor", 0);
  }
  make_call();
  pools.arena = NULL;
  expect_refusal("null arena", tvmgen_duo_run(&pools), TVMGEN_DUO_ERROR_NULL_POINTER);
  if (tvmgen_duo_map_inputs(&pools).bias != NULL) complain("null arena", "but a tensor", 0);
  make_call();
  pools.arena = AT(PLACE_WORK + 1);
  expect_refusal("misaligned arena", tvmgen_duo_run(&pools), TVMGEN_DUO_ERROR_ALIGNMENT);
}

int main(void) {
  test_runs();
  test_refusals();
  test_linked_params();
  return finish(num_rows);
}
