// SPDX-License-Identifier: Apache-2.0
#include "lower/lower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/text.h"
#include "graph/verify.h"
#include "loop/text.h"
#include "loop/verify.h"
#include "lower/places.h"

namespace ingot {
namespace {

Graph graph_of(const std::string& text) {
  Result<Graph> graph = parse_graph("graph \"net\"\n" + text);
  if (!graph) throw InternalError(graph.error().front().what + "\n" + text);
  EXPECT_THAT(find_faults(*graph), testing::IsEmpty());
  return *std::move(graph);
}

// What prepare must make of a graph.
struct PrepareCase {
  const char* title;
  const char* before;
  const char* after;  // "" : the same
};

const PrepareCase kPrepareCases[] = {
    {"outputs that nodes write stay",
     "x: int8[2] = input\ny: int8[2] = clamp(high=5) x\nz: int8[2] = clamp(high=4) y\n"
     "output y\noutput z\n",
     ""},
    {"the second of two equal outputs is a copy",
     "x: int8[2] = input\ny: int8[2] = clamp(high=5) x\noutput y\noutput y\n",
     "x: int8[2] = input\ny: int8[2] = clamp(high=5) x\ny/copy1: int8[2] = copy y\n"
     "output y\noutput y/copy1\n"},
    {"an input that is an output is copied", "x: int8[2] = input\noutput x\n",
     "x: int8[2] = input\nx/copy1: int8[2] = copy x\noutput x/copy1\n"},
    {"so is the view of one",
     "x: int8[2] = input\nv: int8[1,2] = reshape(shape={1,2}) x\noutput v\n",
     "x: int8[2] = input\nv: int8[1,2] = reshape(shape={1,2}) x\n"
     "v/copy1: int8[1,2] = copy v\noutput v/copy1\n"},
    {"and a constant", "k: int8[2] = const {1,2}\noutput k\n",
     "k: int8[2] = const {1,2}\nk/copy1: int8[2] = copy k\noutput k/copy1\n"},
    {"and the view of another output",
     "x: int8[2] = input\ny: int8[2] = clamp(high=5) x\nv: int8[1,2] = reshape(shape={1,2}) y\n"
     "output v\noutput y\n",
     "x: int8[2] = input\ny: int8[2] = clamp(high=5) x\nv: int8[1,2] = reshape(shape={1,2}) y\n"
     "y/copy1: int8[2] = copy y\noutput v\noutput y/copy1\n"},
    {"a reshape of a constant is a copy of its own",
     "x: int8[1,2] = input\nk: int8[2] = const {1,2}\nv: int8[1,2] = reshape(shape={1,2}) k\n"
     "output v\n",
     "x: int8[1,2] = input\nk: int8[2] = const {1,2}\nv: int8[1,2] = copy k\noutput v\n"},
    {"pieces that lie one behind the other and are nobody else's stay",
     "x: int8[1,2] = input\na: int8[1,2] = clamp(high=5) x\nb: int8[1,2] = clamp(high=4) x\n"
     "y: int8[1,4] = concat(axis=1) a, b\noutput y\n",
     ""},
    {"an input, a constant, an output and what is a piece already are copied",
     "x: int8[1,2] = input\nk: int8[1,1] = const {7}\na: int8[1,2] = clamp(high=5) x\n"
     "b: int8[1,1] = clamp(high=3) k\ny: int8[1,9] = concat(axis=1) x, k, a, b, b, k\noutput a\n"
     "output y\n",
     "x: int8[1,2] = input\nk: int8[1,1] = const {7}\na: int8[1,2] = clamp(high=5) x\n"
     "b: int8[1,1] = clamp(high=3) k\nx/copy1: int8[1,2] = copy x\nk/copy2: int8[1,1] = copy "
     "k\n"
     "a/copy3: int8[1,2] = copy a\nb/copy4: int8[1,1] = copy b\n"
     "k/copy5: int8[1,1] = copy k\n"
     "y: int8[1,9] = concat(axis=1) x/copy1, k/copy2, a/copy3, b, b/copy4, k/copy5\noutput a\n"
     "output y\n"},
    {"a piece on another scale is rescaled on its way",
     "x: int8[1,2] scale 0.5 zero_point 0 = input\n"
     "a: int8[1,2] scale 0.5 zero_point 0 = clamp(high=5) x\n"
     "b: int8[1,2] scale 0.5 zero_point 1 = requantize() x\n"
     "y: int8[1,4] scale 0.5 zero_point 1 = concat(axis=1) a, b\noutput y\n",
     "x: int8[1,2] scale 0.5 zero_point 0 = input\n"
     "a: int8[1,2] scale 0.5 zero_point 0 = clamp(high=5) x\n"
     "b: int8[1,2] scale 0.5 zero_point 1 = requantize() x\n"
     "a/copy1: int8[1,2] scale 0.5 zero_point 1 = requantize() a\n"
     "y: int8[1,4] scale 0.5 zero_point 1 = concat(axis=1) a/copy1, b\noutput y\n"},
    {"a slice in place is nobody's output or piece",
     "x: int8[4,2] = input\n"
     "s: int8[1,2] = slice(begin={1,0}, size={1,2}, strides={1,1}) x\n"
     "t: int8[1,2] = slice(begin={2,0}, size={1,2}, strides={1,1}) x\n"
     "y: int8[1,4] = concat(axis=1) s, s\noutput t\noutput y\n",
     "x: int8[4,2] = input\n"
     "s: int8[1,2] = slice(begin={1,0}, size={1,2}, strides={1,1}) x\n"
     "t: int8[1,2] = slice(begin={2,0}, size={1,2}, strides={1,1}) x\n"
     "s/copy2: int8[1,2] = copy s\ns/copy3: int8[1,2] = copy s\n"
     "y: int8[1,4] = concat(axis=1) s/copy2, s/copy3\nt/copy1: int8[1,2] = copy t\n"
     "output t/copy1\noutput y\n"},
    {"pieces that do not lie one behind the other are their kernel's business",
     "x: int8[2,2] = input\ny: int8[2,4] = concat(axis=1) x, x\noutput y\n", ""},
};

TEST(Prepare, MakesCopiesExplicit) {
  for (const PrepareCase& row : kPrepareCases) {
    SCOPED_TRACE(row.title);
    Result<Graph> before = parse_graph(std::string("graph \"net\"\n") + row.before);
    ASSERT_TRUE(before.has_value()) << before.error().front().what;
    const std::string expected = *row.after ? row.after : row.before;
    const Graph after = prepare(*before);
    const Result<Graph> wanted = parse_graph("graph \"net\"\n" + expected);
    ASSERT_TRUE(wanted.has_value()) << wanted.error().front().what;
    EXPECT_EQ(print(after), print(*wanted));
    EXPECT_THAT(find_faults(after), testing::IsEmpty());
    EXPECT_EQ(print(prepare(after)), print(after)) << "once prepared, nothing is left to do";
  }
}

// "x input 0", "t arena", "a arena in y +4": the homes, one per line.
std::string homes_of(const Graph& graph) {
  static const char* const kKinds[] = {"input", "output", "constant", "arena"};
  const Places places = find_places(graph);
  std::string text;
  for (const Home& home : places.homes) {
    text += graph[home.value].name + " " + kKinds[static_cast<size_t>(home.kind)];
    if (home.slot >= 0) text += " " + std::to_string(home.slot);
    if (home.parent >= 0) {
      text += " in " + graph[places.homes.at(static_cast<size_t>(home.parent)).value].name + " +" +
              std::to_string(home.offset_bytes);
    }
    text += "\n";
  }
  return text;
}

TEST(FindPlaces, SlicesInPlace) {
  const Graph graph = graph_of(
      "x: int16[4,2,3] = input\n"
      "a: int16[2,2,3] = slice(begin={1,0,0}, size={2,2,3}, strides={1,1,1}) x\n"
      "t: int16[2,2,3] = clamp(high=9) a\n"
      "b: int16[1,2,3] = slice(begin={1,0,0}, size={1,2,3}, strides={1,1,1}) t\n"
      "c: int16[1,1,2] = slice(begin={0,1,1}, size={1,1,2}, strides={1,1,1}) b\n"
      "d: int16[2,1,3] = slice(begin={0,1,0}, size={2,1,3}, strides={1,1,1}) t\n"
      "e: int16[1,2,3] = slice(begin={0,1,0}, size={1,2,3}, strides={1,-1,1}) t\n"
      "f: int16[1,1,2] = clamp(high=8) c\n"
      "g: int16[2,1,3] = clamp(high=8) d\n"
      "h: int16[1,2,3] = clamp(high=8) e\n"
      "output f\noutput g\noutput h\n");
  // d and e are copied: their elements do not lie one behind the other.
  EXPECT_EQ(homes_of(graph),
            "x input 0\nf output 0\ng output 1\nh output 2\na arena in x +12\nt arena\n"
            "b arena in t +12\nc arena in b +8\nd arena\ne arena\n");
}

// Pieces live apart, and nothing says which of them a slice of the whole needs.
TEST(FindPlaces, NoSlicesOfConcatenationsAndConstants) {
  const Graph graph = graph_of(
      "x: int8[1,2] = input\nk: int8[2,2] = const {1,2,3,4}\n"
      "a: int8[1,2] = clamp(high=5) x\nb: int8[1,2] = clamp(high=4) x\n"
      "w: int8[1,4] = concat(axis=1) a, b\n"
      "s: int8[1,3] = slice(begin={0,1}, size={1,3}, strides={1,1}) w\n"
      "t: int8[1,2] = slice(begin={1,0}, size={1,2}, strides={1,1}) k\n"
      "y: int8[1,3] = clamp(high=3) s\nz: int8[1,2] = clamp(high=3) t\noutput y\noutput z\n");
  EXPECT_EQ(homes_of(graph),
            "x input 0\ny output 0\nz output 1\nk constant\na arena in w +0\nb arena in w +2\n"
            "w arena\ns arena\nt arena\n");
}

TEST(FindPlaces, HomesOfValues) {
  const Graph graph = graph_of(
      "x: int16[1,4] scale 0.5 zero_point 0 = input\n"
      "k: int16[1,2] scale 0.5 zero_point 0 = const {1,2}\n"
      "t: int16[1,4] scale 0.5 zero_point 0 = clamp(high=9) x\n"
      "v: int16[1,2,2] scale 0.5 zero_point 0 = reshape(shape={1,2,2}) t\n"
      "a: int16[1,2,2] scale 0.5 zero_point 0 = clamp(high=8) v\n"
      "b: int16[1,1,2] scale 0.5 zero_point 0 = copy k\n"
      "c: int16[1,3,2] scale 0.5 zero_point 0 = concat(axis=1) a, b\n"
      "d: int16[1,1,2] scale 0.5 zero_point 0 = copy k\n"
      "e: int16[1,4,2] scale 0.5 zero_point 0 = concat(axis=1) d, c\n"
      "y: int16[1,4,2] scale 0.5 zero_point 0 = clamp(high=7) e\n"
      "z: int16[8] scale 0.5 zero_point 0 = reshape(shape={8}) y\n"
      "output z\n");
  EXPECT_EQ(homes_of(graph),
            "x input 0\nz output 0\nk constant\nt arena\na arena in c +0\nb arena in c +8\n"
            "c arena in e +4\nd arena in e +0\ne arena\n");
  const Places places = find_places(graph);
  const std::vector<bool> needs_kernel = {true, false, true, true, false, true, false, true, false};
  EXPECT_EQ(places.needs_kernel, needs_kernel);
  const auto home_of = [&](const std::string& name) {
    const auto found = std::ranges::find(graph.values, name, &Value::name);
    return places.home_of.at(static_cast<size_t>(found - graph.values.begin()));
  };
  EXPECT_EQ(home_of("v"), home_of("t"));
  EXPECT_EQ(home_of("y"), home_of("z"));
}

TEST(FindPlaces, ContiguousConcatenations) {
  const struct {
    const char* y;
    const char* axis;
    bool expected;
  } rows[] = {{"1,4", "1", true},  {"4", "0", true},   {"1,1,4,3", "2", true},
              {"2,4", "1", false}, {"2,4", "0", true}, {"1,2,4", "2", false}};
  for (const auto& row : rows) {
    const std::string y = row.y;
    const Graph graph = *parse_graph("graph \"net\"\nx: int8[" + y + "] = input\ny: int8[" + y +
                                     "] = concat(axis=" + row.axis + ") x\noutput y\n");
    EXPECT_EQ(is_contiguous_concat(graph, graph.nodes.at(0)), row.expected) << y << " " << row.axis;
  }
}

// The program without the bodies of its kernels: buffers, and the runner.
std::string outline(loop::Program program) {
  program.kernels.clear();
  program.functions.clear();
  return loop::print(program);
}

struct LowerCase {
  const char* title;
  const char* graph;
  const char* outline;
};
const LowerCase kLowerCases[] = {
    {"a reshape is another name",
     R"(x: int8[1,4] = input
t: int8[1,4] = clamp(high=9) x
v: int8[2,2] = reshape(shape={2,2}) t
y: int8[2,2] = clamp(high=8) v
output y
)",
     R"(program net
buffer input0 int8[4] input align 1 tensor "x" type int8[1,4]
buffer output0 int8[4] output align 1 tensor "y" type int8[2,2]
buffer t0 int8[4] arena align 4 tensor "t"
run {
  call clamp_0(input0, t0) note "t" clamp macs 0 operators []
  call clamp_1(t0, output0) note "y" clamp macs 0 operators []
}
)"},
    {"a reshape at the end is the output itself; equal kernels are one",
     R"(x: int8[1,4] = input
t: int8[1,4] = clamp(high=9) x
u: int8[1,4] = clamp(high=9) t
y: int8[2,2] = reshape(shape={2,2}) u
output y
)",
     R"(program net
buffer input0 int8[4] input align 1 tensor "x" type int8[1,4]
buffer output0 int8[4] output align 1 tensor "y" type int8[2,2]
buffer t0 int8[4] arena align 4 tensor "t"
run {
  call clamp_0(input0, t0) note "t" clamp macs 0 operators []
  call clamp_0(t0, output0) note "u" clamp macs 0 operators []
}
)"},
    {"pieces of a concatenation are tied to the whole",
     R"(x: int16[1,4] = input
a: int16[1,4] = clamp(high=9) x
b: int16[1,4] = clamp(high=8) x
c: int16[1,8] = concat(axis=1) a, b
y: int16[1,8] = clamp(high=7) c
output y
)",
     R"(program net
buffer input0 int16[4] input align 2 tensor "x" type int16[1,4]
buffer output0 int16[8] output align 2 tensor "y" type int16[1,8]
buffer t0 int16[4] arena align 2 tie 0 0 tensor "a"
buffer t1 int16[4] arena align 2 tie 0 8 tensor "b"
buffer t2 int16[8] arena align 4 tie 0 0 tensor "c"
run {
  call clamp_0(input0, t0) note "a" clamp macs 0 operators []
  call clamp_1(input0, t1) note "b" clamp macs 0 operators []
  call clamp_2(t2, output0) note "y" clamp macs 0 operators []
}
)"},
    {"or are written where the caller wants the whole",
     R"(x: int16[1,4] = input
a: int16[1,4] = clamp(high=9) x
b: int16[1,4] = clamp(high=8) x
y: int16[1,8] = concat(axis=1) a, b
output y
)",
     R"(program net
