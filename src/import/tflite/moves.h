// SPDX-License-Identifier: Apache-2.0
// Operators of .tflite models that take parts of a tensor, or its elements in another order.
#pragma once
#include "import/tflite/builder.h"

namespace ingot::tflite {

bool read_slice(OperatorReader& reader);
bool read_strided_slice(OperatorReader& reader);
bool read_split(OperatorReader& reader);
bool read_split_v(OperatorReader& reader);
bool read_unpack(OperatorReader& reader);
bool read_transpose(OperatorReader& reader);
bool read_resize_nearest_neighbor(OperatorReader& reader);

}  // namespace ingot::tflite
