/* SPDX-License-Identifier: Apache-2.0
 * An application in microTVM's style that calls a packed function with tensor descriptors. Every
 * way to get one of them wrong is a row. */
#include "application.h"

enum { X, BIAS, SCORES, Y, NUM_TENSORS };

static DLTensor tensors[NUM_TENSORS];
static int64_t shapes[NUM_TENSORS][3];
static int64_t strides[NUM_TENSORS][3];
static TVMValue args[NUM_TENSORS];
static int type_codes[NUM_TENSORS];
static int num_rows;
#ifdef WORK_FROM_CALLER
#define WORK AT(PLACE_WORK)
#else
#define WORK NULL
#endif

static void set_tensor(int i, size_t place, uint8_t code, uint8_t bits, int64_t columns) {
  DLTensor* const tensor = &tensors[i];
  tensor->data = AT(place);
  tensor->device.device_type = kDLCPU;
  tensor->device.device_id = 0;
  tensor->ndim = 2;
  tensor->dtype.code = code;
  tensor->dtype.bits = bits;
  tensor->dtype.lanes = 1;
  shapes[i][0] = 1;
  shapes[i][1] = columns;
  shapes[i][2] = 1;
  tensor->shape = shapes[i];
  strides[i][0] = columns;
  strides[i][1] = 1;
  strides[i][2] = 1;
  tensor->strides = NULL;
  tensor->byte_offset = 0;
  args[i].v_handle = tensor;
  type_codes[i] = kTVMDLTensorHandle;
}

static void make_call(void) {
  ++num_rows;
  prepare();
  set_tensor(X, PLACE_X, kDLInt, 8, 24);
  shapes[X][0] = 3;
  shapes[X][1] = 8;
  strides[X][0] = 8;
  set_tensor(BIAS, PLACE_BIAS, kDLFloat, 32, 6);
  set_tensor(SCORES, PLACE_SCORES, kDLFloat, 32, 6);
  set_tensor(Y, PLACE_Y, kDLInt, 8, 15);
  shapes[Y][0] = 3;
  shapes[Y][1] = 5;
  strides[Y][0] = 5;
}

static int32_t run_with(int num_args, void* work) {
  TVMValue result;
  int result_code = -77;
  int32_t status;
  memset(&result, 0x55, sizeof result);
  status = tvmgen_duo_run(args, type_codes, num_args, &result, &result_code, work);
  if (result_code != (status == 0 ? kTVMNullptr : -77)) {
    complain("result's code", "is", result_code);
  }
  return status;
}
static int32_t run(void) { return run_with(NUM_TENSORS, WORK); }

