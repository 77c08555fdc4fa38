/* SPDX-License-Identifier: Apache-2.0
 * What both applications share: buffers between guard bytes, work memory as TVM's platform layer
 * hands it out, and rows that say which result a call must give.
 *
 * expected.h, which the test writes, holds an input of the model and the output it must give. */
#ifndef APPLICATION_H
#define APPLICATION_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "duo.h"
#include "expected.h"
#include "harness.h"
#include "tvmgen_duo.h"

enum { GUARD = 64 };

/* The model's tensors and the work memory, each with guard bytes around it. */
static union {
  unsigned char bytes[8 * GUARD + 4096];
  double for_alignment;
} storage;
enum {
  PLACE_X = GUARD,
  PLACE_BIAS = PLACE_X + 64 + GUARD,
  PLACE_SCORES = PLACE_BIAS + 64 + GUARD,
  PLACE_Y = PLACE_SCORES + 64 + GUARD,
  PLACE_WORK = PLACE_Y + 64 + GUARD,
  WORK_BYTES = 1024
};
#define AT(place) ((void*)(storage.bytes + (place)))

/* ---- Work memory: a stack, as TVM's own allocator is. ---- */
static int num_allocations;
static int num_outstanding;
static int no_memory_left; /* the next request fails */
static int refuses_back;   /* the next return fails */
static size_t work_offset; /* of what is handed out; 0 unless a test wants it odd */

void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int dtype_code_hint,
                               int dtype_bits_hint) {
  (void)dtype_code_hint;
  (void)dtype_bits_hint;
  if (device_type != kDLCPU || device_id != 0 || nbytes != TVMGEN_DUO_WORKSPACE_SIZE) return NULL;
  if (no_memory_left || num_outstanding != 0 || nbytes > WORK_BYTES) return NULL;
  ++num_allocations;
  ++num_outstanding;
  return AT(PLACE_WORK + work_offset);
}

int TVMBackendFreeWorkspace(int device_type, int device_id, void* ptr) {
  if (device_type != kDLCPU || device_id != 0 || ptr != AT(PLACE_WORK + work_offset)) return -1;
  --num_outstanding;
  return refuses_back ? -1 : 0;
}

/* ---- What a call must do. ---- */
static int num_faults;
static unsigned char before[sizeof storage.bytes];

static void complain(const char* row, const char* what, long long number) {
  ++num_faults;
  harness_put(row);
  harness_put(": ");
  harness_put(what);
  harness_put(" ");
  harness_put_number(number);
  harness_put("\n");
}

/* Paints everything and puts the inputs in. */
static void prepare(void) {
  size_t i;
  for (i = 0; i < sizeof storage.bytes; ++i) storage.bytes[i] = (unsigned char)(i * 7u + 1u);
  memcpy(AT(PLACE_X), expected_x, sizeof expected_x);
  memcpy(AT(PLACE_BIAS), expected_bias, sizeof expected_bias);
  memcpy(before, storage.bytes, sizeof before);
}

static int lies_in(size_t i, size_t place, size_t bytes) { return i >= place && i - place < bytes; }

/* After a run that went well: the outputs as expected, and the rest but for the work memory as it
 * was. */
static void expect_outputs(const char* row, int32_t status) {
  size_t i;
  if (status != 0) complain(row, "failed with", status);
  if (memcmp(AT(PLACE_SCORES), expected_scores, sizeof expected_scores) != 0 ||
      memcmp(AT(PLACE_Y), expected_y, sizeof expected_y) != 0) {
    complain(row, "other outputs than expected, status", status);
  }
  for (i = 0; i < sizeof storage.bytes; ++i) {
    if (lies_in(i, PLACE_SCORES, sizeof expected_scores)) continue;
    if (lies_in(i, PLACE_Y, sizeof expected_y)) continue;
    if (lies_in(i, PLACE_WORK + work_offset, TVMGEN_DUO_WORKSPACE_SIZE)) continue;
    if (storage.bytes[i] != before[i]) {
      complain(row, "overwrote byte", (long long)i);
      return;
    }
  }
  if (num_outstanding != 0) complain(row, "work memory kept:", num_outstanding);
}

/* After a call that must be refused: the code, and not one byte changed. */
static void expect_refusal(const char* row, int32_t status, int32_t expected) {
  size_t i;
  if (status != expected) complain(row, "gave", status);
  for (i = 0; i < sizeof storage.bytes; ++i) {
    if (storage.bytes[i] != before[i]) {
      complain(row, "overwrote byte", (long long)i);
      return;
    }
  }
  if (num_outstanding != 0) complain(row, "work memory kept:", num_outstanding);
}

/* ---- Linked parameters. ---- */
static void test_linked_params(void) {
  TVMValue id, value;
  int type_code, id_code = kTVMArgInt;
  int i;
  const void* known[] = EXPECTED_PARAMS;
  prepare();
  for (i = 0; i < TVMGEN_DUO_NUM_PARAMS; ++i) {
    id.v_int64 = i;
    type_code = -1;
    if (_lookup_linked_param(&id, &id_code, 1, &value, &type_code, NULL) != 0 ||
        type_code != kTVMOpaqueHandle || value.v_handle != known[i]) {
      complain("parameter", "not found:", i);
    }
  }
  for (i = -1; i <= TVMGEN_DUO_NUM_PARAMS; i += TVMGEN_DUO_NUM_PARAMS + 1) {
    id.v_int64 = i;
    value.v_int64 = -1;
    if (tvmgen_duo_lookup_linked_param(&id, &id_code, 1, &value, &type_code, NULL) != 0 ||
        type_code != kTVMNullptr || value.v_handle != NULL) {
      complain("parameter", "found but not there:", i);
    }
  }
  id.v_int64 = 0;
  expect_refusal("parameter without an id",
                 tvmgen_duo_lookup_linked_param(&id, &id_code, 0, &value, &type_code, NULL),
                 TVMGEN_DUO_ERROR_NUM_ARGS);
  expect_refusal("parameter without arguments",
                 tvmgen_duo_lookup_linked_param(NULL, &id_code, 1, &value, &type_code, NULL),
                 TVMGEN_DUO_ERROR_NULL_POINTER);
  expect_refusal("parameter without a place for the answer",
                 tvmgen_duo_lookup_linked_param(&id, &id_code, 1, NULL, &type_code, NULL),
                 TVMGEN_DUO_ERROR_NULL_POINTER);
  expect_refusal("parameter without a place for its type code",
                 tvmgen_duo_lookup_linked_param(&id, &id_code, 1, &value, NULL, NULL),
                 TVMGEN_DUO_ERROR_NULL_POINTER);
  id_code = kTVMOpaqueHandle;
  expect_refusal("parameter by a handle",
                 tvmgen_duo_lookup_linked_param(&id, &id_code, 1, &value, &type_code, NULL),
                 TVMGEN_DUO_ERROR_TYPE_CODE);
}

static int finish(int num_rows) {
  harness_put_number(num_rows);
  harness_put(" calls, faults: ");
  harness_put_number(num_faults);
  harness_put("\n");
  return num_faults == 0 ? 0 : 1;
}

#endif
