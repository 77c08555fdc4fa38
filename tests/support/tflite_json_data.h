// SPDX-License-Identifier: Apache-2.0
// The DATA of tflite_json.h: constants given as numbers, base64, files or a seed.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tensor/bytes.h"
#include "tflite_generated.h"

namespace ingot::testing {

// The little-endian bytes of a constant of that type and shape. Throws std::runtime_error where
// the numbers do not fit the type or their count the shape. Bytes from base64 and .bin files are
// taken as they are, however many.
Bytes constant_data(const nlohmann::json& data, tflite_format::TensorType type,
                    const std::vector<int64_t>& shape, const std::filesystem::path& folder);

// The bytes of `text`, which must be padded to a multiple of four characters.
std::vector<uint8_t> decode_base64(const std::string& text);

// Throws unless every key of `object` is among `known`. `what` names the object.
void check_keys(const nlohmann::json& object, const std::vector<std::string>& known,
                const std::string& what);

}  // namespace ingot::testing
