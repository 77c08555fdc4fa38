// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sample_models.h"

#include "tests/support/sample_network.h"

namespace ingot::testing {

SampleModel dense_chain() {
  SampleNetwork net(1);
  const int64_t x = net.input("x", {1, 13});
  const int64_t hidden1 = net.dense("hidden1", x, 17, Activation::RELU);
  const int64_t hidden2 = net.dense_per_channel("hidden2", hidden1, 9, Activation::RELU6);
  const int64_t hidden3 = net.dense_without_bias("hidden3", hidden2, 11);
  net.writer().output(net.dense("y", hidden3, 5));
  return {"dense_chain", net.writer().bytes()};
}

SampleModel depthwise_separable() {
  SampleNetwork net(2);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 25, 10, 1});
  const Window halved{.stride_h = 2, .stride_w = 2, .activation = Activation::RELU};
  const int64_t stem = net.conv("stem", x, {.channels = 5, .h = 3, .w = 3}, halved);
  const int64_t depthwise1 =
      net.depthwise("depthwise1", stem, 3, 3, {.activation = Activation::RELU});
  const int64_t pointwise1 =
      net.conv("pointwise1", depthwise1, {.channels = 7}, {.activation = Activation::RELU6});
  const int64_t depthwise2 = net.depthwise("depthwise2", pointwise1, 3, 5, {.stride_h = 2});
  const int64_t pointwise2 =
      net.conv("pointwise2", depthwise2, {.channels = 9}, {.activation = Activation::RELU});
  const int64_t pooled = w.average_pool_2d("pooled", pointwise2, {.filter_h = 7, .filter_w = 5});
  const int64_t flat = w.reshape("flat", pooled, {-1, 9});
  w.output(w.softmax("y", net.dense("logits", flat, 4)));
  return {"depthwise_separable", w.bytes()};
}

SampleModel residual() {
  SampleNetwork net(3);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 9, 7, 3});
  const Window relu{.activation = Activation::RELU};
  const int64_t a = net.conv("a", x, {.channels = 5, .h = 3, .w = 3}, relu);
  const int64_t b = net.conv("b", a, {.channels = 5, .h = 3, .w = 3}, relu);
  const int64_t c = net.conv("c", b, {.channels = 5, .h = 1, .w = 3});
  const int64_t sum = w.add("sum", c, a, net.quantization_after(a), Activation::RELU);
  const Window halved{.stride_h = 2, .stride_w = 2};
  const int64_t shortcut = net.conv("shortcut", sum, {.channels = 7}, halved);
  const int64_t d = net.conv("d", sum, {.channels = 7, .h = 3, .w = 3}, halved);
  w.output(w.add("y", d, shortcut, net.quantization_after(d)));
  return {"residual", w.bytes()};
}

SampleModel two_branches() {
  SampleNetwork net(4);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 8, 6, 3});
  const Quantization shared = *w.type_of(x).quantization;  // concatenation does not requantise
  const int64_t left = net.conv("left", x, {.channels = 5}, {}, shared);
  const int64_t right = net.conv("right", x, {.channels = 7, .h = 3, .w = 3}, {}, shared);
  const int64_t pooled =
      w.max_pool_2d("pooled", x, {.filter_h = 3, .filter_w = 2, .padding = Padding::SAME});
  const int64_t joined = w.concatenation("joined", {left, right, pooled}, 3);
  const int64_t mixed = net.conv("mixed", joined, {.channels = 3, .h = 2, .w = 3}, {}, shared);
  w.output(w.concatenation("y", {mixed, x}, 1));
  return {"two_branches", w.bytes()};
}

SampleModel explicit_padding() {
  SampleNetwork net(5);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 10, 7, 3});
  const int64_t padded1 = w.pad("padded1", x, {{0, 0}, {1, 2}, {0, 3}, {0, 0}});
  const Window valid{.stride_h = 2, .stride_w = 1, .padding = Padding::VALID};
  const int64_t conv = net.conv("conv", padded1, {.channels = 5, .h = 3, .w = 4}, valid);
  const int64_t padded2 = w.pad("padded2", conv, {{0, 0}, {0, 1}, {1, 1}, {0, 0}});
  const Window relu{.padding = Padding::VALID, .activation = Activation::RELU};
  const int64_t depthwise = net.depthwise("depthwise", padded2, 2, 3, relu);
  w.output(w.pad("y", depthwise, {{0, 0}, {0, 0}, {0, 0}, {1, 2}}));
  return {"explicit_padding", w.bytes()};
}

