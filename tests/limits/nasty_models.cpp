// SPDX-License-Identifier: Apache-2.0
#include "tests/limits/nasty_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "tests/support/tflite_writer.h"

namespace ingot::testing {
namespace {

using File = std::vector<uint8_t>;

constexpr int32_t kMaxInt = std::numeric_limits<int32_t>::max();
const Quantization kQ = per_tensor(0.5F, 3);

TensorType int8(const Shape& shape) { return {DType::kInt8, shape, kQ}; }

Bytes zeros(int64_t size) { return Bytes(std::vector<uint8_t>(static_cast<size_t>(size))); }

// A chain in which every second operator cannot be fused into the one before.
File chain(int64_t operators) {
  TfliteWriter w;
  int64_t x = w.input("x", int8({1, 2, 2, 4}));
  for (int64_t i = 0; i < operators; ++i) {
    const std::string name = fmt::format("t{}", i);
    x = i % 2 == 0 ? w.max_pool_2d(name, x, {.filter_h = 2, .padding = Padding::SAME})
                   : w.relu(name, x, kQ);
  }
  w.output(x);
  return w.bytes();
}

File concatenation(int64_t pieces) {
  TfliteWriter w;
  const int64_t x = w.input("x", int8({1, 3}));
  std::vector<int64_t> inputs;
  for (int64_t i = 0; i < pieces; ++i) {
    inputs.push_back(w.quantize(fmt::format("t{}", i), x, DType::kInt8, per_tensor(0.25F, 1)));
  }
  w.output(w.concatenation("y", inputs, 1));
  return w.bytes();
}

// All results wait for a sum in the reverse order of their making. They differ from each other: a
// chain of equal operators that do nothing the second time would be one.
File alive_together(int64_t tensors) {
  TfliteWriter w;
  int64_t x = w.input("x", int8({1, 5}));
  std::vector<int64_t> waiting;
  for (int64_t i = 0; i < tensors; ++i) {
    x = w.add(fmt::format("t{}", i), x, x, per_tensor(0.5F, i % 2));
    waiting.push_back(x);
  }
  for (int64_t i = tensors - 1; i-- > 0;) {
    x = w.add(fmt::format("s{}", i), x, waiting[static_cast<size_t>(i)], kQ);
  }
  w.output(x);
  return w.bytes();
}

// With --io arena all inputs are alive together.
File ports(int64_t count) {
  TfliteWriter w;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t x = w.input(fmt::format("x{}", i), int8({1, 5}));
    w.output(w.add(fmt::format("y{}", i), x, x, kQ));
  }
  return w.bytes();
}

// No two layers have the same shapes, so each has a kernel of its own.
File different_kernels(int64_t layers) {
  const auto units = [](int64_t i) { return 1 + (i % 2 == 0 ? i % 97 : i / 2 % 89); };
  TfliteWriter w;
  int64_t x = w.input("x", int8({1, units(0)}));
  for (int64_t i = 0; i < layers; ++i) {
    const Shape shape = {units(i + 1), units(i)};
    const int64_t filter =
        w.constant(fmt::format("w{}", i), {DType::kInt8, shape, per_tensor(0.01F, 0)},
                   zeros(shape[0] * shape[1]));
    x = w.fully_connected(fmt::format("t{}", i), x, filter, kAbsent, per_tensor(0.5F, i % 100));
  }
  w.output(x);
  return w.bytes();
}

File of_shape(const std::vector<int32_t>& shape) {
  TfliteWriter w;
  const int64_t x = w.input("x", int8({1}));
  const int64_t y = w.relu("y", x, kQ);
  for (const int64_t t : {x, y}) w.tensor_at(t).shape = shape;
  w.output(y);
  return w.bytes();
}

File ring(int64_t operators) {
  TfliteWriter w;
  const int64_t first = w.tensor("first", int8({1}));
  int64_t x = first;
  for (int64_t i = 0; i < operators; ++i) x = w.relu(fmt::format("t{}", i), x, kQ);
  w.append(w.opcode(BuiltinOperator::RELU, "", 1), {x}, {first});
  w.output(x);
  return w.bytes();
}

File unsupported(int64_t operators) {
  TfliteWriter w;
  int64_t x = w.input("x", int8({1}));
  for (int64_t i = 0; i < operators; ++i) {
    const int64_t y = w.tensor(std::string(200, 'n') + std::to_string(i), int8({1}));
    w.custom("strange", {x}, {y}, std::vector<uint8_t>(64));
    x = y;
  }
  w.output(x);
  return w.bytes();
}

File custom_options() {
  TfliteWriter w;
  const int64_t x = w.input("x", int8({1}));
  const int64_t y = w.output(w.tensor("y", int8({1})));
  w.custom("strange", {x}, {y}, std::vector<uint8_t>(50 << 20));
  return w.bytes();
}

File name_of_bytes(int64_t size) {
  TfliteWriter w;
  const int64_t x = w.input(std::string(static_cast<size_t>(size), '%'), int8({1}));
  w.output(w.relu(std::string(static_cast<size_t>(size), '/'), x, kQ));
  return w.bytes();
}

// Layers on constants, which could all be computed at compile time, in far too long a time.
File constant_layers(int64_t layers, int64_t width) {
  TfliteWriter w;
  const int64_t filter =
      w.constant("w", {DType::kInt8, {width, width}, per_tensor(0.01F, 0)}, zeros(width * width));
  int64_t x = w.constant("x", int8({16, width}), zeros(16 * width));
  for (int64_t i = 0; i < layers; ++i) {
    x = w.fully_connected(fmt::format("t{}", i), x, filter, kAbsent, kQ);
  }
  w.output(x);
  return w.bytes();
}

// A window that is larger than every image, over a constant.
File constant_pool() {
  TfliteWriter w;
  const int64_t x = w.constant("x", int8({1, 64, 64, 16}), zeros(64 * 64 * 16));
  w.output(w.max_pool_2d(
      "y", x, {.filter_h = kMaxInt / 4, .filter_w = kMaxInt / 4, .padding = Padding::SAME}));
  return w.bytes();
}

File dilated(int64_t dilation) {
  TfliteWriter w;
  const int64_t x = w.input("x", int8({1, 4, 4, 1}));
  const int64_t filter =
      w.constant("w", {DType::kInt8, {1, 3, 3, 1}, per_tensor(0.01F, 0)}, zeros(9));
  w.output(
      w.conv_2d("y", x, filter, kAbsent, {.dilation_h = dilation, .dilation_w = dilation}, kQ));
  return w.bytes();
}

File convolutions(int64_t layers, int64_t rows, int64_t columns) {
  TfliteWriter w;
  const int64_t filter =
      w.constant("w", {DType::kInt8, {1, 64, 64, 1}, per_tensor(0.01F, 0)}, zeros(64 * 64));
  int64_t x = w.input("x", int8({1, rows, columns, 1}));
  for (int64_t i = 0; i < layers; ++i) {
    x = w.conv_2d(fmt::format("t{}", i), x, filter, kAbsent, {}, kQ);
  }
  w.output(x);
  return w.bytes();
}

// Channels that fill no word, so that the last word of each position reaches into the next.
File wide(Shape x_shape, int64_t kernel_width) {
  TfliteWriter w;
  const int64_t x = w.input("x", int8(std::move(x_shape)));
  const int64_t filter = w.constant(
      "w", {DType::kInt8, {3, 1, kernel_width, 3}, per_tensor(0.01F, 0)}, zeros(9 * kernel_width));
  const int64_t taps = w.constant(
      "v", {DType::kInt8, {1, 1, kernel_width, 3}, per_tensor(0.01F, 0)}, zeros(3 * kernel_width));
  const int64_t y = w.conv_2d("y", x, filter, kAbsent, {}, kQ);
  w.output(w.depthwise_conv_2d("z", y, taps, kAbsent, {}, kQ));
  return w.bytes();
}

// Each layer reads one of the last few tensors, and some are added; what nothing reads is an
// output.
File random_layers(int64_t layers) {
  TfliteWriter w;
  uint64_t state = 1;
  const auto below = [&](size_t bound) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<size_t>(state >> 33U) % bound;
  };
  const std::vector<int64_t> widths = {3, 8, 17, 40, 100};
  std::map<std::pair<size_t, size_t>, int64_t> filters;
  std::vector<std::pair<int64_t, size_t>> made = {{w.input("x", int8({1, 3})), 0}};
  std::set<int64_t> unread;
  const auto last = [&](size_t count) {
    return made[made.size() - 1 - below(std::min(count, made.size()))];
  };
  for (int64_t i = 0; i < layers; ++i) {
    const auto [x, from] = last(12);
    const size_t to = below(widths.size());
    const auto [filter, is_new] = filters.try_emplace({from, to}, 0);
    if (is_new) {
      filter->second = w.constant(fmt::format("w{}_{}", from, to),
                                  {DType::kInt8, {widths[to], widths[from]}, per_tensor(0.01F, 0)},
                                  zeros(widths[from] * widths[to]));
    }
    const int64_t y = w.fully_connected(fmt::format("y{}", i), x, filter->second, kAbsent, kQ);
    unread.erase(x);
    unread.insert(y);
    const auto [other, width] = last(30);
    made.emplace_back(y, to);
    if (width != to || other == x) continue;
    const int64_t z = w.add(fmt::format("z{}", i), y, other, kQ);
    unread.erase(y);
    unread.erase(other);
    unread.insert(z);
    made.emplace_back(z, to);
  }
  for (const int64_t y : unread) w.output(y);
  return w.bytes();
}

