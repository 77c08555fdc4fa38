// SPDX-License-Identifier: Apache-2.0
// Passes as text: a graph, the passes to run, the graph that must come out. Where nothing may
// happen, `after` is empty.
#include "passes/passes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "graph/text.h"
#include "graph/verify.h"

namespace ingot {
namespace {

struct Case {
  const char* title;
  const char* passes;  // separated by blanks
  const char* before;
  const char* after;
};

Graph run(const std::string& passes, Graph graph) {
  const std::map<std::string, std::function<Graph(Graph)>> known = {
      {"fold_constants", [](Graph g) { return fold_constants(std::move(g), Rounding::kDouble); }},
      {"fold_padding", fold_padding},
      {"simplify_reshapes", simplify_reshapes},
      {"drop_clamps", [](Graph g) { return drop_clamps(std::move(g), Rounding::kDouble); }},
      {"fuse_epilogues", fuse_epilogues},
      {"fold_zero_points", fold_zero_points},
      {"remove_dead_nodes", remove_dead_nodes}};
  size_t begin = 0;
  while (begin < passes.size()) {
    const size_t end = std::min(passes.find(' ', begin), passes.size());
    graph = known.at(passes.substr(begin, end - begin))(std::move(graph));
    EXPECT_THAT(find_faults(graph), testing::IsEmpty());
    begin = end + 1;
  }
  return graph;
}

const Case kCases[] = {
    {"padding with the zero point becomes the convolution's", "fold_padding remove_dead_nodes",
     R"(graph "net"
x: int8[1,3,4,1] scale 0.5 zero_point 7 = input
p: int8[1,5,6,1] scale 0.5 zero_point 7 = pad(before={0,1,1,0}, after={0,1,1,0}, value=7) x sources 0
w: int8[1,3,3,1] scale 0.25 zero_point 0 = const {1,2,3,4,5,6,7,8,9}
y: int8[1,3,4,1] scale 1 zero_point 0 = conv_2d() p, w, _ sources 1
output y
)",
     R"(graph "net"
x: int8[1,3,4,1] scale 0.5 zero_point 7 = input
w: int8[1,3,3,1] scale 0.25 zero_point 0 = const {1,2,3,4,5,6,7,8,9}
y: int8[1,3,4,1] scale 1 zero_point 0 = conv_2d(padding={1,1,1,1}) x, w, _ sources 0,1
output y
)"},
    {"padding with another value stays", "fold_padding",
     R"(graph "net"
x: int8[1,3,4,1] scale 0.5 zero_point 7 = input
p: int8[1,5,6,1] scale 0.5 zero_point 7 = pad(before={0,1,1,0}, after={0,1,1,0}, value=0) x
w: int8[1,3,3,1] scale 0.25 zero_point 0 = const {1,2,3,4,5,6,7,8,9}
y: int8[1,3,4,1] scale 1 zero_point 0 = conv_2d() p, w, _
output y
)",
     ""},
    {"padding that is an output stays", "fold_padding",
     R"(graph "net"
x: int8[1,3,4,1] scale 0.5 zero_point 7 = input
p: int8[1,5,6,1] scale 0.5 zero_point 7 = pad(before={0,1,1,0}, after={0,1,1,0}, value=7) x
w: int8[1,3,3,1] scale 0.25 zero_point 0 = const {1,2,3,4,5,6,7,8,9}
y: int8[1,3,4,1] scale 1 zero_point 0 = conv_2d() p, w, _
output y
output p
)",
     ""},
    {"padding of channels stays", "fold_padding",
     R"(graph "net"
x: int8[1,3,4,1] scale 0.5 zero_point 7 = input
p: int8[1,3,4,2] scale 0.5 zero_point 7 = pad(before={0,0,0,0}, after={0,0,0,1}, value=7) x
w: int8[1,3,3,2] scale 0.25 zero_point 0 = const zeros
y: int8[1,1,2,1] scale 1 zero_point 0 = conv_2d() p, w, _
output y
)",
     ""},
    {"a clamp of what another has already bounded goes", "drop_clamps remove_dead_nodes",
     R"(graph "net"
x: int8[1,2,2,1] scale 0.5 zero_point 0 = input
a: int8[1,2,2,1] scale 0.5 zero_point 0 = clamp(low=0, high=12) x
p: int8[1,1,1,1] scale 0.5 zero_point 0 = pool_2d(kind=max, kernel_h=2, kernel_w=2) a
b: int8[1,1,1,1] scale 0.5 zero_point 0 = clamp(low=0, high=127) p
y: int8[1,1] scale 0.5 zero_point 0 = reshape(shape={1,1}) b
output y
)",
     R"(graph "net"
