// SPDX-License-Identifier: Apache-2.0
#include "report/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "support/arithmetic.h"

namespace ingot {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kHeaderAlignment = 64;

constexpr std::array<std::pair<DType, std::string_view>, 12> kDescriptions = {{
    {DType::kBool, "|b1"},
    {DType::kInt8, "|i1"},
    {DType::kUInt8, "|u1"},
    {DType::kInt16, "<i2"},
    {DType::kUInt16, "<u2"},
    {DType::kInt32, "<i4"},
    {DType::kUInt32, "<u4"},
    {DType::kInt64, "<i8"},
    {DType::kUInt64, "<u8"},
    {DType::kFloat16, "<f2"},
    {DType::kFloat32, "<f4"},
    {DType::kFloat64, "<f8"},
}};

Diagnostic malformed(std::string what) {
  return {Code::kArrayFile, "", std::move(what), "numpy.save(file, array) writes such files"};
}

std::optional<DType> dtype_of(std::string_view description) {
  for (const auto& [dtype, text] : kDescriptions) {
    const bool is_byte = size_in_bytes(dtype) == 1;
    if (description == text || (is_byte && description.substr(1) == text.substr(1))) return dtype;
  }
  return std::nullopt;
}

// The text behind `'key':` in the header's dictionary.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

std::optional<Shape> shape_of(std::string_view text) {
  if (!text.starts_with('(')) return std::nullopt;
  const size_t end = text.find(')');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(1, end - 1);
  Shape shape;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" ,"), rest.size()));
    if (rest.empty()) return shape;
    int64_t extent = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc() || extent < 0) return std::nullopt;
    shape.push_back(extent);
    rest.remove_prefix(static_cast<size_t>(stop - rest.data()));
  }
}

struct Header {
  std::string_view text;
  std::span<const uint8_t> elements;
};

std::optional<Header> split(std::span<const uint8_t> file) {
  const size_t length_bytes = file[6] == 1 ? 2 : 4;
  const size_t begin = 8 + length_bytes;
  if (file[6] < 1 || file[6] > 3 || file.size() < begin) return std::nullopt;
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= size_t{file[8 + i]} << (8 * i);
  if (length > file.size() - begin) return std::nullopt;
  const std::span<const uint8_t> text = file.subspan(begin, length);
  return Header{{reinterpret_cast<const char*>(text.data()), text.size()},
                file.subspan(begin + length)};
}

}  // namespace

bool is_npy(std::span<const uint8_t> file) {
  return file.size() >= 10 && std::ranges::equal(file.first(kMagic.size()), kMagic, {}, {},
                                                 [](char c) { return static_cast<uint8_t>(c); });
}

Result<Array> read_npy(std::span<const uint8_t> file) {
  if (!is_npy(file)) return malformed("this is no .npy file");
  const std::optional<Header> header = split(file);
  if (!header) return malformed("the header is damaged or of an unknown version");
  const auto description = value_of(header->text, "descr");
  const auto order = value_of(header->text, "fortran_order");
  const auto shape_text = value_of(header->text, "shape");
  if (!description || !order || !shape_text || !description->starts_with('\'')) {
    return malformed("the header lacks descr, fortran_order or shape");
  }
  const std::string_view type = description->substr(1, description->find('\'', 1) - 1);
  const std::optional<DType> dtype = dtype_of(type);
  if (!dtype) return malformed("the element type " + quote(type) + " is not one of ours");
  if (!order->starts_with("False")) return malformed("the array is in Fortran order");
  const std::optional<Shape> shape = shape_of(*shape_text);
  if (!shape) return malformed("the shape is not a tuple of extents");
  const std::optional<int64_t> elements = checked_product(*shape);
  const std::optional<int64_t> bytes =
      elements ? checked_mul(*elements, size_in_bytes(*dtype)) : std::nullopt;
  if (!bytes || static_cast<uint64_t>(*bytes) != header->elements.size()) {
    return malformed(fmt::format("{} bytes of elements do not fill the shape {}",
                                 header->elements.size(), print(*shape)));
  }
  return Array{*dtype, *shape, {header->elements.begin(), header->elements.end()}};
}

std::string write_npy(const TensorType& type, std::span<const uint8_t> bytes) {
  const auto* row =
      std::ranges::find(kDescriptions, type.dtype, [](const auto& pair) { return pair.first; });
  std::string shape;
  for (const int64_t extent : type.shape) shape += fmt::format("{}, ", extent);
  if (type.rank() > 1) shape.resize(shape.size() - 2);
  if (type.rank() == 1) shape.pop_back();
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", row->second, shape);
  const size_t prefix = kMagic.size() + 4;
  while ((prefix + header.size() + 1) % kHeaderAlignment != 0) header += ' ';
  header += '\n';
  std::string file(kMagic);
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xffU),
           static_cast<char>(header.size() >> 8U)};
  file += header;
  file.append(bytes.begin(), bytes.end());
  return file;
}

}  // namespace ingot