File dense(int64_t rows) {
  TfliteWriter w;
  const int64_t x = w.input("x", int8({rows, 8}));
  const int64_t filter = w.constant("w", {DType::kInt8, {8, 8}, per_tensor(0.01F, 0)}, zeros(64));
  w.output(w.fully_connected("y", x, filter, kAbsent, kQ));
  return w.bytes();
}

File scales_of(int64_t channels, int64_t readers) {
  TfliteWriter w;
  Quantization per_channel;
  per_channel.scales.assign(static_cast<size_t>(channels), 0.01F);
  per_channel.zero_points.assign(static_cast<size_t>(channels), 0);
  per_channel.axis = 0;
  const int64_t x = w.input("x", int8({1, 1}));
  const int64_t filter =
      w.constant("w", {DType::kInt8, {channels, 1}, per_channel}, zeros(channels));
  for (int64_t i = 0; i < readers; ++i) {
    w.output(w.fully_connected(fmt::format("t{}", i), x, filter, kAbsent, kQ));
  }
  return w.bytes();
}

// Half precision that a later operator makes twice as large.
File half_weights(int64_t megabytes) {
  TfliteWriter w;
  const int64_t rows = megabytes << 9;
  const int64_t x = w.input("x", {DType::kFloat32, {1, 1024}, std::nullopt});
  for (int64_t i = 0; i < 8; ++i) {
    const int64_t half =
        w.constant(fmt::format("h{}", i), {DType::kFloat16, {rows / 8, 1024}, std::nullopt},
                   zeros((megabytes << 20) / 8));
    const int64_t filter = w.dequantize(fmt::format("w{}", i), half);
    w.output(w.fully_connected(fmt::format("y{}", i), x, filter, kAbsent, std::nullopt));
  }
  return w.bytes();
}

}  // namespace