buffer input0 int16[4] input align 2 tensor "x" type int16[1,4]
buffer output0 int16[8] output align 2 tensor "y" type int16[1,8]
run {
  call clamp_0(input0, output0) note "a" clamp macs 0 operators []
  call clamp_1(input0, output0 + 4) note "b" clamp macs 0 operators []
}
)"},
    {"one tensor in two of the caller's buffers is copied",
     R"(x: int8[4] = input
y: int8[4] = clamp(high=9) x
output y
output y
)",
     R"(program net
buffer input0 int8[4] input align 1 tensor "x" type int8[4]
buffer output0 int8[4] output align 1 tensor "y" type int8[4]
buffer output1 int8[4] output align 1 tensor "y" type int8[4]
run {
  call clamp_0(input0, output0) note "y" clamp macs 0 operators []
  call copy_0(output0, output1) note "y/copy1" copy macs 0 operators []
}
)"},
    {"an input as an output is copied",
     R"(x: int8[4] = input
output x
)",
     R"(program net
buffer input0 int8[4] input align 1 tensor "x" type int8[4]
buffer output0 int8[4] output align 1 tensor "x" type int8[4]
run {
  call copy_0(input0, output0) note "x/copy1" copy macs 0 operators []
}
)"},
    {"a constant as an output is copied",
     R"(k: int8[4] = const {1,2,3,4}
output k
)",
     R"(program net