x: int8[1,2,2,1] scale 0.5 zero_point 0 = input
a: int8[1,2,2,1] scale 0.5 zero_point 0 = clamp(low=0, high=12) x
b: int8[1,1,1,1] scale 0.5 zero_point 0 = pool_2d(kind=max, kernel_h=2, kernel_w=2) a node "p"
y: int8[1,1] scale 0.5 zero_point 0 = reshape(shape={1,1}) b
output y
)"},
    {"clamps in a row that do nothing go, the tensor behind the last keeps its name",
     "drop_clamps remove_dead_nodes",
     R"(graph "net"
x: int8[1,2] scale 0.5 zero_point 0 = input
z: int8[1,2] scale 0.5 zero_point 0 = input
s: int8[1,2] scale 1 zero_point 0 = binary(kind=add) x, z sources 0
a: int8[1,2] scale 1 zero_point 0 = clamp(low=-128, high=127) s sources 1
b: int8[1,2] scale 1 zero_point 0 = clamp(low=-inf, high=inf) a sources 2
output b
)",
     R"(graph "net"
x: int8[1,2] scale 0.5 zero_point 0 = input
z: int8[1,2] scale 0.5 zero_point 0 = input
b: int8[1,2] scale 1 zero_point 0 = binary(kind=add) x, z node "s" sources 0,1,2
output b
)"},
    {"a clamp that changes one channel stays", "drop_clamps",
     R"(graph "net"
x: int8[1,1] scale 1 zero_point 0 = input
w: int8[2,1] scale 1 zero_point 0 = const {0,1}
h: int8[1,2] scale 2 zero_point 0 = fully_connected() x, w, _
a: int8[1,2] scale 2 zero_point 0 = clamp(low=-64, high=63) h
y: int8[2] scale 2 zero_point 0 = reshape(shape={2}) a
output y
)",
     ""},
    {"an activation becomes a step of its producer", "fuse_epilogues remove_dead_nodes",
     R"(graph "net"
x: int8[1,4] scale 0.5 zero_point 0 = input
w: int8[2,4] scale 0.25 zero_point 0 = const {1,2,3,4,5,6,7,8}
a: int8[1,2] scale 1 zero_point -5 = fully_connected() x, w, _ sources 0
y: int8[1,2] scale 1 zero_point -5 = clamp(low=-5, high=127) a sources 0
output y
)",
     R"(graph "net"
x: int8[1,4] scale 0.5 zero_point 0 = input
w: int8[2,4] scale 0.25 zero_point 0 = const {1,2,3,4,5,6,7,8}
y: int8[1,2] scale 1 zero_point -5 = fully_connected() x, w, _ -> int8[1,2] scale 1 zero_point -5 | clamp(low=-5, high=127) % node "a" sources 0
output y
)"},
    {"an activation of what is an output too stays", "fuse_epilogues",
     R"(graph "net"
x: int8[1,4] scale 0.5 zero_point 0 = input
w: int8[2,4] scale 0.25 zero_point 0 = const {1,2,3,4,5,6,7,8}
a: int8[1,2] scale 1 zero_point -5 = fully_connected() x, w, _
y: int8[1,2] scale 1 zero_point -5 = clamp(low=-5, high=127) a
output y
output a
)",
     ""},
    {"an activation of what has two readers stays", "fuse_epilogues",
     R"(graph "net"
x: int8[1,4] scale 0.5 zero_point 0 = input
w: int8[2,4] scale 0.25 zero_point 0 = const {1,2,3,4,5,6,7,8}
a: int8[1,2] scale 1 zero_point -5 = fully_connected() x, w, _
y: int8[1,2] scale 1 zero_point -5 = softmax() a
z: int8[1,2] scale 1 zero_point -5 = clamp(low=-5, high=127) a
output y
output z
)",
     ""},
    {"two clamps become one", "fuse_epilogues remove_dead_nodes",
     R"(graph "net"
x: int8[1,4] scale 0.5 zero_point 0 = input
w: int8[2,4] scale 0.25 zero_point 0 = const {1,2,3,4,5,6,7,8}
a: int8[1,2] scale 1 zero_point -5 = fully_connected() x, w, _
b: int8[1,2] scale 1 zero_point -5 = clamp(low=-5, high=100) a
y: int8[1,2] scale 1 zero_point -5 = clamp(low=-50, high=90) b
output y
)",
     R"(graph "net"