std::vector<NastyModel> large_models() {
  return {
      // K07.
      {"a chain of all the operators there may be", [] { return chain(10240); }},
      {"one operator more", [] { return chain(10241); }, "10241 operators, at most 10240"},
      {"a ring", [] { return ring(10000); }, "waits for its own result"},
      {"many unsupported operators", [] { return unsupported(10000); }, "more such messages"},
      {"large custom options", [] { return custom_options(); }, "\"strange\""},
      {"long names", [] { return name_of_bytes(32 << 20); }},
      {"many pieces", [] { return concatenation(4000); }},
      {"too many pieces", [] { return concatenation(5000); }, "5001 inputs and outputs"},
      // K09.
      {"many tensors alive together", [] { return alive_together(5000); }},
      {"many tensors in the arena",
       [] { return alive_together(5000); },
       "",
       "c99",
       {"--io", "arena", "--reuse-inputs"}},
      {"many small layers", [] { return random_layers(6000); }, "", "c99", {"--io", "arena"}},
      {"an arena beyond 32-bit addresses",
       [] { return convolutions(6, 1 << 15, 1 << 15); },
       "with the 32-bit addresses of cortex-m4",
       "cortex-m4",
       {"--io", "arena"},
       3},
      {"too many tensors alive together",
       [] { return ports(6000); },
       "pairs of tensors are alive together",
       "c99",
       {"--io", "arena"}},
      {"many different kernels", [] { return different_kernels(5000); }},
      // Z05.
      {"rank 1,000,000", [] { return of_shape(std::vector<int32_t>(1000000, 1)); },
       "the rank is 1000000"},
      {"a product beyond 32 bits",
       [] {
         return of_shape({65536, 65536});
       },
       "is larger than"},
      // Z03, K03.
      {"a product beyond 64 bits",
       [] {
         return of_shape({kMaxInt, kMaxInt, kMaxInt, kMaxInt});
       },
       "is larger than"},
      {"the largest tensor",
       [] {
         return of_shape({65535, 32768});
       }},
      {"a tensor of 2^31 elements",
       [] {
         return of_shape({65536, 32768});
       },
       "at most 2147483647 elements"},
      {"a zero among huge extents",
       [] {
         return of_shape({kMaxInt, 0, kMaxInt, kMaxInt});
       },
       "is larger than"},
      // K08.
      {"layers on constants", [] { return constant_layers(45, 1024); }},
      {"a huge window over a constant", [] { return constant_pool(); }},
      {"huge dilation", [] { return dilated(kMaxInt / 8); }},
      {"too large a dilation", [] { return dilated(kMaxInt); }, "the dilation is 2147483647"},
      {"convolutions of large images", [] { return convolutions(8, 1 << 15, 1 << 15); }},
      {"convolutions of long lines", [] { return convolutions(8, 1, 1 << 29); }},
      {"too many multiplications", [] { return convolutions(300, 1 << 15, 1 << 15); },
       "multiply-accumulates"},
      {"many scales", [] { return scales_of(20000, 2); }},
      {"too many scales", [] { return scales_of(20000, 3); }, "scales, at most"},
      {"half precision", [] { return half_weights(23); }},
  };
}

std::vector<NastyModel> scheduled_models() {
  std::vector<NastyModel> rows;
  for (const char* target : {"cortex-m0plus", "cortex-m4", "cortex-m55", "rv32imc", "aarch64",
                             "x86-64-v3", "x86-64-avx512vnni"}) {
    const std::string to = std::string(" for ") + target;
    rows.push_back({"a line" + to, [] { return wide({1, 1, 1 << 28, 3}, 3); }, "", target});
    rows.push_back({"rows" + to, [] { return dense(100000007); }, "", target});
    rows.push_back({"an image" + to, [] { return wide({1, 1 << 14, 1 << 14, 3}, 5); }, "", target});
    rows.push_back({"a batch" + to, [] { return wide({1 << 28, 1, 1, 3}, 1); }, "", target});
    rows.push_back({"words of a batch" + to,
                    [] {
                      return wide({1 << 24, 2, 5, 3}, 2);
                    },
                    "", target});
  }
  return rows;
}

}  // namespace ingot::testing