buffer output0 int8[4] output align 1 tensor "k" type int8[4]
buffer x_0 int8[4] constant align 4 tensor "k" data 01020304
run {
  call copy_0(x_0, output0) note "k/copy1" copy macs 0 operators []
}
)"},
    {"an output that is read later is written once, where the caller has it",
     R"(x: int8[4] = input
y: int8[4] = clamp(high=9) x
z: int8[4] = clamp(high=8) y
output y
output z
)",
     R"(program net
buffer input0 int8[4] input align 1 tensor "x" type int8[4]
buffer output0 int8[4] output align 1 tensor "y" type int8[4]
buffer output1 int8[4] output align 1 tensor "z" type int8[4]
run {
  call clamp_0(input0, output0) note "y" clamp macs 0 operators []
  call clamp_1(output0, output1) note "z" clamp macs 0 operators []
}
)"},
};

TEST(Lower, Outlines) {
  for (const LowerCase& row : kLowerCases) {
    SCOPED_TRACE(row.title);
    const loop::Program program = lower(graph_of(row.graph), {.name = "net"});
    EXPECT_EQ(outline(program), row.outline);
    EXPECT_THAT(loop::find_faults(program), testing::IsEmpty());
    EXPECT_TRUE(loop::unproved_accesses(program).empty());
    EXPECT_EQ(program.notes.size(),
              static_cast<size_t>(std::ranges::count_if(program.runner, [](const loop::Stmt& stmt) {
                return std::holds_alternative<loop::CallKernel>(stmt.kind);
              })));
  }
}

}  // namespace
}  // namespace ingot
