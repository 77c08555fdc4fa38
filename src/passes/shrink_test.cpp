// SPDX-License-Identifier: Apache-2.0
// Shrinking as text: a graph and what must come out. Random networks are in
// tests/e2e/shrinking_test.cpp.
#include "passes/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"
#include "graph/verify.h"
#include "passes/channels.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Graph parsed(const std::string& text) {
  const Result<Graph> graph = parse_graph(text);
  EXPECT_TRUE(graph) << text;
  return *graph;
}

struct Case {
  const char* title;
  const char* before;
  const char* after;  // empty: nothing may happen
};

const Case kCases[] = {
    // Channel 1 of h is always 99, which is 100 above its zero point.
    {"a constant channel moves into the bias of a 1x1 convolution",
     R"(graph "net"
x: int8[1,2,3,1] scale 1 zero_point 0 = input
w: int8[3,1,1,1] scale 1 zero_point 0 = const {1,0,2}
b: int32[3] scale 1 zero_point 0 = const {0,100,5}
h: int8[1,2,3,3] scale 1 zero_point -1 = conv_2d() x, w, b
v: int8[2,1,1,3] scale 1 zero_point 0 = const {1,3,2,4,-5,6}
y: int8[1,2,3,2] scale 9 zero_point 0 = conv_2d() h, v, _
output y
)",
     R"(graph "net"
x: int8[1,2,3,1] scale 1 zero_point 0 = input
"h/kept_filter": int8[2,1,1,1] scale 1 zero_point 0 = const {1,2}
"h/kept_bias": int32[2] scale 1 zero_point 0 = const {0,5}
h: int8[1,2,3,2] scale 1 zero_point -1 = conv_2d() x, "h/kept_filter", "h/kept_bias"
"y/kept_filter": int8[2,1,1,2] scale 1 zero_point 0 = const {1,2,4,6}
"y/kept_bias": int32[2] = const {300,-500}
y: int8[1,2,3,2] scale 9 zero_point 0 = conv_2d() h, "y/kept_filter", "y/kept_bias"
output y
)"},
    {"under a padded window only the zero point is constant: channel 1 stays, channel 2 goes",
     R"(graph "net"
x: int8[1,2,3,1] scale 1 zero_point 0 = input
w: int8[3,1,1,1] scale 1 zero_point 0 = const {1,0,0}
b: int32[3] scale 1 zero_point 0 = const {0,100,0}
h: int8[1,2,3,3] scale 1 zero_point -1 = conv_2d() x, w, b
v: int8[1,1,3,3] scale 1 zero_point 0 = const {1,3,2,4,-5,6,7,8,9}
y: int8[1,2,3,1] scale 90 zero_point 0 = conv_2d(padding={0,0,1,1}) h, v, _
output y
)",
     R"(graph "net"
x: int8[1,2,3,1] scale 1 zero_point 0 = input
"h/kept_filter": int8[2,1,1,1] scale 1 zero_point 0 = const {1,0}
"h/kept_bias": int32[2] scale 1 zero_point 0 = const {0,100}
h: int8[1,2,3,2] scale 1 zero_point -1 = conv_2d() x, "h/kept_filter", "h/kept_bias"
"y/kept_filter": int8[1,1,3,2] scale 1 zero_point 0 = const {1,3,4,-5,7,8}
y: int8[1,2,3,1] scale 90 zero_point 0 = conv_2d(padding={0,0,1,1}) h, "y/kept_filter", _
output y
)"},
    {"what only zero weights read goes, and what it was made of, through a depthwise layer",
     R"(graph "net"
x: int8[1,1,1,2] scale 1 zero_point 0 = input
w: int8[2,1,1,2] scale 1 zero_point 0 = const {1,2,3,4}
h: int8[1,1,1,2] scale 9 zero_point 0 = conv_2d() x, w, _
d: int8[1,1,1,2] scales {1,2} zero_points {0,0} axis 3 = const {5,6}
e: int32[2] scale 1 zero_point 0 = const {7,8}
g: int8[1,1,1,2] scale 90 zero_point 0 = depthwise_conv_2d() h, d, e
v: int8[2,2] scale 1 zero_point 0 = const {9,0,8,0}
y: int8[1,2] scale 90 zero_point 0 = fully_connected() g, v, _
output y
)",
     R"(graph "net"
x: int8[1,1,1,2] scale 1 zero_point 0 = input
"h/kept_filter": int8[1,1,1,2] scale 1 zero_point 0 = const {1,2}
h: int8[1,1,1,1] scale 9 zero_point 0 = conv_2d() x, "h/kept_filter", _
"g/kept_filter": int8[1,1,1,1] scales {1} zero_points {0} axis 3 = const {5}
"g/kept_bias": int32[1] scale 1 zero_point 0 = const {7}
g: int8[1,1,1,1] scale 90 zero_point 0 = depthwise_conv_2d() h, "g/kept_filter", "g/kept_bias"
"y/kept_filter": int8[2,1] scale 1 zero_point 0 = const {9,8}
y: int8[1,2] scale 90 zero_point 0 = fully_connected() g, "y/kept_filter", _
output y
)"},
    {"a constant output of the network stays and reads nothing",
     R"(graph "net"
x: int8[1,2] scale 1 zero_point 0 = input
w: int8[2,2] scale 1 zero_point 0 = const {1,2,3,4}
h: int8[1,2] scale 9 zero_point 0 = fully_connected() x, w, _
v: int8[2,2] scale 1 zero_point 0 = const {9,0,8,1}
b: int32[2] scale 1 zero_point 0 = const {0,900000}
y: int8[1,2] scale 90 zero_point 0 = fully_connected() h, v, b
output y
)",
     R"(graph "net"