x: int8[1,4] scale 0.5 zero_point 0 = input
w: int8[2,4] scale 0.25 zero_point 0 = const {1,2,3,4,5,6,7,8}
y: int8[1,2] scale 1 zero_point -5 = fully_connected() x, w, _ -> int8[1,2] scale 1 zero_point -5 | clamp(low=-5, high=90) % node "a"
output y
)"},
    {"a residual addition joins the later of its producers", "fuse_epilogues remove_dead_nodes",
     R"(graph "net"
x: int8[1,2] scale 0.5 zero_point 0 = input
w: int8[2,2] scale 0.25 zero_point 0 = const {1,2,3,4}
a: int8[1,2] scale 1 zero_point 0 = fully_connected() x, w, _
b: int8[1,2] scale 1 zero_point 0 = fully_connected() a, w, _
y: int8[1,2] scale 1 zero_point 0 = binary() a, b
output y
)",
     R"(graph "net"
x: int8[1,2] scale 0.5 zero_point 0 = input
w: int8[2,2] scale 0.25 zero_point 0 = const {1,2,3,4}
a: int8[1,2] scale 1 zero_point 0 = fully_connected() x, w, _
y: int8[1,2] scale 1 zero_point 0 = fully_connected() a, w, _ -> int8[1,2] scale 1 zero_point 0 | binary() a, % node "b"
output y
)"},
    {"an operand that is computed later keeps the addition apart", "fuse_epilogues",
     R"(graph "net"
x: int8[1,2] scale 0.5 zero_point 0 = input
w: int8[2,2] scale 0.25 zero_point 0 = const {1,2,3,4}
a: int8[1,2] scale 1 zero_point 0 = fully_connected() x, w, _
b: int8[1,2] scale 1 zero_point 0 = softmax() x
c: int8[1,2] scale 1 zero_point 0 = softmax() b
y: int8[1,2] scale 1 zero_point 0 = binary() a, c
z: int8[1,2] scale 1 zero_point 0 = binary() c, b
output y
output z
)",
     ""},
    {"a reshape in between keeps the activation apart", "fuse_epilogues",
     R"(graph "net"
x: int8[1,2] scale 0.5 zero_point 0 = input
r: int8[2] scale 0.5 zero_point 0 = reshape(shape={2}) x
y: int8[2] scale 0.5 zero_point 0 = clamp(low=0, high=5) r
output y
)",
     ""},
    {"the zero point goes into the bias", "fold_zero_points remove_dead_nodes",
     R"(graph "net"
x: int8[1,2] scale 0.5 zero_point 10 = input
w: int8[2,2] scale 0.25 zero_point 0 = const {1,2,3,4}
b: int32[2] = const {100,200}
y: int8[1,2] scale 1 zero_point 0 = fully_connected() x, w, b
output y
)",
     R"(graph "net"
