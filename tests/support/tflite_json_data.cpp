// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tflite_json_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "support/file.h"
#include "tests/support/random.h"

namespace ingot::testing {
namespace {

using nlohmann::json;
using tflite_format::TensorType;

void flatten(const json& data, std::vector<json>& numbers) {
  std::vector<const json*> open = {&data};
  while (!open.empty()) {
    const json& next = *open.back();
    open.pop_back();
    if (!next.is_array()) {
      numbers.push_back(next);
      continue;
    }
    for (size_t i = next.size(); i-- > 0;) open.push_back(&next[i]);
  }
}

template <class T>
T element(const json& number) {
  if constexpr (std::is_integral_v<T>) {
    if (number.is_boolean()) return static_cast<T>(number.get<bool>());
    if (!number.is_number_integer()) {
      throw std::runtime_error(fmt::format("{} is no integer", number.dump()));
    }
    const bool negative = !number.is_number_unsigned() && number.get<int64_t>() < 0;
    const bool fits =
        negative ? std::is_signed_v<T> &&
                       number.get<int64_t>() >= static_cast<int64_t>(std::numeric_limits<T>::min())
                 : number.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max());
    if (!fits) throw std::runtime_error(fmt::format("{} does not fit its dtype", number.dump()));
  }
  return number.get<T>();
}

template <class T>
Bytes elements(const std::vector<json>& numbers) {
  std::vector<T> typed;
  typed.reserve(numbers.size());
  for (const json& number : numbers) typed.push_back(element<T>(number));
  return Bytes::of(typed);
}

Bytes encode(const std::vector<json>& numbers, TensorType type) {
  switch (type) {
    case TensorType::BOOL:
    case TensorType::UINT8:
      return elements<uint8_t>(numbers);
    case TensorType::INT8:
      return elements<int8_t>(numbers);
    case TensorType::INT16:
      return elements<int16_t>(numbers);
    case TensorType::UINT16:
      return elements<uint16_t>(numbers);
    case TensorType::INT32:
      return elements<int32_t>(numbers);
    case TensorType::UINT32:
      return elements<uint32_t>(numbers);
    case TensorType::INT64:
      return elements<int64_t>(numbers);
    case TensorType::UINT64:
      return elements<uint64_t>(numbers);
    case TensorType::FLOAT32:
      return elements<float>(numbers);
    case TensorType::FLOAT64:
      return elements<double>(numbers);
    default:
      throw std::runtime_error(
          fmt::format("numbers of {} must be given as base64 or a file", EnumNameTensorType(type)));
  }
}

std::string numpy_dtype(TensorType type) {
  switch (type) {
    case TensorType::BOOL:
      return "|b1";
    case TensorType::INT8:
      return "|i1";
    case TensorType::UINT8:
      return "|u1";
    case TensorType::INT16:
      return "<i2";
    case TensorType::UINT16:
      return "<u2";
    case TensorType::INT32:
      return "<i4";
    case TensorType::UINT32:
      return "<u4";
    case TensorType::INT64:
      return "<i8";
    case TensorType::UINT64:
      return "<u8";
    case TensorType::FLOAT16:
      return "<f2";
    case TensorType::FLOAT32:
      return "<f4";
    case TensorType::FLOAT64:
      return "<f8";
    default:
      return "no dtype of NumPy";
  }
}

// The array of a .npy file of version 1 or 2: magic, version, length of the header, the header (a
// Python dictionary of fixed spelling), the elements.
Bytes read_npy(const std::vector<uint8_t>& file, TensorType type,
               const std::vector<int64_t>& shape) {
  const std::string magic = "\x93NUMPY";
  const std::string text(file.begin(), file.end());
  if (file.size() < 12 || text.substr(0, 6) != magic || file[6] < 1 || file[6] > 2) {
    throw std::runtime_error("no .npy file of version 1 or 2");
  }
  const size_t start = file[6] == 1 ? 10 : 12;
  size_t length = file[8] | size_t{file[9]} << 8;
  if (file[6] == 2) length |= size_t{file[10]} << 16 | size_t{file[11]} << 24;
  if (length > file.size() - start) throw std::runtime_error("the .npy file is cut off");
  std::string header = text.substr(start, length);
  header.erase(std::remove(header.begin(), header.end(), ' '), header.end());

  const std::string extents = shape.size() == 1 ? fmt::format("({},)", shape[0])
                                                : fmt::format("({})", fmt::join(shape, ","));
  for (const std::string& wanted :
       {fmt::format("'descr':'{}'", numpy_dtype(type)), std::string("'fortran_order':False"),
        fmt::format("'shape':{}", extents)}) {
    if (header.find(wanted) == std::string::npos) {
      throw std::runtime_error(fmt::format("the .npy file has no {}, but {}", wanted, header));
    }
  }
  return Bytes({file.begin() + static_cast<std::ptrdiff_t>(start + length), file.end()});
}

Bytes read_data(const std::string& name, TensorType type, const std::vector<int64_t>& shape,
                const std::filesystem::path& folder) {
  Result<std::vector<uint8_t>> bytes = read_file(folder / name);
  if (!bytes) throw std::runtime_error(fmt::format("{}: {}", name, bytes.error()[0].what));
  if (!name.ends_with(".npy")) return Bytes(*std::move(bytes));
  return read_npy(*bytes, type, shape);
}

int64_t num_elements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

std::vector<json> random_numbers(const json& data, TensorType type, int64_t count) {
  Random random(data.at("random").get<uint64_t>());
  std::vector<json> numbers;
  for (int64_t i = 0; i < count; ++i) {
    if (type == TensorType::FLOAT32 || type == TensorType::FLOAT64) {
      numbers.emplace_back(random.real(data.value("low", -1.0F), data.value("high", 1.0F)));
    } else {
      const int64_t low = data.value("low", int64_t{-127});
      numbers.emplace_back(random.integer(low, data.value("high", int64_t{127})));
    }
  }
  return numbers;
}

}  // namespace

