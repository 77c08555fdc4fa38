// SPDX-License-Identifier: Apache-2.0
// The networks of sample_models.h that hold the planner to its promise: the caller's buffers are
// never shared, grown or retyped.
#include "tests/support/sample_models.h"
#include "tests/support/sample_network.h"

namespace ingot::testing {
namespace {

const Window kRelu{.activation = Activation::RELU};

// x -> conv -> wider type -> int8 output.
SampleModel narrow_output(const std::string& name, uint64_t seed, DType wide) {
  SampleNetwork net(seed);
  TfliteWriter& w = net.writer();
  const int64_t conv = net.conv("conv", net.input("x", {1, 5, 6, 3}), {.channels = 7}, kRelu);
  const int64_t widened = is_float(wide)
                              ? w.dequantize("widened", conv)
                              : w.quantize("widened", conv, wide, per_tensor(0.0005F, 0));
  w.output(w.quantize("y", widened, DType::kInt8, net.quantization()));
  return {name, w.bytes()};
}

}  // namespace

SampleModel narrow_output_after_int16() {
  return narrow_output("narrow_output_after_int16", 21, DType::kInt16);
}

SampleModel narrow_output_after_int32() {
  return narrow_output("narrow_output_after_int32", 22, DType::kInt32);
}

SampleModel narrow_output_after_float() {
  return narrow_output("narrow_output_after_float", 23, DType::kFloat32);
}

SampleModel wide_then_narrow() {
  SampleNetwork net(24);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 9, 8, 2});
  const int64_t wide = net.conv("wide", x, {.channels = 19, .h = 3, .w = 3}, kRelu);
  const int64_t mean = w.mean("mean", wide, {1, 2}, false, net.quantization(0.02F));
  w.output(net.dense("y", mean, 2));
  return {"wide_then_narrow", w.bytes()};
}

SampleModel output_read_later() {
  SampleNetwork net(25);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 7, 5, 3});
  const int64_t early = w.output(net.conv("early", x, {.channels = 5, .h = 3, .w = 3}, kRelu));
  const int64_t middle = net.conv("middle", early, {.channels = 11, .h = 3, .w = 1}, kRelu);
  const int64_t late = net.conv("late", middle, {.channels = 5});
  w.output(w.add("sum", late, early, net.quantization(0.1F)));
  return {"output_read_later", w.bytes()};
}

SampleModel input_is_output() {
  SampleNetwork net(26);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 6, 5, 3});
  w.output(net.conv("y", x, {.channels = 3, .h = 3, .w = 3}));
  w.output(x);
  return {"input_is_output", w.bytes()};
}

SampleModel same_output_twice() {
  SampleNetwork net(27);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 19});
  const int64_t y = w.output(net.dense("y", x, 13, Activation::RELU));
  w.output(net.dense("z", y, 3));
  w.output(y);
  return {"same_output_twice", w.bytes()};
}

SampleModel outputs_of_different_sizes() {
  SampleNetwork net(28);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 9, 7, 3});
  const int64_t large = net.conv("large", x, {.channels = 5, .h = 3, .w = 3}, kRelu);
  const int64_t pooled = w.average_pool_2d("pooled", large, {.filter_h = 9, .filter_w = 7});
  w.output(net.dense("small", w.reshape("flat", pooled, {1, 5}), 2));
  w.output(large);
  return {"outputs_of_different_sizes", w.bytes()};
}

SampleModel constant_output() {
  SampleNetwork net(29);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 11});
  const int64_t table = net.constant("table", {1, 7});
  w.output(net.dense("y", x, 7));
  w.output(table);
  w.output(w.add("sum", net.dense("z", x, 7), table, net.quantization(0.1F)));
  return {"constant_output", w.bytes()};
}

SampleModel output_is_view_of_input() {
  SampleNetwork net(30);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 4, 3, 5});
  const int64_t flat = w.output(w.reshape("flat", x, {1, 60}));
  w.output(net.dense("y", flat, 7));
  return {"output_is_view_of_input", w.bytes()};
}

SampleModel output_is_view_of_output() {
  SampleNetwork net(31);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 5, 3, 2});
  const int64_t conv = w.output(net.conv("conv", x, {.channels = 7, .h = 2, .w = 2}, kRelu));
  w.output(w.reshape("flat", conv, {1, -1}));
  return {"output_is_view_of_output", w.bytes()};
}

SampleModel output_in_concatenation() {
  SampleNetwork net(32);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 6, 4, 3});
  const Quantization shared = *w.type_of(x).quantization;
  const int64_t part = w.output(net.conv("part", x, {.channels = 5}, kRelu, shared));
  const int64_t other = net.conv("other", x, {.channels = 7, .h = 3, .w = 3}, kRelu, shared);
  w.output(w.concatenation("joined", {part, other, part}, -1));
  return {"output_in_concatenation", w.bytes()};
}

std::vector<SampleModel> guarantee_models() {
  return {narrow_output_after_int16(), narrow_output_after_int32(),  narrow_output_after_float(),
          wide_then_narrow(),          output_read_later(),          input_is_output(),
          same_output_twice(),         outputs_of_different_sizes(), constant_output(),
          output_is_view_of_input(),   output_is_view_of_output(),   output_in_concatenation()};
}

}  // namespace ingot::testing