x: int8[1,2] scale 1 zero_point 0 = input
"h/kept_filter": int8[1,2] scale 1 zero_point 0 = const {1,2}
h: int8[1,1] scale 9 zero_point 0 = fully_connected() x, "h/kept_filter", _
"y/kept_filter": int8[2,1] scale 1 zero_point 0 = const {9,0}
"y/kept_bias": int32[2] scale 1 zero_point 0 = const {0,899556}
y: int8[1,2] scale 90 zero_point 0 = fully_connected() h, "y/kept_filter", "y/kept_bias"
output y
)"},
    {"a residual sum keeps what one of its branches needs",
     R"(graph "net"
x: int8[1,2] scale 1 zero_point 0 = input
w: int8[2,2] scale 1 zero_point 0 = const {1,2,0,0}
h: int8[1,2] scale 9 zero_point 0 = fully_connected() x, w, _
s: int8[1,2] scale 9 zero_point 0 = binary(kind=add) x, h
output s
)",
     ""},
    {"no channel of a shrunk tensor is left: one stays",
     R"(graph "net"
x: int8[1,2] scale 1 zero_point 0 = input
w: int8[2,2] scale 1 zero_point 0 = const {0,0,0,0}
h: int8[1,2] scale 9 zero_point 0 = fully_connected() x, w, _
v: int8[1,2] scale 1 zero_point 0 = const {3,4}
y: int8[1,1] scale 90 zero_point 0 = fully_connected() h, v, _
output y
)",
     R"(graph "net"
x: int8[1,2] scale 1 zero_point 0 = input
"h/kept_filter": int8[1,2] scale 1 zero_point 0 = const {0,0}
h: int8[1,1] scale 9 zero_point 0 = fully_connected() x, "h/kept_filter", _
"y/kept_filter": int8[1,1] scale 1 zero_point 0 = const {0}
y: int8[1,1] scale 90 zero_point 0 = fully_connected() h, "y/kept_filter", _
output y
)"},
    {"of floats only zeros go: channel 0 is 0, channel 1 is 2 and stays",
     R"(graph "net"
x: float32[1,2] = input
w: float32[2,2] = const {0,-0,0,0}
b: float32[2] = const {-0,2}
h: float32[1,2] = fully_connected() x, w, b
v: float32[1,2] = const {3,4}
y: float32[1,1] = fully_connected() h, v, _
output y
)",
     R"(graph "net"
x: float32[1,2] = input
"h/kept_filter": float32[1,2] = const {0,0}
"h/kept_bias": float32[1] = const {2}
h: float32[1,1] = fully_connected() x, "h/kept_filter", "h/kept_bias"
"y/kept_filter": float32[1,1] = const {4}
y: float32[1,1] = fully_connected() h, "y/kept_filter", _
output y
)"},
    {"zero times a weight that is infinite is not zero",
     R"(graph "net"
x: float32[1,1] = input
w: float32[2,1] = const {0,1}
h: float32[1,2] = fully_connected() x, w, _
v: float32[1,2] = const {inf,4}
y: float32[1,1] = fully_connected() h, v, _
output y
)",
     ""},
};

TEST(Shrink, Cases) {
  for (const Case& c : kCases) {
    const Graph before = parsed(c.before);
    const Shrunk shrunk = shrink(before, Rounding::kDouble);
    EXPECT_THAT(find_faults(shrunk.graph), IsEmpty()) << c.title;
    const bool unchanged = std::string(c.after).empty();
    EXPECT_EQ(print(shrunk.graph), print(unchanged ? before : parsed(c.after))) << c.title;
    EXPECT_EQ(shrunk.shrinking.tensors.empty(), unchanged) << c.title;
  }
}

TEST(Shrink, RecordsWhatWentAndWhy) {
  const Shrinking shrinking = shrink(parsed(kCases[0].before), Rounding::kDouble).shrinking;
  const RemovedChannel removed = {1, 99, Interval{100, 100}};
  EXPECT_THAT(shrinking.tensors, ElementsAre(ShrunkTensor{"h", 3, {removed}}));
  EXPECT_EQ(shrinking.macs_before, 6 * 3 + 6 * 6);
  EXPECT_EQ(shrinking.macs_after, 6 * 2 + 6 * 4);
  EXPECT_EQ(shrinking.weights_bytes_before, 9);
  EXPECT_EQ(shrinking.weights_bytes_after, 6);
  EXPECT_FALSE(shrinking.assumes_finite);
  const Shrinking unread = shrink(parsed(kCases[2].before), Rounding::kDouble).shrinking;
  EXPECT_THAT(unread.tensors, ElementsAre(ShrunkTensor{"h", 2, {{1, {}, {}}}},
                                          ShrunkTensor{"g", 2, {{1, {}, {}}}}));
}

TEST(Channels, AReshapeTiesWhatSharesElements) {
  const Graph graph = parsed(R"(graph "net"
x: int8[1,2,2,3] scale 1 zero_point 0 = input
y: int8[1,12] scale 1 zero_point 0 = reshape(shape={1,12}) x
output y
)");
  const Channels channels(graph);
  const ValueId x = graph.inputs[0];
  const ValueId y = graph.outputs[0];
  const auto members = channels.members(channels.class_of(channels.slot(x, 1)));
  std::vector<int64_t> of_y;
  for (const int64_t slot : members) {
    if (channels.value_of(slot) == y) of_y.push_back(channels.channel_of(slot));
  }
  EXPECT_THAT(of_y, ElementsAre(1, 4, 7, 10));
  EXPECT_EQ(members.size(), 5U);
}

}  // namespace
}  // namespace ingot
