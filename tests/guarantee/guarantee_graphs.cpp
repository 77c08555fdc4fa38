// SPDX-License-Identifier: Apache-2.0
#include "tests/guarantee/guarantee_graphs.h"

#include "graph/text.h"
#include "support/check.h"

namespace ingot::testing {
namespace {

using legacy::OutputUse;

const OutputUse kUnharmed = {};
const OutputUse kNeverWritten = {.overrun_bytes = 0, .other_dtypes = {}, .is_written = false};

OutputUse overrun(int64_t bytes, std::set<DType> dtypes = {}) { return {bytes, dtypes, true}; }

// Most of the graphs begin with 24 bytes that become 48 and then 24 again. The next value of 24
// bytes gets the token of those 48, which is free by then.
const std::string kWideInside = R"(
x: int8[1,24] scale 0.5 zero_point 3 = input
wide: int16[1,24] scale 0.0005 zero_point 0 = requantize() x
inner: int8[1,24] scale 0.25 zero_point -2 = requantize() wide
y: int8[1,24] scale 0.25 zero_point -2 = clamp(low=-100, high=90) inner
)";

std::vector<GuaranteeGraph> narrow_outputs() {
  return {{"after_int16", kWideInside + "output y", {overrun(24, {DType::kInt16})}},
          {"after_int32",
           R"(
x: int8[1,24] scale 0.5 zero_point 3 = input
wide: int32[1,24] scale 0.0005 zero_point 0 = requantize() x
inner: int8[1,24] scale 0.25 zero_point -2 = requantize() wide
y: int8[1,24] scale 0.25 zero_point -2 = clamp(low=-100, high=90) inner
output y
)",
           {overrun(72, {DType::kInt32})}},
          {"after_float",
           R"(
x: int8[1,24] scale 0.5 zero_point 3 = input
wide: float32[1,24] = dequantize() x
inner: int8[1,24] scale 0.25 zero_point -2 = quantize() wide
y: int8[1,24] scale 0.25 zero_point -2 = clamp(low=-100, high=90) inner
output y
)",
           {overrun(72, {DType::kFloat32})}},
          // 72 bytes, then 12, then the output's 12.
          {"smaller_than_inner",
           R"(
x: int8[1,4,4,2] scale 0.5 zero_point 3 = input
padded: int8[1,6,6,2] scale 0.5 zero_point 3 = pad(before={0,1,1,0}, after={0,1,1,0}, value=5) x
mean: int8[1,6,2] scale 0.25 zero_point 0 = reduce(kind=mean, axes={1}) padded
y: int8[1,6,2] scale 0.125 zero_point 9 = requantize() mean
output y
)",
           {overrun(60)}},
          // a's 24 bytes are grown to the 96 of c, and are the output's at last.
          {"grown_block",
           R"(
x: int8[1,24] scale 0.5 zero_point 3 = input
a: int8[1,24] scale 0.25 zero_point 1 = requantize() x
b: int8[1,24] scale 0.3 zero_point -7 = requantize() a
c: int32[1,24] scale 0.001 zero_point 0 = requantize() b
d: int8[1,24] scale 0.25 zero_point 1 = requantize() c
y: int8[1,24] scale 0.4 zero_point 11 = requantize() d
output y
)",
           {overrun(72, {DType::kInt32})}}};
}

std::vector<GuaranteeGraph> shared_outputs() {
  return {{"output_read_later",
           kWideInside + R"(
sum: int8[1,24] scale 0.5 zero_point 4 = binary(kind=add) y, inner
output y
output sum
)",
           {overrun(24, {DType::kInt16}), kUnharmed}},
          {"input_is_output",
           kWideInside + "output y\noutput x",
           {overrun(24, {DType::kInt16}), kUnharmed}},
          {"same_output_twice",
           kWideInside + R"(
z: int8[1,24] scale 0.5 zero_point 4 = requantize() y
output y
output z
output y
)",
           // inner's token is free by the time of z, and of its size.
           {overrun(24, {DType::kInt16}), kUnharmed, kNeverWritten}},
          {"different_sizes",
           R"(
x: int8[1,3,5,2] scale 0.5 zero_point 3 = input
padded: int8[1,5,7,2] scale 0.5 zero_point 3 = pad(before={0,1,1,0}, after={0,1,1,0}, value=5) x
large: int8[1,5,7,2] scale 0.3 zero_point 0 = requantize() padded
small: int8[1,7,2] scale 0.25 zero_point 0 = reduce(kind=mean, axes={1}) large
output small
output large
)",
           {overrun(56), kUnharmed}},
          {"constant_output",
           kWideInside + R"(
table: int8[1,3] scale 0.5 zero_point 0 = const {5,-6,7}
output table
output y
)",
           {kUnharmed, overrun(24, {DType::kInt16})}},
          {"view_of_input",
           R"(
x: int8[1,2,3,4] scale 0.5 zero_point 3 = input
flat: int8[1,24] scale 0.5 zero_point 3 = reshape(shape={1,24}) x
wide: int16[1,24] scale 0.0005 zero_point 0 = requantize() flat
inner: int8[1,24] scale 0.25 zero_point -2 = requantize() wide
y: int8[1,24] scale 0.25 zero_point -2 = clamp(low=-100, high=90) inner
output flat
output y
)",
           {kUnharmed, overrun(24, {DType::kInt16})}},
          {"view_of_output",
           kWideInside + R"(
cube: int8[2,3,4] scale 0.25 zero_point -2 = reshape(shape={2,3,4}) y
output y
output cube
)",
           {overrun(24, {DType::kInt16}), kNeverWritten}},
          {"output_in_concatenation",
           kWideInside + R"(
joined: int8[1,72] scale 0.25 zero_point -2 = concat(axis=1) y, inner, y
output y
output joined
)",
           {overrun(24, {DType::kInt16}), kUnharmed}}};
}

}  // namespace

const std::vector<GuaranteeGraph>& guarantee_graphs() {
  static const std::vector<GuaranteeGraph> graphs = [] {
    std::vector<GuaranteeGraph> all = narrow_outputs();
    for (GuaranteeGraph& graph : shared_outputs()) all.push_back(std::move(graph));
    return all;
  }();
  return graphs;
}

Graph graph_of(const std::string& text) {
  Result<Graph> graph = parse_graph("graph \"net\"\n" + text);
  if (!graph) throw InternalError(graph.error().front().what);
  return *std::move(graph);
}

}  // namespace ingot::testing
