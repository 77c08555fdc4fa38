// SPDX-License-Identifier: Apache-2.0
// The graph as a value: its text form, its verifier, who uses what.
#include "graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"
#include "graph/verify.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Graph parsed(std::string_view text) {
  const Result<Graph> graph = parse_graph(text);
  if (!graph) {
    ADD_FAILURE() << graph.error()[0].where << ": " << graph.error()[0].what << "\n" << text;
    return {};
  }
  return *graph;
}

// Every operator, field kind, constant form and quantisation once.
constexpr std::string_view kEverything =
    R"(graph "net \"quoted\" \xff"
x: int8[1,4,4,1] scale 0.5 zero_point 3 = input
"two words": float32[] = input
w: int8[2,2,2,1] scales {0.1,0.25} zero_points {0,0} axis 0 = const {1,-2,3,-128,127,6,7,8}
b: int32[2] = const {-2147483648,2147483647}
a:0: int8[1,2,2,2] scale 0.3 zero_point 0 = conv_2d(stride_h=2, padding={0,1,2,3}) x, w, b
c: int8[1,2,2,2] scale 0.2 zero_point -1 = conv_2d(zero_point_in_bias=true) x, w, _ -> int8[1,2,2,2] scale 0.1 zero_point 0 | binary(kind=mul) a:0, % -> int8[1,2,2,2] scale 0.7 zero_point 1 | clamp(low=-inf, high=100.5) % node "c d" sources 0,17
e: float32[] = unary(kind=tanh) "two words"
p: int8[1,4,4,1] scale 0.5 zero_point 3 = pool_2d(kind=max, kernel_h=2) x sources 3
s1: int8[1] scale 1 zero_point 0, s2: int8[2] scale 1e-10 zero_point 0 = copy p node "split"
t: float32[2] = pad(before={1}, after={2}, value=0.1) e
r: float64[] = reduce(kind=mean, axes={0,2}, keep_dims=true) e
n: uint8[] = copy node "without operands" sources 1
v: int64[2] = const {-9223372036854775808,9223372036854775807}
u: uint64[1] = const {18446744073709551615}
h: float16[2] = const hex 00ff017f
nan: float32[1] = const hex ffffffff
f: float32[3] = const {0.1,-0,3.4028235e+38}
z: int8[100] = const zeros
empty: int8[0] = const {}
nothing: bool[1] = none
output c
output "two words"
output c
output z
)";

TEST(GraphText, PrintsWhatItParses) {
  const Graph graph = parsed(kEverything);
  EXPECT_EQ(print(graph), kEverything);
  EXPECT_EQ(parsed(print(graph)), renumbered(graph));
}

TEST(GraphText, ParsesFreely) {
  const Graph graph = parsed(R"(
# a comment
x : int8 [ 1 , 2 ] scale 0.5 zero_point 0 = input  # another
y: int8[1,2] scale 0.5 zero_point 0 = clamp ( low = -1 , high = 1e0 ) x
z: int8[1,2] scale 0.5 zero_point 0 = binary() y,x
output z)");
  EXPECT_THAT(find_faults(graph), IsEmpty());
  EXPECT_EQ(print(graph),
            "graph \"\"\n"
            "x: int8[1,2] scale 0.5 zero_point 0 = input\n"
            "y: int8[1,2] scale 0.5 zero_point 0 = clamp(low=-1, high=1) x\n"
            "z: int8[1,2] scale 0.5 zero_point 0 = binary(kind=add) y, x\n"
            "output z\n");
}

