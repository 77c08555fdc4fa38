// SPDX-License-Identifier: Apache-2.0
// Operators that take parts of a tensor or move its elements: what they become, and what is
// refused. Shapes are inferred here, so that a refusal of inference is one of the file.
#include <functional>

#include "ops/rules.h"
#include "tests/import/import_testing.h"
#include "tests/support/types.h"

namespace ingot::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Build = std::function<std::vector<int64_t>(TfliteWriter& w, int64_t x)>;

struct Row {
  Shape x;
  Build build;
  std::string nodes;  // of the graph's text; or what is wrong
};

std::vector<uint8_t> model_of(const Row& row) {
  TfliteWriter w;
  const int64_t x = w.input("x", int8_type(row.x));
  for (const int64_t y : row.build(w, x)) w.output(y);
  return w.bytes();
}

ImportOptions with_inference() {
  ImportOptions options;
  options.infer = [](const Op& op, Operands inputs, std::span<const TensorType> declared) {
    return rules_of(op).infer.call(op, inputs, declared);
  };
  return options;
}

// The operators of the graph's text, without types and names, a line each.
std::string nodes_of(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    text += print(node.op) + " -> " + print(graph[node.outputs[0]].type.shape) + "\n";
  }
  return text;
}

TEST(TfliteMoves, BecomeSlicesAndTransposes) {
  format::StridedSliceOptionsT shrinking;
  shrinking.shrink_axis_mask = 1;
  format::StridedSliceOptionsT open;
  open.begin_mask = 1;
  open.end_mask = 3;
  const std::vector<Row> rows = {
      {{4, 6},
       [](auto& w, int64_t x) {
         return std::vector{w.slice("y", x, {1, 2}, {2, -1})};
       },
       "slice(begin={1,2}, size={2,4}, strides={1,1}) -> [2,4]\n"},
      {{4, 6},
       [](auto& w, int64_t x) {
         return std::vector{w.strided_slice("y", x, {-3, 5}, {100, -100}, {1, -2}, {3, 3})};
       },
       "slice(begin={1,5}, size={3,3}, strides={1,-2}) -> [3,3]\n"},
      {{4, 6},
       [=](auto& w, int64_t x) {
         return std::vector{w.strided_slice("y", x, {2, 1}, {0, 3}, {1, 1}, {2}, shrinking)};
       },
       "slice(begin={2,1}, size={1,2}, strides={1,1}) -> [1,2]\nreshape(shape={2}) -> [2]\n"},
      {{4, 6},
       [=](auto& w, int64_t x) {
         return std::vector{w.strided_slice("y", x, {3, 1}, {0, 0}, {-1, 1}, {4, 5}, open)};
       },
       "slice(begin={3,1}, size={4,5}, strides={-1,1}) -> [4,5]\n"},
      {{4, 6},
       [](auto& w, int64_t x) {
         return std::vector{w.strided_slice("y", x, {1}, {3}, {1}, {2, 6})};
       },
       "slice(begin={1,0}, size={2,6}, strides={1,1}) -> [2,6]\n"},
      {{4, 6},
       [](auto& w, int64_t x) { return w.split("y", x, -1, 2); },
       "slice(begin={0,0}, size={4,3}, strides={1,1}) -> [4,3]\n"
       "slice(begin={0,3}, size={4,3}, strides={1,1}) -> [4,3]\n"},
      {{4, 6},
       [](auto& w, int64_t x) {
         return w.split("y", x, 0, 2, {3, 1});
       },
       "slice(begin={0,0}, size={3,6}, strides={1,1}) -> [3,6]\n"
       "slice(begin={3,0}, size={1,6}, strides={1,1}) -> [1,6]\n"},
      {{2, 3},
       [](auto& w, int64_t x) { return w.unpack("y", x, 0); },
       "slice(begin={0,0}, size={1,3}, strides={1,1}) -> [1,3]\nreshape(shape={3}) -> [3]\n"
       "slice(begin={1,0}, size={1,3}, strides={1,1}) -> [1,3]\nreshape(shape={3}) -> [3]\n"},
      {{2, 3, 4},
       [](auto& w, int64_t x) {
         return std::vector{w.transpose("y", x, {2, 0, -2})};
       },
       "transpose(permutation={2,0,1}) -> [4,2,3]\n"},
      {{1, 2, 3, 4},
       [](auto& w, int64_t x) { return std::vector{w.resize_nearest_neighbor("y", x, 4, 3)}; },
       "resize_nearest(height=4, width=3) -> [1,4,3,4]\n"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(nodes_of(imported(model_of(row), with_inference())), row.nodes);
  }
}

// Z08, Z10, Z20: steps of 0 have no end; axes, parts and places that are not there.
TEST(TfliteMoves, RefusesWhatMakesNoSense) {
  constexpr int64_t kMost = 2147483647;
  format::StridedSliceOptionsT ellipsis;
  ellipsis.ellipsis_mask = 1;
  const auto strided = [](std::vector<int64_t> begin, std::vector<int64_t> end,
                          std::vector<int64_t> strides, format::StridedSliceOptionsT options = {}) {
    return [=](TfliteWriter& w, int64_t x) {
      return std::vector{w.strided_slice("y", x, begin, end, strides, {1, 1}, options)};
    };
  };
  const auto sliced = [](std::vector<int64_t> begin, std::vector<int64_t> size) {
    return [=](TfliteWriter& w, int64_t x) { return std::vector{w.slice("y", x, begin, size)}; };
  };
  const std::vector<Row> rows = {
      {{4, 6}, strided({0, 0}, {4, 6}, {1, 0}), "from 0 to 6 by 0 makes no sense"},
      {{4, 6}, strided({0, 0}, {4, 6}, {1, -kMost - 1}), "makes no sense"},
      {{4, 6}, strided({0, 5}, {4, 1}, {1, 1}), "takes 0 elements of dimension 1"},
      {{4, 6}, strided({0, 0}, {4, 6}, {1, 1}, ellipsis), "an ellipsis, a new axis"},
      {{4, 6}, strided({0}, {4}, {1, 1}), "it has 1 begins, 1 ends and 2 strides for rank 2"},
      {{4, 6}, strided({0, 0, 0}, {4, 4, 4}, {1, 1, 1}), "for rank 2"},
      {{4, 6}, sliced({0, 7}, {4, -1}), "takes -1 elements"},
      {{4, 6}, sliced({-1, 0}, {4, 6}), "takes 4 elements of dimension 0 from -1 on"},
      {{4, 6}, sliced({1, 0}, {4, 6}), "takes 4 elements of dimension 0 from 1 on"},
      {{4, 6}, sliced({kMost, 0}, {1, 6}), "from 2147483647 on"},
      {{4, 6}, [](auto& w, int64_t x) { return w.split("y", x, 1, 4); }, "no 4 equal parts"},
      {{4, 6},
       [](auto& w, int64_t x) {
         return w.split("y", x, 1, 2, {3, 2});
       },
       "do not add up to 6"},
      {{2, 3},
       [](auto& w, int64_t x) {
         return std::vector{w.transpose("y", x, {1, 1})};
       },
       "[1,1] is no order"},
      {{1, 2, 3, 4},
       [](auto& w, int64_t x) { return std::vector{w.resize_nearest_neighbor("y", x, 0, 3)}; },
       "0 x 3"},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(faults_of(model_of(row), with_inference()), ElementsAre(HasSubstr(row.nodes)));
  }
}

}  // namespace
}  // namespace ingot::testing