/* Each row spoils one thing of one tensor. */
static void test_tensor(int i) {
  DLTensor* const tensor = &tensors[i];
#define ROW(what, error)                                    \
  do {                                                      \
    make_call();                                            \
    what;                                                   \
    expect_refusal(#what, run(), TVMGEN_DUO_ERROR_##error); \
  } while (0)
  ROW(args[i].v_handle = NULL, NULL_POINTER);
  ROW(type_codes[i] = kTVMArgInt, TYPE_CODE);
  ROW(type_codes[i] = kTVMOpaqueHandle, TYPE_CODE);
  ROW(type_codes[i] = kTVMNullptr, TYPE_CODE);
  ROW(tensor->data = NULL, NULL_POINTER);
  ROW(tensor->shape = NULL, NULL_POINTER);
  ROW(tensor->device.device_type = kDLCUDA, DEVICE);
  ROW(tensor->device.device_type = kDLExtDev, DEVICE);
  ROW(tensor->device.device_id = 1, DEVICE);
  ROW(tensor->dtype.code = kDLUInt, DTYPE);
  ROW(tensor->dtype.code = kDLBfloat, DTYPE);
  ROW(tensor->dtype.bits = 16, DTYPE);
  ROW(tensor->dtype.bits = 64, DTYPE);
  ROW(tensor->dtype.lanes = 0, DTYPE);
  ROW(tensor->dtype.lanes = 4, DTYPE);
  ROW(tensor->ndim = 0, NDIM);
  ROW(tensor->ndim = 1, NDIM);
  ROW(tensor->ndim = 3, NDIM);
  ROW(tensor->ndim = -1, NDIM);
  ROW(shapes[i][0] += 1, SHAPE);
  ROW(shapes[i][1] -= 1, SHAPE);
  ROW(shapes[i][1] = -1, SHAPE);
  ROW(shapes[i][1] += INT64_C(1) << 32, SHAPE);
  ROW((tensor->strides = strides[i], strides[i][1] = 2), STRIDES);
  ROW((tensor->strides = strides[i], strides[i][1] = -1), STRIDES);
  ROW((tensor->strides = strides[i], strides[i][1] = 0), STRIDES);
  ROW(tensor->byte_offset = 4, BYTE_OFFSET);
  ROW(tensor->byte_offset = UINT64_MAX, BYTE_OFFSET);
}

static void test_arguments(void) {
  int i;
  make_call();
  expect_outputs("good call", run());
  make_call();
  for (i = 0; i < NUM_TENSORS; ++i) {
    type_codes[i] = kTVMNDArrayHandle;
    tensors[i].strides = strides[i];
  }
  expect_outputs("arrays with strides", run());
  make_call();
  tensors[BIAS].strides = strides[BIAS];
  strides[BIAS][0] = 12345;
  expect_outputs("the stride of an extent of 1", run());
  make_call();
  expect_outputs("nobody asks for a result",
                 tvmgen_duo_run(args, type_codes, NUM_TENSORS, NULL, NULL, WORK));
  for (i = 0; i < NUM_TENSORS; ++i) test_tensor(i);
  ROW((tensors[X].strides = strides[X], strides[X][0] = 9), STRIDES);
  ROW((tensors[Y].strides = strides[Y], strides[Y][0] = 1), STRIDES);
  ROW((tensors[X].dtype.code = kDLFloat, tensors[X].dtype.bits = 32), DTYPE);
  ROW(tensors[BIAS].data = AT(PLACE_BIAS + 1), ALIGNMENT);
  ROW(tensors[SCORES].data = AT(PLACE_SCORES + 2), ALIGNMENT);
  for (i = -1; i <= NUM_TENSORS + 1; ++i) {
    if (i == NUM_TENSORS) continue;
    make_call();
    expect_refusal("another number of arguments", run_with(i, WORK), TVMGEN_DUO_ERROR_NUM_ARGS);
  }
  make_call();
  expect_refusal("no arguments", tvmgen_duo_run(NULL, type_codes, NUM_TENSORS, NULL, NULL, WORK),
                 TVMGEN_DUO_ERROR_NULL_POINTER);
  make_call();
  expect_refusal("no type codes", tvmgen_duo_run(args, NULL, NUM_TENSORS, NULL, NULL, WORK),
                 TVMGEN_DUO_ERROR_NULL_POINTER);
}

static void test_work_memory(void) {
#ifdef WORK_FROM_CALLER
  make_call();
  expect_refusal("no work memory", run_with(NUM_TENSORS, NULL), TVMGEN_DUO_ERROR_NULL_POINTER);
  make_call();
  expect_refusal("misaligned work memory", run_with(NUM_TENSORS, AT(PLACE_WORK + 1)),
                 TVMGEN_DUO_ERROR_ALIGNMENT);
  if (num_allocations != 0) complain("work memory", "asked for:", num_allocations);
#else
  no_memory_left = 1;
  ROW(no_memory_left = 1, WORKSPACE_ALLOC);
  no_memory_left = 0;
  make_call();
  refuses_back = 1;
  if (tvmgen_duo_run(args, type_codes, NUM_TENSORS, NULL, NULL, NULL) !=
      TVMGEN_DUO_ERROR_WORKSPACE_FREE) {
    complain("memory not taken back", "gave another result", 0);
  }
  expect_outputs("memory not taken back", 0);
  refuses_back = 0;
  ROW(work_offset = 1, ALIGNMENT);
  make_call();
  work_offset = 8;
  expect_outputs("work memory aligned to 8", run());
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