TEST(GraphText, NumbersValuesInTheOrderOfTheText) {
  Graph graph;
  const ValueId y = graph.add({"y", {DType::kInt8, {1}, {}}, {}});
  const ValueId w = graph.add({"w", {DType::kInt8, {1}, {}}, Bytes({7})});
  const ValueId x = graph.add({"x", {DType::kInt8, {1}, {}}, {}});
  graph.inputs = {x};
  graph.outputs = {y};
  graph.nodes.push_back({"y", Binary{}, {x, w}, {y}, {}, {DType::kFloat32, {3}, {}}, {}});
  const Graph ordered = renumbered(graph);
  EXPECT_EQ(ordered.values[0].name, "x");
  EXPECT_EQ(ordered.values[1].name, "w");
  EXPECT_EQ(ordered.values[2].name, "y");
  EXPECT_EQ(print(ordered), print(graph));
  EXPECT_EQ(parsed(print(graph)), ordered);
}

TEST(GraphText, LongConstantsCanBeHidden) {
  const Graph graph = parsed("w: int8[3] = const {1,2,3}");
  EXPECT_THAT(print(graph, {.longest_constant_bytes = 2}), HasSubstr("w: int8[3] = const ...\n"));
  EXPECT_FALSE(parse_graph(print(graph, {.longest_constant_bytes = 2})));
}

TEST(GraphText, PrintsIndicesThatNameNothing) {
  Graph graph;
  graph.nodes.push_back({"n", Copy{}, {{5}}, {{6}}, {}, {}, {}});
  EXPECT_EQ(print(graph), "graph \"\"\n?6 = copy ?5 node \"n\"\n");
}

TEST(GraphText, RefusesBadSyntaxWithTheLine) {
  const struct {
    const char* text;
    const char* message;
  } rows[] = {
      {"x", "line 1: expected ':'"},
      {"\n\nx: int9[1] = input", "line 3: expected an element type"},
      {"x: int8 = input", "line 1: expected '['"},
      {"x: int8[1 = input", "line 1: expected ']'"},
      {"x: int8[99999999999999999999] = input", "line 1: the number is out of range"},
      {"x: int8[] scale q = input", "line 1: expected a number"},
      {"x: int8[] scale 1 = input", "line 1: expected 'zero_point'"},
      {"x: int8[1] scales {1} = input", "line 1: expected 'zero_points'"},
      {"x: int8[1] scales {1} zero_points {1} = input", "line 1: expected 'axis'"},
      {"x: int8[] = input y", "line 1: expected the end of the line"},
      {"x: int8[] = foo", "line 1: there is no operator \"foo\""},
      {"x: int8[] = input\nx: int8[1] = none", "line 2: \"x\" has another type above"},
      {"x: int8[] = clamp(lo=1) x", "line 1: clamp has no field \"lo\""},
      {"x: int8[] = clamp(low=1 x", "line 1: expected ')'"},
      {"x: int8[] = binary(kind=div) x, x", "line 1: binary has no such kind"},
      {"x: int8[] = reduce(keep_dims=7) x", "line 1: expected 'true' or 'false'"},
      {"x: int8[] = conv_2d(padding={1,2}) x", "line 1: expected four numbers"},
      {"x: int8[] = copy y", "line 1: \"y\" is not declared"},
      {"x: int8[] = copy x -> int8[] | clamp x", "line 1: a step needs '%'"},
      {"x: int8[1] = const {300}", "line 1: the number is out of range"},
      {"x: float16[1] = const {3}", "line 1: elements of this type are written in hex"},
      {"x: int8[9,9999999999] = const zeros", "line 1: the constant is too large"},
      {"x: int8[4000000000,4000000000,4000000000] = const zeros", "the constant is too large"},
      {"x: int8[-1] = const zeros", "line 1: the constant is too large"},
      {"graph \"\\xzz\"", "line 1: expected two hexadecimal digits"},
      {"graph \"open", "line 1: expected '\"'"},
      {"output: int8[] = none", "line 1: expected a name"},
  };
  for (const auto& row : rows) {
    const Result<Graph> graph = parse_graph(row.text);
    ASSERT_FALSE(graph) << row.text;
    EXPECT_THAT(graph.error()[0].where + ": " + graph.error()[0].what, HasSubstr(row.message));
  }
}

