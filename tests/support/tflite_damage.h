// SPDX-License-Identifier: Apache-2.0
// Breaks models, for tests of what reads them. `mutate` changes one thing that the format itself
// allows, so that the verifier lets it pass and the importer has to notice; the rest works on the
// bytes of a finished file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/tflite_writer.h"

namespace ingot::testing {

// Changes one index, extent, type, quantisation, option, buffer, operator code, list or table of
// the model, chosen by the seed. Returns what it did, for messages, e.g. `operator 3: input 1 is
// 9999`. The result can always be serialised; it may happen to be equal to the model, or valid.
std::string mutate(format::ModelT& model, uint64_t seed);

// The first `size` bytes.
std::vector<uint8_t> truncated(const std::vector<uint8_t>& file, int64_t size);
// Overwrites from `offset` on; the file keeps its size.
std::vector<uint8_t> with_bytes(std::vector<uint8_t> file, int64_t offset,
                                const std::vector<uint8_t>& bytes);
// `count` bytes, chosen by the seed, get another value.
std::vector<uint8_t> corrupted(std::vector<uint8_t> file, uint64_t seed, int64_t count);
// The file behind a length of four bytes, which is another way to store FlatBuffers.
std::vector<uint8_t> size_prefixed(const std::vector<uint8_t>& file);

}  // namespace ingot::testing
