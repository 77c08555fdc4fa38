// SPDX-License-Identifier: Apache-2.0
#include "exec/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"

namespace ingot {
namespace {

using testing::ElementsAre;

Graph graph_of(std::string_view text) {
  const Result<Graph> graph = parse_graph(text);
  EXPECT_TRUE(graph.has_value());
  return graph ? *graph : Graph();
}

// Outputs 0 and 2 are one value, output 1 is the input, output 3 a constant; `b` lives on while
// later nodes run.
constexpr std::string_view kAwkward = R"(graph "awkward"
x: int8[4] scale 1 zero_point 0 = input
k: int8[2] scale 1 zero_point 0 = const {5,6}
a: int8[4] scale 1 zero_point 0 = clamp(low=0, high=2) x
b: int8[4] scale 1 zero_point 0 = clamp(low=1, high=9) a
c: int8[4] scale 1 zero_point 0 = clamp(low=-9, high=1) b
output b
output x
output b
output k
output c
)";

TEST(ReferenceExecutor, CopiesEveryResultToItsCaller) {
  const Graph graph = graph_of(kAwkward);
  const ReferenceExecutor executor(graph, Rounding::kDouble);
  const std::vector<TensorBytes> inputs = {{0xFF, 0, 1, 7}};
  const std::vector<TensorBytes> outputs = executor.run(inputs);
  EXPECT_THAT(outputs,
              ElementsAre(ElementsAre(1, 1, 1, 2), ElementsAre(0xFF, 0, 1, 7),
                          ElementsAre(1, 1, 1, 2), ElementsAre(5, 6), ElementsAre(1, 1, 1, 1)));
}

TEST(ReferenceExecutor, SharesMemoryOfDeadValues) {
  const Graph graph = graph_of(kAwkward);
  // a and c are not alive together.
  EXPECT_EQ(ReferenceExecutor(graph, Rounding::kDouble).arena_bytes(), 20);
}

TEST(ReferenceExecutor, RunAllHasEveryValue) {
  const Graph graph = graph_of(kAwkward);
  const ReferenceExecutor executor(graph, Rounding::kDouble);
  const std::vector<TensorBytes> inputs = {{0xFF, 0, 1, 7}};
  const std::vector<TensorBytes> values = executor.run_all(inputs);
  ASSERT_EQ(values.size(), graph.values.size());
  for (size_t v = 0; v < values.size(); ++v) {
    const Value& value = graph.values[v];
    EXPECT_EQ(static_cast<int64_t>(values[v].size()), value.type.size_bytes()) << value.name;
    if (value.name == "a") {
      EXPECT_THAT(values[v], ElementsAre(0, 0, 1, 2));
    } else if (value.name == "k") {
      EXPECT_THAT(values[v], ElementsAre(5, 6));
    }
  }
}

TEST(ReferenceExecutor, AGraphWithoutNodesIsNothingButCopies) {
  const Graph graph = graph_of("graph \"g\"\nx: int8[1] = input\noutput x\n");
  const ReferenceExecutor executor(graph, Rounding::kDouble);
  EXPECT_EQ(executor.arena_bytes(), 0);
  EXPECT_THAT(executor.run(std::vector<TensorBytes>{{3}}), ElementsAre(ElementsAre(3)));
}

}  // namespace
}  // namespace ingot