void check_keys(const json& object, const std::vector<std::string>& known,
                const std::string& what) {
  if (!object.is_object()) throw std::runtime_error(what + " is no object");
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw std::runtime_error(fmt::format("{} has an unknown key \"{}\"", what, key));
    }
  }
}

std::vector<uint8_t> decode_base64(const std::string& text) {
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) throw std::runtime_error("base64 is not padded to four characters");
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t bits = 0;
    size_t padding = 0;
    for (size_t j = i; j < i + 4; ++j) {
      const size_t digit = text[j] == '=' ? 0 : alphabet.find(text[j]);
      const bool last = i + 4 == text.size();
      if (text[j] == '=') ++padding;
      if (digit == std::string::npos || (padding > 0 && (text[j] != '=' || !last))) {
        throw std::runtime_error("this is no base64");
      }
      bits = bits << 6 | static_cast<uint32_t>(digit);
    }
    if (padding > 2) throw std::runtime_error("this is no base64");
    for (size_t j = 0; j < 3 - padding; ++j) {
      bytes.push_back(static_cast<uint8_t>(bits >> (16 - 8 * j)));
    }
  }
  return bytes;
}

Bytes constant_data(const json& data, TensorType type, const std::vector<int64_t>& shape,
                    const std::filesystem::path& folder) {
  const int64_t count = num_elements(shape);
  if (data.is_object()) {
    check_keys(data, {"base64", "file", "random", "low", "high"}, "the data");
    if (data.contains("base64")) return Bytes(decode_base64(data.at("base64")));
    if (data.contains("file")) return read_data(data.at("file"), type, shape, folder);
    return encode(random_numbers(data, type, count), type);
  }
  std::vector<json> numbers;
  flatten(data, numbers);
  if (std::ssize(numbers) != count) {
    throw std::runtime_error(
        fmt::format("there are {} numbers, the shape asks for {}", numbers.size(), count));
  }
  return encode(numbers, type);
}

}  // namespace ingot::testing