SampleModel mean_over_space() {
  SampleNetwork net(6);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 6, 11, 3});
  const int64_t conv = net.conv("conv", x, {.channels = 7, .h = 2, .w = 3});
  const int64_t kept = w.mean("kept", conv, {1, 2}, true, net.quantization(0.02F));
  const int64_t scaled = w.mul("scaled", conv, kept, net.quantization(0.02F));
  const int64_t dropped = w.mean("dropped", scaled, {-2, 1}, false, net.quantization(0.01F));
  w.output(net.dense("y", dropped, 5));
  return {"mean_over_space", w.bytes()};
}

SampleModel broadcasts() {
  SampleNetwork net(7);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 5, 4, 3});
  const int64_t column = net.input("column", {1, 5, 1, 1});
  const int64_t scaled = w.mul("scaled", x, net.constant("factors", {3}), net.quantization(0.15F));
  const int64_t shifted =
      w.sub("shifted", scaled, net.constant("row", {1, 1, 4, 1}, 0.1F), net.quantization(0.2F));
  const int64_t turned = w.sub("turned", column, shifted, net.quantization(0.2F));
  const int64_t raised = w.add("raised", turned, net.constant("one", {}, 0.1F),
                               net.quantization(0.15F), Activation::RELU6);
  w.output(w.mul("y", raised, turned, net.quantization(0.4F), Activation::RELU_N1_TO_1));
  w.output(w.add("spread", column, net.constant("plane", {4, 3}), net.quantization(0.08F)));
  return {"broadcasts", w.bytes()};
}

SampleModel gates() {
  SampleNetwork net(8);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 7, 3, 5});
  const int64_t gate = w.logistic("gate", net.conv("opened", x, {.channels = 5}));
  const int64_t value = w.tanh("value", net.conv("valued", x, {.channels = 5, .h = 3, .w = 1}));
  const int64_t gated = w.mul("gated", gate, value, net.quantization(0.007F));
  w.output(w.add("y", gated, x, net.quantization(0.06F)));
  return {"gates", w.bytes()};
}

SampleModel batch_of_three() {
  SampleNetwork net(9);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {3, 7, 5, 2});
  const Window window{.stride_h = 1, .stride_w = 2, .activation = Activation::RELU};
  const int64_t conv = net.conv("conv", x, {.channels = 5, .h = 3, .w = 3}, window);
  const Pool pool{
      .filter_h = 2, .filter_w = 2, .stride_h = 2, .stride_w = 2, .padding = Padding::SAME};
  const int64_t most = w.max_pool_2d("most", conv, pool);
  const int64_t mean =
      w.average_pool_2d("mean", most, {.filter_h = 3, .filter_w = 2, .padding = Padding::SAME});
  const int64_t flat = w.reshape("flat", mean, {3, -1});
  w.output(w.softmax("y", net.dense_per_channel("logits", flat, 7), 0.5F));
  return {"batch_of_three", w.bytes()};
}

SampleModel dilated_and_grouped() {
  SampleNetwork net(10);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 11, 13, 6});
  const Window apart{.dilation_h = 2, .dilation_w = 3};
  const int64_t dilated = net.conv("dilated", x, {.channels = 6, .h = 3, .w = 3}, apart);
  const Window valid{.stride_w = 2, .padding = Padding::VALID, .activation = Activation::RELU};
  const Filter by_threes{.channels = 9, .h = 2, .w = 3, .groups = 3};
  const int64_t grouped = net.conv("grouped", dilated, by_threes, valid);
  const Window spread{.dilation_h = 3, .dilation_w = 1};
  const int64_t doubled = net.depthwise("doubled", grouped, 3, 2, spread, 2);
  w.output(net.depthwise("y", doubled, 3, 3, {.stride_h = 3, .stride_w = 2}));
  return {"dilated_and_grouped", w.bytes()};
}

