// SPDX-License-Identifier: Apache-2.0
// Networks of many small layers, none of which is large: what is different, and how they are
// connected, is what costs time.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "tests/limits/nasty_models.h"
#include "tests/support/tflite_writer.h"

namespace ingot::testing {
namespace {

using File = std::vector<uint8_t>;

const Quantization kQ = per_tensor(0.5F, 3);

TensorType int8(const Shape& shape) { return {DType::kInt8, shape, kQ}; }

// No two of the first 20,011 are equal.
Quantization different(int64_t i) {
  return per_tensor(0.3F + 0.00001F * static_cast<float>(i % 20011), i * 7 % 200 - 100);
}

uint64_t next(uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 33U;
}

Bytes random_bytes(int64_t size) {
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  uint64_t state = 1;
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(next(state));
  return Bytes(std::move(bytes));
}

// With seven digits each, as trained weights have.
Bytes random_floats(int64_t count) {
  std::vector<float> floats;
  uint64_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    floats.push_back(1e-6F * (static_cast<float>(next(state) % 2000001) - 1e6F));
  }
  return Bytes::of(floats);
}

// Layers of `width` outputs, every one of which has a scale of its own.
File different_channels(int64_t layers, int64_t width) {
  TfliteWriter w;
  int64_t x = w.input("x", int8({1, width}));
  for (int64_t i = 0; i < layers; ++i) {
    Quantization scales;
    scales.axis = 0;
    for (int64_t c = 0; c < width; ++c) {
      scales.scales.push_back(0.003F + 0.0000123F * static_cast<float>((i * width + c) % 5000));
      scales.zero_points.push_back(0);
    }
    const int64_t filter = w.constant(fmt::format("w{}", i), {DType::kInt8, {width, width}, scales},
                                      random_bytes(width * width));
    x = w.fully_connected(fmt::format("t{}", i), x, filter, kAbsent, different(i));
  }
  w.output(x);
  return w.bytes();
}

// A tree of sums, the leaves of which are all on other scales.
File sums_on_different_scales(int64_t leaves, const std::string& name) {
  TfliteWriter w;
  const int64_t x = w.input("x", int8({1, 16}));
  std::vector<int64_t> level;
  for (int64_t i = 0; i < leaves; ++i) {
    level.push_back(w.add(fmt::format("{}{}", name, i), x, x, different(i)));
  }
  while (level.size() > 1) {
    std::vector<int64_t> sums;
    for (size_t i = 0; i + 1 < level.size(); i += 2) {
      sums.push_back(w.add(fmt::format("s{}", level[i]), level[i], level[i + 1], kQ));
    }
    if (level.size() % 2 == 1) sums.push_back(level.back());
    level = std::move(sums);
  }
  w.output(level[0]);
  return w.bytes();
}

std::string odd_name(int64_t size) {
  std::string name;
  while (std::ssize(name) < size) name += "%\x01\xff*/\n";
  return name;
}

// All rows of a tensor, one behind the other, and again.
File unpacked_and_joined(int64_t times, int64_t rows) {
  TfliteWriter w;
  int64_t x = w.input("x", {DType::kInt8, {rows, 2}, per_tensor(0.5F, 3)});
  for (int64_t i = 0; i < times; ++i) {
    const std::string name = fmt::format("t{}", i);
    const int64_t joined = w.concatenation(name + "/joined", w.unpack(name, x, 0), 0);
    x = w.reshape(name + "/rows", joined, {rows, 2});
  }
  w.output(x);
  return w.bytes();
}

// Pieces that do not lie in one piece: each is a loop over rows.
File strided_pieces(int64_t pieces, int64_t rows) {
  TfliteWriter w;
  const int64_t x = w.input("x", int8({rows, 1}));
  std::vector<int64_t> inputs;
  for (int64_t i = 0; i < pieces; ++i) {
    inputs.push_back(w.add(fmt::format("t{}", i), x, x, different(i % 3)));
  }
  w.output(w.concatenation("y", inputs, 1));
  return w.bytes();
}

// Branches of three layers of different widths, added up one after the other.
File branches(int64_t count) {
  TfliteWriter w;
  uint64_t state = 1;
  std::map<std::pair<int64_t, int64_t>, int64_t> filters;
  const auto layer = [&](const std::string& name, int64_t x, int64_t to) {
    const int64_t from = w.type_of(x).shape[1];
    const auto [filter, is_new] = filters.try_emplace({from, to}, 0);
    if (is_new) {
      filter->second =
          w.constant(fmt::format("w{}_{}", from, to),
                     {DType::kInt8, {to, from}, per_tensor(0.01F, 0)}, random_bytes(to * from));
    }
    return w.fully_connected(name, x, filter->second, kAbsent, kQ);
  };
  const int64_t x = w.input("x", int8({1, 64}));
  std::vector<int64_t> ends;
  for (int64_t i = 0; i < count; ++i) {
    int64_t y = x;
    for (int64_t k = 0; k < 2; ++k) {
      y = layer(fmt::format("y{}_{}", i, k), y, 8 + 8 * static_cast<int64_t>(next(state) % 12));
    }
    ends.push_back(layer(fmt::format("y{}", i), y, 16));
  }
  int64_t sum = ends[0];
  for (int64_t i = 1; i < count; ++i) {
    sum = w.add(fmt::format("z{}", i), sum, ends[static_cast<size_t>(i)], kQ);
  }
  w.output(sum);
  return w.bytes();
}

// Each is the sum of the one above it and the one to the left.
File lattice(int64_t rows, int64_t columns) {
  TfliteWriter w;
  const int64_t x = w.input("x", int8({1, 16}));
  std::vector<int64_t> row(static_cast<size_t>(columns), x);
  for (int64_t i = 0; i < rows; ++i) {
    int64_t left = x;
    for (int64_t j = 0; j < columns; ++j) {
      int64_t& up = row[static_cast<size_t>(j)];
      up = left = w.add(fmt::format("t{}_{}", i, j), up, left, different(i * columns + j));
    }
  }
  w.output(row.back());
  return w.bytes();
}

// One layer on as many weights as there may be, or some that share them.
File weights(int64_t readers, int64_t megabytes, DType dtype) {
  TfliteWriter w;
  const bool is_float = dtype == DType::kFloat32;
  const int64_t count = (megabytes << 20) / size_in_bytes(dtype);
  const TensorType type = is_float ? TensorType{dtype, {count / 1024, 1024}, std::nullopt}
                                   : TensorType{dtype, {count / 1024, 1024}, per_tensor(0.01F, 0)};
  const int64_t filter =
      w.constant("w", type, is_float ? random_floats(count) : random_bytes(count));
  const int64_t x =
      w.input("x", is_float ? TensorType{dtype, {1, 1024}, std::nullopt} : int8({1, 1024}));
  for (int64_t i = 0; i < readers; ++i) {
    const MaybeQuantization result = is_float ? MaybeQuantization() : different(i);
    w.output(w.fully_connected(fmt::format("y{}", i), x, filter, kAbsent, result));
  }
  return w.bytes();
}

}  // namespace

