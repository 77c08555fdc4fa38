// SPDX-License-Identifier: Apache-2.0
// The writer of .tflite files for scripts: a model described in JSON becomes a file. The program
// build/tests/tflite_write IN.json OUT.tflite is this function (IN.json may be `-`: standard
// input). The description:
//
//   {
//     "description": "two layers",                 optional, as is everything marked so below
//     "version": 3,                                optional
//     "opcode_form": "both",                       optional; or "deprecated", "extended"
//     "metadata": {"origin": "text", "blob": {"base64": "AQID"}},                      optional
//     "subgraphs": [GRAPH, ...]                    or the keys of the only GRAPH right here
//   }
//   GRAPH = {
//     "name": "main",                              optional
//     "tensors": [TENSOR, ...],
//     "operators": [OPERATOR, ...],                in the order of execution
//     "inputs": ["x"], "outputs": ["y"]            tensors, by name or by index
//   }
//   TENSOR = {
//     "name": "x",
//     "dtype": "int8",                             a TensorType of the schema, in any case
//     "shape": [1, 49, 10, 1],
//     "shape_signature": [-1, 49, 10, 1],          optional
//     "scale": 0.5, "zero_point": 3,               optional; lists of numbers per channel
//     "axis": 0,                                   optional: the dimension they belong to
//     "is_variable": false,                        optional
//     "data": DATA                                 for constants
//   }
//   DATA = 7 | [[1, 2], [3, 4]]                    numbers, nested in any way, row-major
//        | {"base64": "AQID"}                      the bytes, little-endian
//        | {"file": "w.npy"}                       NumPy's format, C order, of this dtype and shape
//        | {"file": "w.bin"}                       the bytes; paths are relative to IN.json
//        | {"random": 7, "low": -127, "high": 127} numbers of tests/support/random.h, seed 7
//   OPERATOR = {
//     "op": "CONV_2D",                             or a number, or {"custom": "Name"}
//     "inputs": ["x", "w", -1],                    tensors by name or index; -1 for none
//     "outputs": ["y"],
//     "version": 3,                                optional, default 1
//     "options": {"padding": "SAME", "stride_w": 1, "stride_h": 1},
//     "options_type": "Conv2DOptions",             optional; known for every operator that has one
//     "custom_options": {"base64": "AQID"}         optional
//   }
// The options are the fields of the table in src/import/tflite/tflite.fbs, by name; absent fields
// have the default of the schema, absent options are a table of defaults, and `"options": null`
// leaves the table out. Unknown keys are errors.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ingot::testing {

// The file that `text` describes. Files it names are looked up in `folder`. Throws
// std::runtime_error (or an exception of nlohmann-json) that says what is wrong.
std::vector<uint8_t> tflite_from_json(const std::string& text, const std::filesystem::path& folder);

}  // namespace ingot::testing