SampleModel views() {
  SampleNetwork net(11);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 42});
  const int64_t cube = w.reshape("cube", x, {1, 6, 7, 1});
  const int64_t conv = net.conv("conv", cube, {.channels = 3, .h = 3, .w = 2});
  const int64_t squeezed = w.squeeze("squeezed", conv, {0});
  const int64_t flat = w.reshape("flat", squeezed, {7, -1});
  const int64_t raised = w.expand_dims("raised", flat, 1);
  const int64_t back = w.reshape("back", raised, {1, 6, 7, 3});
  w.output(w.add("y", back, conv, net.quantization(0.1F)));
  w.output(w.squeeze("z", raised, {}));
  return {"views", w.bytes()};
}

SampleModel requantised() {
  SampleNetwork net(12);
  TfliteWriter& w = net.writer();
  const int64_t x = w.input("x", {DType::kFloat32, {1, 4, 6, 3}, std::nullopt});
  const int64_t integers = w.quantize("integers", x, DType::kInt8, net.quantization());
  const int64_t positive = w.relu("positive", integers, net.quantization(0.03F));
  const int64_t conv = net.conv("conv", positive, {.channels = 5, .h = 2, .w = 2});
  const int64_t up_to_six = w.relu6("up_to_six", conv, net.quantization(0.03F));
  const int64_t finer = w.quantize("finer", up_to_six, DType::kInt8, net.quantization(0.015F));
  const int64_t small = w.relu_n1_to_1("small", finer, net.quantization(0.01F));
  w.output(w.dequantize("y", small));
  return {"requantised", w.bytes()};
}

SampleModel constant_layers() {
  SampleNetwork net(13);
  TfliteWriter& w = net.writer();
  // What is not below zero is 127 where zero is 127.
  const Quantization stuck = per_tensor(0.05F, 127);
  const int64_t x = net.input("x", {1, 6, 5, 3});
  const int64_t a = net.conv("a", x, {.channels = 7, .h = 3, .w = 2});
  const int64_t b =
      net.conv("b", a, {.channels = 9, .h = 3, .w = 3}, {.activation = Activation::RELU}, stuck);
  const int64_t c = net.conv("c", b, {.channels = 5});
  const int64_t sum = w.add("sum", c, net.conv("d", a, {.channels = 5}), net.quantization(0.1F));
  const int64_t flat = w.reshape("flat", sum, {1, 150});
  const int64_t hidden = net.dense("hidden", flat, 11);
  const int64_t filter = net.constant("dense/weights", {13, 11});
  w.output(w.logistic(
      "y", w.fully_connected("dense", hidden, filter, kAbsent, stuck, Activation::RELU)));
  w.output(sum);
  return {"constant_layers", w.bytes()};
}

// An attention of sorts: parts of a feature map, some of them in place, go different ways.
SampleModel moved_parts() {
  SampleNetwork net(14);
  TfliteWriter& w = net.writer();
  const int64_t x = net.input("x", {1, 6, 4, 6});
  const int64_t map = net.conv("map", x, {.channels = 8, .h = 3, .w = 3});
  const std::vector<int64_t> rows = w.split("rows", map, 1, 3, {1, 2, 3});  // in place
  const std::vector<int64_t> channels = w.split("channels", map, -1, 2);
  const int64_t top = net.conv("top", rows[1], {.channels = 5});
  const int64_t low =
      net.conv("low", w.slice("one", rows[2], {0, 1, 0, 0}, {1, 1, -1, -1}), {.channels = 5});
  const int64_t back = w.strided_slice("back", channels[0], {0, 5, 0, 0}, {1, -7, 4, 4},
                                       {1, -2, 1, 1}, {1, 3, 4, 4});
  const int64_t turned = w.transpose("turned", channels[1], {0, 3, 2, 1});
  w.output(rows[0]);
  w.output(w.resize_nearest_neighbor("wide", top, 4, 8, false, true));
  w.output(w.add("sum", back, w.slice("fit", turned, {0, 1, 0, 0}, {1, 3, 4, 4}),
                 net.quantization_after(back)));
  for (const int64_t part : w.unpack("columns", low, 2)) w.output(part);
  return {"moved_parts", w.bytes()};
}

std::vector<SampleModel> sample_models() {
  return {dense_chain(),      depthwise_separable(), residual(),   two_branches(),
          explicit_padding(), mean_over_space(),     broadcasts(), gates(),
          batch_of_three(),   dilated_and_grouped(), views(),      requantised(),
          constant_layers(),  moved_parts()};
}

}  // namespace ingot::testing
