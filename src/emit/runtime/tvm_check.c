/* SPDX-License-Identifier: Apache-2.0
 * The checks of tensor arguments. The emitter copies what stands below the line into NAME_tvm.c,
 * with the model's name in place of MODEL; a test compiles this file as it is. */
#include <stddef.h>

#include "tvm_abi.h"

#define TVMGEN_MODEL_ERROR_NULL_POINTER (-1)
#define TVMGEN_MODEL_ERROR_TYPE_CODE (-17)
#define TVMGEN_MODEL_ERROR_DEVICE (-18)
#define TVMGEN_MODEL_ERROR_DTYPE (-19)
#define TVMGEN_MODEL_ERROR_NDIM (-20)
#define TVMGEN_MODEL_ERROR_SHAPE (-21)
#define TVMGEN_MODEL_ERROR_STRIDES (-22)
#define TVMGEN_MODEL_ERROR_BYTE_OFFSET (-23)

/* ---- */
/* What the model demands of a tensor argument. */
typedef struct {
  uint8_t code; /* of the elements, as in DLDataType */
  uint8_t bits;
  uint8_t other_code; /* bool has two spellings; the same again for other types */
  uint8_t other_bits;
  int32_t ndim;
  const int64_t *shape;
} expected_tensor;

static int32_t check_dtype(DLDataType dtype, const expected_tensor *expected) {
  const int is_one = dtype.code == expected->code && dtype.bits == expected->bits;
  const int is_other = dtype.code == expected->other_code && dtype.bits == expected->other_bits;
  if (dtype.lanes != 1 || !(is_one || is_other)) return TVMGEN_MODEL_ERROR_DTYPE;
  return 0;
}

/* Shape and strides: row-major without gaps. The stride of an extent of 1 means nothing. */
static int32_t check_layout(const DLTensor *tensor, const expected_tensor *expected) {
  int64_t stride = 1;
  int32_t axis;
  if (tensor->ndim != expected->ndim) return TVMGEN_MODEL_ERROR_NDIM;
  if (expected->ndim > 0 && tensor->shape == NULL) return TVMGEN_MODEL_ERROR_NULL_POINTER;
  for (axis = 0; axis < expected->ndim; ++axis) {
    if (tensor->shape[axis] != expected->shape[axis]) return TVMGEN_MODEL_ERROR_SHAPE;
  }
  if (tensor->strides == NULL) return 0;
  for (axis = expected->ndim - 1; axis >= 0; --axis) {
    const int64_t extent = expected->shape[axis];
    if (extent > 1 && tensor->strides[axis] != stride) return TVMGEN_MODEL_ERROR_STRIDES;
    if (extent > 1) stride *= extent;
  }
  return 0;
}

/* Where the elements of a tensor argument lie. The model's own function looks at that address. */
static int32_t read_tensor(const TVMValue *arg, int type_code, const expected_tensor *expected,
                           void **data) {
  const DLTensor *tensor;
  int32_t status;
  if (type_code != kTVMDLTensorHandle && type_code != kTVMNDArrayHandle) {
    return TVMGEN_MODEL_ERROR_TYPE_CODE;
  }
  tensor = (const DLTensor *)arg->v_handle;
  if (tensor == NULL) return TVMGEN_MODEL_ERROR_NULL_POINTER;
  if (tensor->device.device_type != kDLCPU || tensor->device.device_id != 0) {
    return TVMGEN_MODEL_ERROR_DEVICE;
  }
  status = check_dtype(tensor->dtype, expected);
  if (status != 0) return status;
  status = check_layout(tensor, expected);
  if (status != 0) return status;
  if (tensor->byte_offset != 0) return TVMGEN_MODEL_ERROR_BYTE_OFFSET;
  *data = tensor->data;
  return 0;
}
