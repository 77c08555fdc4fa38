// SPDX-License-Identifier: Apache-2.0
// What shrinking did, as NAME.json says it (docs/output_format.md): enough to check each removal
// again from the model file.
#pragma once
#include "passes/shrink.h"
#include "report/json_text.h"

namespace ingot {

// Null if nothing was removed.
Json shrinking_json(const Shrinking& shrinking);

}  // namespace ingot
