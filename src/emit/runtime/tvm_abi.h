/* SPDX-License-Identifier: Apache-2.0
 * What a compiled model and an application share when they speak in TVM's forms: the layout of
 * tensor descriptors (DLPack) and of arguments of packed functions, and the two functions that the
 * application supplies for work memory. Written from the documented layout; TVM is not needed.
 *
 * An application that uses TVM's own headers includes them first, or defines INGOT_USE_TVM_HEADERS;
 * then nothing is declared here that they declare. */
#ifndef INGOT_TVM_ABI_H
#define INGOT_TVM_ABI_H

#include <stdint.h>

#if defined(INGOT_USE_TVM_HEADERS)
#include <tvm/runtime/c_backend_api.h>
#include <tvm/runtime/c_runtime_api.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef DLPACK_DLPACK_H_

/* Where a tensor lies. As in DLPack this is an enumeration, so its size follows the compiler's
 * (arm-none-eabi-gcc gives it one byte). */
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLOpenCL = 4, kDLExtDev = 12 } DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

/* How the bits of an element are to be read. */
typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4 } DLDataTypeCode;

typedef struct {
  uint8_t code; /* DLDataTypeCode */
  uint8_t bits;
  uint16_t lanes; /* 1 unless elements are vectors */
} DLDataType;

/* A tensor that somebody else owns. */
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;   /* ndim extents */
  int64_t *strides; /* in elements; NULL: row-major without gaps */
  uint64_t byte_offset;
} DLTensor;

#endif

#ifndef TVM_RUNTIME_C_RUNTIME_API_H_

/* An argument or result of a packed function; its type code says which member holds. */
typedef union {
  int64_t v_int64;
  double v_float64;
  void *v_handle; /* of a tensor: DLTensor * */
  const char *v_str;
  DLDataType v_type;
  DLDevice v_device;
} TVMValue;

typedef enum {
  kTVMArgInt = 0,
  kTVMArgFloat = 2,
  kTVMOpaqueHandle = 3,
  kTVMNullptr = 4,
  kTVMDLTensorHandle = 7,
  kTVMNDArrayHandle = 13 /* begins with a DLTensor */
} TVMArgTypeCode;

#endif

#ifndef TVM_RUNTIME_C_BACKEND_API_H_

/* Work memory of `nbytes` bytes, aligned for any type, or NULL. The hints are of the elements. */
void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int dtype_code_hint,
                               int dtype_bits_hint);

/* Takes back what TVMBackendAllocWorkspace gave, the last first. Returns 0 if all is well. */
int TVMBackendFreeWorkspace(int device_type, int device_id, void *ptr);

#endif

#ifdef __cplusplus
}
#endif

#endif