std::vector<NastyModel> entangled_models() {
  return {
      {"channels of different scales", [] { return different_channels(3400, 12); }},
      {"wide layers of different scales", [] { return different_channels(127, 320); }},
      {"sums on different scales", [] { return sums_on_different_scales(3000, "t"); }},
      {"sums with tables",
       [] { return sums_on_different_scales(3000, "t"); },
       "",
       "cortex-m0plus",
       {"--optimize", "ram"}},
      {"odd names", [] { return sums_on_different_scales(1000, odd_name(4000)); }},
      {"rows, joined and parted again", [] { return unpacked_and_joined(3, 1500); }},
      {"strided pieces", [] { return strided_pieces(4000, 1000); }},
      {"branches", [] { return branches(2000); }},
      {"a lattice", [] { return lattice(60, 60); }},
      {"too many different kernels", [] { return lattice(100, 100); },
       "loop text for different operators"},
      {"bytes", [] { return weights(1, 47, DType::kInt8); }},
      {"shared bytes", [] { return weights(4, 11, DType::kInt8); }},
      {"floats", [] { return weights(1, 47, DType::kFloat32); }},
      {"too many bytes", [] { return weights(1, 49, DType::kInt8); },
       "the constants up to here are larger than 50331648 bytes"},
  };
}

}  // namespace ingot::testing
