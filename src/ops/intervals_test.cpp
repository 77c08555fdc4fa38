// SPDX-License-Identifier: Apache-2.0
// Intervals: by hand, with borders, and sound on every small shape of every operator.
#include "ops/intervals.h"

#include <gmock/gmock.h>

#include "graph/text.h"
#include "ops/access.h"
#include "tests/support/element_cases.h"
#include "tests/support/one_node.h"
#include "tests/support/operator_cases.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using testing::OneNode;
using testing::TestInput;

Graph parsed(const char* text) {
  const Result<Graph> graph = parse_graph(text);
  EXPECT_TRUE(graph) << text;
  return *graph;
}

Graph graph_of(const OneNode& data) {
  Graph graph;
  graph.name = "one";
  Node node;
  node.name = "node";
  node.op = data.op;
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    const TestInput& input = data.inputs[i];
    if (input.absent) {
      node.inputs.emplace_back();
      continue;
    }
    const ValueId id = graph.add({"x" + std::to_string(i), input.type, std::nullopt});
    if (input.constant) {
      graph[id].constant = input.bytes;
    } else {
      graph.inputs.push_back(id);
    }
    node.inputs.push_back(id);
  }
  for (const TensorType& type : output_types(data)) {
    node.outputs.push_back(graph.add({"y" + std::to_string(graph.values.size()), type, {}}));
  }
  graph.outputs = node.outputs;
  graph.nodes = {node};
  return graph;
}

// Elements of the node's result that its intervals do not contain.
int64_t num_outside(const OneNode& node) {
  const OneNode data = with_data(node);
  const Graph graph = graph_of(data);
  const ValueId output = graph.outputs.at(0);
  const TensorType& type = graph[output].type;
  if (!is_integer(type.dtype)) return 0;
  const std::vector<std::vector<uint8_t>> results = reference_outputs(data);
  const Intervals intervals = analyse_intervals(graph, data.rounding);
  const std::vector<Interval>& channels = intervals.values.at(static_cast<size_t>(output.index));
  int64_t outside = 0;
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const size_t channel = static_cast<size_t>(i) % channels.size();
    outside += channels[channel].contains(int_at({&type, results.at(0)}, i)) ? 0 : 1;
  }
  return outside;
}

TEST(Intervals, HoldEveryResultOfEverySmallShape) {
  using namespace testing;
  for (const auto& cases : {conv_2d_cases(), depthwise_conv_2d_cases(), fully_connected_cases(),
                            pool_2d_cases(), binary_cases(), elementwise_cases(), pad_cases(),
                            reduce_cases(), move_cases(), concat_cases(), softmax_cases()}) {
    ASSERT_FALSE(cases.empty());
    for (size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(num_outside(cases[i]), 0) << name_of(cases[i].op) << " case " << i;
    }
  }
}

TEST(Intervals, ASumHasTheEndsThatItsTermsHave) {
  const Graph graph = parsed(R"(graph "net"
x: int8[1,2] scale 1 zero_point -128 = input
w: int8[3,2] scale 1 zero_point 0 = const {3,-2,0,0,1,1}
b: int32[3] scale 1 zero_point 0 = const {5,-300,0}
y: int8[1,3] scale 100 zero_point 4 = fully_connected() x, w, b
output y
)");
  // x - zero_point is in 0 .. 255.
  const AccumulatorRange first = {{5 - 510, 5 + 765}, {-510, 770}, {-1, 12}};
  const AccumulatorRange second = {{-300, -300}, {-300, 0}, {1, 1}};
  const AccumulatorRange third = {{0, 510}, {0, 510}, {4, 9}};
  EXPECT_EQ(accumulator_ranges(graph, {0}, Rounding::kDouble),
            (std::vector<AccumulatorRange>{first, second, third}));
}

TEST(Intervals, TheEpilogueNarrowsTheValueNotTheAccumulator) {
  const Graph graph = parsed(R"(graph "net"
x: int8[1,1] scale 1 zero_point 0 = input
w: int8[2,1] scale 1 zero_point 0 = const {1,0}
y: int8[1,2] scale 1 zero_point 0 = fully_connected() x, w, _ -> int8[1,2] scale 1 zero_point 0 | clamp(low=0, high=6) %
output y
)");
  const Intervals intervals = analyse_intervals(graph, Rounding::kDouble);
  EXPECT_THAT(intervals.values.at(static_cast<size_t>(graph.outputs[0].index)),
              ElementsAre(Interval{0, 6}, Interval{0, 0}));
  EXPECT_EQ(intervals.accumulators.at(0).at(0).total, (Interval{-128, 127}));
}

TEST(Intervals, AtABorderFewerTermsAreSummed) {
  // The clamped x is 10 everywhere. Three taps of weight 1: 30 inside, 20 at both ends.
  const Graph graph = parsed(R"(graph "net"
x: int8[1,1,5,1] scale 1 zero_point 0 = input
c: int8[1,1,5,1] scale 1 zero_point 0 = clamp(low=10, high=10) x
w: int8[1,1,3,1] scale 1 zero_point 0 = const {1,1,1}
y: int8[1,1,5,1] scale 1 zero_point 0 = conv_2d(padding={0,0,1,1}) c, w, _
z: int8[1,1,3,1] scale 1 zero_point 0 = conv_2d() c, w, _
output y
output z
)");
  const Intervals intervals = analyse_intervals(graph, Rounding::kDouble);
  EXPECT_EQ(intervals.accumulators.at(1).at(0).total, (Interval{20, 30}));
  EXPECT_EQ(intervals.accumulators.at(1).at(0).partial, (Interval{0, 30}));
  EXPECT_EQ(intervals.accumulators.at(2).at(0).total, (Interval{30, 30}));
}

TEST(Intervals, RegroupKeepsWhatCanMeet) {
  const std::vector<Interval> pair = {{0, 1}, {5, 6}};
  EXPECT_THAT(regroup(pair, 4),
              ElementsAre(Interval{0, 1}, Interval{5, 6}, Interval{0, 1}, Interval{5, 6}));
  EXPECT_THAT(regroup({{0, 1}, {5, 6}, {2, 9}, {7, 7}}, 2),
              ElementsAre(Interval{0, 9}, Interval{5, 7}));
  EXPECT_THAT(regroup(pair, 3), ElementsAre(Interval{0, 6}, Interval{0, 6}, Interval{0, 6}));
}

}  // namespace
}  // namespace ingot
