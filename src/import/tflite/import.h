// SPDX-License-Identifier: Apache-2.0
// Reads .tflite models. The path of a file, each step relying only on those before it:
//
//   model.h      bytes: FlatBuffers' verifier, identifier, version, every index
//   tensors.h    types, quantisation, constants, names, with limits before allocation
//   order.h      each tensor has one origin; operators in an order in which they can run
//   operators.h  a table with a row per operator: attributes, fused activations; shapes inferred
//
// Each step collects all of its faults. Steps go on past faults as long as what they need is sound,
// so that the user hears of every unsupported operator and tensor at once.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "import/import.h"

namespace ingot {

// The network of the file's first subgraph. `bytes` need no alignment. Names of values are those of
// the file's tensors, made unique; node names are those of their outputs; sources are the file's
// operator indices. A fused activation becomes a clamp of its own, behind an operator that writes a
// value named "<output>/pre_activation".
Result<Imported> import_tflite(std::span<const uint8_t> bytes, const ImportOptions& options);

// The operators of .tflite files that are read, as the format spells them: "CONV_2D".
std::vector<std::string> supported_tflite_operators();

}  // namespace ingot