// No prefix of a text and no text with a byte replaced makes the parser do worse than refuse it.
TEST(GraphText, SurvivesTruncationAndCorruption) {
  for (size_t length = 0; length < kEverything.size(); ++length) {
    const Result<Graph> graph = parse_graph(kEverything.substr(0, length));
    if (graph) {
      EXPECT_TRUE(parse_graph(print(*graph)));
    }
  }
  uint32_t random = 1;
  for (int i = 0; i < 3000; ++i) {
    std::string text(kEverything);
    random = random * 1664525U + 1013904223U;
    text[(random >> 8) % text.size()] = static_cast<char>("{}[],:=\"\\x0-9%|#\n\xff"[i % 18]);
    const Result<Graph> graph = parse_graph(text);
    if (graph) find_faults(*graph);
  }
}

TEST(GraphVerify, FindsEveryFault) {
  const struct {
    const char* text;
    const char* fault;
  } rows[] = {
      {"x: int8[1] = input\nx: int8[1] = input", "\"x\" is an input twice"},
      {"x: int8[1] = input\nx: int8[1] = const {1}", "the input \"x\" is a constant"},
      {"x: int8[1] = input\ny: int8[1] = copy x\ny: int8[1] = copy x",
       "\"y\" has more than one origin"},
      {"x: int8[1] = input\nx: int8[1] = copy x", "\"x\" has more than one origin"},
      {"w: int8[1] = const {1}\nw: int8[1] = copy w", "\"w\" has more than one origin"},
      {"x: int8[1] = copy y\ny: int8[1] = copy x", "node \"x\" reads \"y\" before it is written"},
      {"x: int8[1] = none\ny: int8[1] = copy x", "node \"y\" reads \"x\" before it is written"},
      {"x: int8[1] = none\noutput x", "the output \"x\" has no origin"},
      {"x: int8[2] = const {1}", "the constant \"x\" has 1 bytes, its type says 2"},
      {"\"\": int8[1] = input", "value 0 has no name"},
      {"x: int8[-1] = input", "the value \"x\" has an extent below 0"},
      {"x: int8[4000000000,4000000000,0,4000000000] = input", "more bytes than can be counted"},
      {"x: int64[2000000000,1000000000] = input", "more bytes than can be counted"},
      {"x: float32[1] scale 1 zero_point 0 = input", "its elements are no integers"},
      {"x: int8[1] scale 0 zero_point 0 = input", "the scale 0, which is not finite and above 0"},
      {"x: int8[1] scale -1 zero_point 0 = input", "the scale -1, which"},
      {"x: int8[1] scale inf zero_point 0 = input", "the scale inf, which"},
      {"x: int8[1] scale nan zero_point 0 = input", "the scale nan, which"},
      {"x: int8[1] scale 1 zero_point 128 = input", "the zero point 128, outside int8"},
      {"x: uint8[1] scale 1 zero_point -1 = input", "the zero point -1, outside uint8"},
      {"x: int8[2] scales {1} zero_points {0} axis 0 = input", "has 1 scales instead of 2"},
      {"x: int8[2] scales {1,1} zero_points {0} axis 0 = input", "has 1 zero points for 2 scales"},
      {"x: int8[2] scales {1,1} zero_points {0,0} axis -1 = input", "has 2 scales instead of 1"},
      {"x: int8[2] scales {1} zero_points {0} axis 1 = input", "along axis 1, beyond its rank"},
      {"x: int8[1] = input\ny: int8[1] = copy x -> int8[1] | clamp % -> int16[1]",
       "the last step does not yield the type of the output"},
      {"x: int8[1] = input\ny: int8[1] = copy x -> int8[2] | clamp %",
       "a step yields int8[2], the output is int8[1]"},
      {"x: int8[1] = input\ny: int8[1], z: int8[1] = copy x -> int8[1] | clamp %",
       "node \"y\" has an epilogue and 2 outputs"},
      {"x: int8[1] = input\ny: int8[1] = copy x -> int8[1] | binary() %, z\nz: int8[1] = copy x",
       "node \"y\" reads \"z\" before it is written"},
      {"x: int8[1] = input\ny: int8[1] = copy x sources 1,1", "the sources are not ascending"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(find_faults(parsed(row.text)), ElementsAre(HasSubstr(row.fault))) << row.text;
  }
}

// Faults that the text form cannot state.
TEST(GraphVerify, FindsBadIndicesAndNames) {
  const Value x{"x", {DType::kInt8, {1}, {}}, {}};
  EXPECT_THAT(find_faults(Graph{"", {x, x}, {}, {}, {}}),
              ElementsAre("two values are named \"x\""));
  EXPECT_THAT(
      find_faults(Graph{"", {x}, {}, {{1}}, {{-1}}}),
      ElementsAre("an input of the graph names no value", "an output of the graph names no value"));
  const Node no_output{"n", Copy{}, {{0}}, {}, {}, {}, {}};
  EXPECT_THAT(find_faults(Graph{"", {x}, {no_output}, {{0}}, {}}),
              ElementsAre("node \"n\" has no output"));
  const Step step{Clamp{}, {{7}}, 0, x.type};
  const Node bad_indices{"n", Copy{}, {{1}, {-1}}, {{-1}}, {step}, x.type, {}};
  EXPECT_THAT(
      find_faults(Graph{"", {x}, {bad_indices}, {{0}}, {}}),
      ElementsAre("node \"n\": an input names no value", "node \"n\": an output names no value",
                  "node \"n\": an operand of a step names no value"));
  const Value y{"y", {DType::kInt8, {1}, {}}, {}};
  const Node bad_position{"n", Copy{}, {{0}}, {{1}}, {{Clamp{}, {}, 1, x.type}}, x.type, {}};
  EXPECT_THAT(find_faults(Graph{"", {x, y}, {bad_position}, {{0}}, {}}),
              ElementsAre("node \"n\": the position of a step is beyond its operands"));
}

TEST(GraphVerify, AcceptsWhatIsUnusualButGood) {
  for (const char* text : {
           "",
           "x: int8[0] = input\noutput x\noutput x",
           "w: int8[1] = const {1}\noutput w",
           "x: int8[] = input\ny: int8[] = copy x\n",
           "w: int8[0,2] scales {} zero_points {} axis 0 = const {}",
       }) {
    EXPECT_THAT(find_faults(parsed(text)), IsEmpty()) << text;
  }
}

TEST(GraphUses, CountsReadersEpiloguesAndOutputs) {
  const Graph graph = parsed(R"(
x: int8[1] = input
y: int8[1] = binary() x, x -> int8[1] | binary() %, x
z: int8[1] = fully_connected y, x, _
output y
output y
output x)");
  const Uses uses = uses_of(graph);
  const ValueId x{0};
  const ValueId y{1};
  EXPECT_FALSE(uses.producer_of(x).present());
  EXPECT_EQ(uses.producer_of(y), NodeId{0});
  EXPECT_THAT(uses.readers_of(x), ElementsAre(NodeId{0}, NodeId{0}, NodeId{0}, NodeId{1}));
  EXPECT_EQ(uses.num_uses(x), 5);
  EXPECT_EQ(uses.num_uses(y), 3);
}

TEST(GraphOps, DisplayNames) {
  EXPECT_EQ(display_name(Conv2D{}), "conv_2d");
  EXPECT_EQ(display_name(Binary{Binary::Kind::kMul}), "mul");
  EXPECT_EQ(display_name(Unary{Unary::Kind::kTanh}), "tanh");
  EXPECT_EQ(display_name(Reduce{}), "mean");
  EXPECT_EQ(display_name(Pool2D{}), "average_pool_2d");
  Pool2D pool;
  pool.kind = Pool2D::Kind::kMax;
  EXPECT_EQ(display_name(pool), "max_pool_2d");
  EXPECT_EQ(print(Op(Softmax{}), true), "softmax(beta=1)");
  EXPECT_EQ(print(Op(Softmax{})), "softmax");
}

}  // namespace
}  // namespace ingot