x: int8[1,2] scale 0.5 zero_point 10 = input
w: int8[2,2] scale 0.25 zero_point 0 = const {1,2,3,4}
y/bias_with_zero_point: int32[2] = const {70,130}
y: int8[1,2] scale 1 zero_point 0 = fully_connected(zero_point_in_bias=true) x, w, y/bias_with_zero_point
output y
)"},
    {"an absent bias comes into being", "fold_zero_points remove_dead_nodes",
     R"(graph "net"
x: int8[1,1,1,2] scale 0.5 zero_point -3 = input
w: int8[1,1,1,2] scale 0.25 zero_point 0 = const {5,7}
y: int8[1,1,1,2] scale 1 zero_point 0 = depthwise_conv_2d() x, w, _
output y
)",
     R"(graph "net"
x: int8[1,1,1,2] scale 0.5 zero_point -3 = input
w: int8[1,1,1,2] scale 0.25 zero_point 0 = const {5,7}
y/bias_with_zero_point: int32[2] = const {15,21}
y: int8[1,1,1,2] scale 1 zero_point 0 = depthwise_conv_2d(zero_point_in_bias=true) x, w, y/bias_with_zero_point
output y
)"},
    {"a padded convolution keeps its zero point", "fold_zero_points",
     R"(graph "net"
x: int8[1,1,1,1] scale 0.5 zero_point -3 = input
w: int8[1,3,1,1] scale 0.25 zero_point 0 = const {5,7,9}
y: int8[1,1,1,1] scale 1 zero_point 0 = conv_2d(padding={1,1,0,0}) x, w, _
output y
)",
     ""},
    {"a bias that would leave int32 stays", "fold_zero_points",
     R"(graph "net"
x: int8[1,1] scale 0.5 zero_point -100 = input
w: int8[1,1] scale 0.25 zero_point 0 = const {100}
b: int32[1] = const {2147483647}
y: int8[1,1] scale 1 zero_point 0 = fully_connected() x, w, b
output y
)",
     ""},
    {"reshapes in a row become one", "simplify_reshapes remove_dead_nodes",
     R"(graph "net"
x: int8[2,3] scale 0.5 zero_point 0 = input
a: int8[6] scale 0.5 zero_point 0 = reshape(shape={6}) x
b: int8[3,2] scale 0.5 zero_point 0 = reshape(shape={3,2}) a
y: int8[3,2] scale 0.5 zero_point 0 = softmax() b
output y
)",
     R"(graph "net"
x: int8[2,3] scale 0.5 zero_point 0 = input
b: int8[3,2] scale 0.5 zero_point 0 = reshape(shape={3,2}) x
y: int8[3,2] scale 0.5 zero_point 0 = softmax() b
output y
)"},
    {"a reshape to the same shape goes", "simplify_reshapes remove_dead_nodes",
     R"(graph "net"
x: int8[2,3] scale 0.5 zero_point 0 = input
a: int8[2,3] scale 0.5 zero_point 0 = reshape(shape={2,3}) x
y: int8[2,3] scale 0.5 zero_point 0 = softmax() a
output y
)",
     R"(graph "net"
x: int8[2,3] scale 0.5 zero_point 0 = input
y: int8[2,3] scale 0.5 zero_point 0 = softmax() x
output y
)"},
    {"a reshape that is an output stays", "simplify_reshapes",
     R"(graph "net"
x: int8[2,3] scale 0.5 zero_point 0 = input
a: int8[2,3] scale 0.5 zero_point 0 = reshape(shape={2,3}) x
output a
)",
     ""},
    {"operators on constants are computed", "fold_constants remove_dead_nodes",
     R"(graph "net"
x: int8[3] scale 0.5 zero_point 0 = input
c: int8[3] scale 0.5 zero_point 0 = const {-9,1,99}
d: int8[3] scale 0.5 zero_point 0 = clamp(low=0, high=50) c
y: int8[3] scale 1 zero_point 0 = binary() x, d
output y
)",
     R"(graph "net"
x: int8[3] scale 0.5 zero_point 0 = input
d: int8[3] scale 0.5 zero_point 0 = const {0,1,50}
y: int8[3] scale 1 zero_point 0 = binary() x, d
output y
)"},
    {"what no output needs goes, inputs stay", "remove_dead_nodes",
     R"(graph "net"
x: int8[3] scale 0.5 zero_point 0 = input
unread: int8[3] scale 0.5 zero_point 0 = input
a: int8[3] scale 0.5 zero_point 0 = clamp(low=0, high=50) x
b: int8[3] scale 0.5 zero_point 0 = clamp(low=0, high=40) a
y: int8[3] scale 0.5 zero_point 0 = softmax() x
output y
)",
     R"(graph "net"
x: int8[3] scale 0.5 zero_point 0 = input
unread: int8[3] scale 0.5 zero_point 0 = input
y: int8[3] scale 0.5 zero_point 0 = softmax() x
output y
)"},
};

class Passes : public testing::TestWithParam<Case> {};

TEST_P(Passes, TextToText) {
  const Case& c = GetParam();
  const Result<Graph> before = parse_graph(c.before);
  ASSERT_TRUE(before) << before.error()[0].what;
  const Result<Graph> after = parse_graph(*c.after ? c.after : c.before);
  ASSERT_TRUE(after) << after.error()[0].what;
  ASSERT_THAT(find_faults(*before), testing::IsEmpty());
  EXPECT_EQ(print(run(c.passes, *before)), print(*after)) << c.title;
}

INSTANTIATE_TEST_SUITE_P(Table, Passes, testing::ValuesIn(kCases));

// A sum of many results, each of which is there before the sum begins.
TEST(FuseEpilogues, AddsNoMoreThanSixteenSteps) {
  const std::string type = ": int8[5] scale 0.5 zero_point 7 = ";
  std::string text = "graph \"net\"\nx" + type + "input\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("a{}{}binary(kind=mul) x, x\n", i, type);
  text += "s0" + type + "binary(kind=sub) x, x\n";
  for (int i = 0; i < 40; ++i) {
    text += fmt::format("s{}{}binary(kind=add) s{}, a{}\n", i + 1, type, i, i);
  }
  const Result<Graph> graph = parse_graph(text + "output s40\n");
  ASSERT_TRUE(graph.has_value());
  std::vector<size_t> steps;
  for (const Node& node : fuse_epilogues(*graph).nodes) {
    if (!node.epilogue.empty()) steps.push_back(node.epilogue.size());
  }
  EXPECT_THAT(steps, testing::ElementsAre(16, 16, 6));
}

TEST(Optimize, CallsItsHookAfterEachPassInOrder) {
  const Result<Graph> graph = parse_graph(kCases[0].before);
  ASSERT_TRUE(graph);
  std::vector<std::string> seen;
  const Graph result =
      optimize(*graph, Rounding::kDouble,
               [&](std::string_view pass, const Graph&) { seen.emplace_back(pass); });
  EXPECT_THAT(seen, testing::ElementsAre("fold_constants", "fold_padding", "simplify_reshapes",
                                         "shrink", "drop_clamps", "fuse_epilogues",
                                         "fold_zero_points", "remove_dead_nodes"));
  EXPECT_EQ(result.nodes.size(), 1U);
}

TEST(Legalize, NamesEveryNodeWhoseLimitsDoNotHold) {
  // Weights that are not constant are not supported.
  const Result<Graph> graph = parse_graph(R"(graph "net"
x: int8[1,2] scale 0.5 zero_point 0 = input
w: int8[2,2] scale 0.25 zero_point 0 = input
y: int8[1,2] scale 1 zero_point 0 = fully_connected() x, w, _ node "dense" sources 4
z: int8[1,2] scale 1 zero_point 0 = fully_connected() y, w, _ sources 5
output z
)");
  ASSERT_TRUE(graph);
  const Diagnostics diagnostics = legalize(*graph);
  ASSERT_EQ(diagnostics.size(), 2U);
  EXPECT_EQ(diagnostics[0].code, Code::kOperatorUnsupported);
  EXPECT_EQ(diagnostics[0].where, "fully_connected \"dense\" (operator 4)");
  EXPECT_THAT(diagnostics[0].notes, testing::Contains("input \"w\": int8[2,2]"));
  EXPECT_EQ(diagnostics[1].where, "fully_connected \"z\" (operator 5)");
}

}  // namespace
}  // namespace ingot
