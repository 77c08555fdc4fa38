// SPDX-License-Identifier: Apache-2.0
// Overlaps as text, and random programs: run in their planned arena they compute what they compute
// with each buffer in memory of its own.
#include "storage/overlaps.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "loop/interpret.h"
#include "loop/text.h"
#include "loop/transform.h"
#include "loop/verify.h"
#include "storage/storage.h"

namespace ingot {
namespace {

loop::Program parsed(const std::string& text) {
  Result<loop::Program> program = loop::parse(text);
  if (!program) throw std::runtime_error(program.error()[0].what + "\n" + text);
  return *std::move(program);
}

// Every kernel with its loop over i in reverse.
std::vector<std::optional<loop::Kernel>> reversed_kernels(const loop::Program& program) {
  std::vector<std::optional<loop::Kernel>> reversed;
  for (const loop::Kernel& kernel : program.kernels) {
    std::optional<loop::Block> body = loop::reverse(kernel.body, "i");
    reversed.emplace_back();
    if (!body) continue;
    reversed.back() = kernel;
    reversed.back()->body = *std::move(body);
  }
  return reversed;
}

constexpr const char* kKernels = R"(
kernel move(x: int8[8] read align 1, y: int8[8] write align 1) "" {
  for i = 0 to 8 {
    y[i] = x[i]
  }
}
kernel window(x: int8[8] read align 1, y: int8[8] write align 1) "" {
  for i = 0 to 8 {
    let acc: int32 = 0
    for k = max(1 - i, 0) to min(9 - i, 3) {
      acc = acc + int32(x[i + k - 1])
    }
    y[i] = int8(acc & 63)
  }
}
kernel add(a: int8[8] read align 1, b: int8[8] read align 1, y: int8[8] write align 1) "" {
  for i = 0 to 8 {
    y[i] = int8(int32(a[i]) + int32(b[7 - i]) & 63)
  }
}
kernel widen(x: int8[8] read align 1, y: int32[8] write align 4) "" {
  for i = 0 to 8 {
    y[i] = int32(x[i])
  }
}
kernel to_float(x: int32[8] read align 4, y: float32[8] write align 4) "" {
  for i = 0 to 8 {
    y[i] = float32(x[i])
  }
}
kernel both(x: int8[8] read align 1, h: int8[4] read align 1, y: int8[8] write align 1) "" {
  for i = 0 to 8 {
    y[i] = int8(int32(x[i]) + int32(h[min(i, 3)]) & 63)
  }
}
kernel half(x: int8[4] read align 1, y: int8[4] write align 1) "" {
  for i = 0 to 4 {
    y[i] = x[i]
  }
}
)";

struct Case {
  const char* buffers;
  const char* runner;
  const char* overlaps;  // "output input step forward reverse", '-' for none
};

TEST(FindOverlaps, OfWhatBeginsAndEndsInAStep) {
  const std::string io =
      "buffer x int8[8] input align 1 tensor \"x\" type int8[8]\n"
      "buffer y int8[8] output align 1 tensor \"y\" type int8[8]\n";
  const std::string abc =
      "buffer a int8[8] arena align 1\nbuffer b int8[8] arena align 1\n"
      "buffer c int8[8] arena align 1\n";
  const Case cases[] = {
      {"", "call move(x, a)\ncall window(a, b)\ncall move(b, y)\n",
       "a x 0 0 0\nb a 1 1 1\ny b 2 0 0\n"},
      // an input that is read later, and one that was overwritten before
      {"", "call move(x, a)\ncall window(a, b)\ncall add(a, b, y)\n",
       "a x 0 0 0\ny a 2 0 0\ny b 2 7 7\n"},
      {"", "call move(x, a)\ncall move(x, b)\ncall add(a, b, b)\ncall move(b, y)\n",
       "b x 1 0 0\ny b 3 0 0\n"},
      // one buffer twice
      {"", "call add(x, x, y)\n", "y x 0 7 7\n"},
      // not inside loops of the runner
      {"", "for r = 0 to 2 {\n  call move(x, a)\n}\ncall move(a, y)\n", "y a 1 0 0\n"},
      // types: of bytes and others may share memory, two others not
      {"buffer w int32[8] arena align 4\nbuffer f float32[8] arena align 4\n",
       "call widen(x, w)\ncall to_float(w, f)\n", "w x 0 21 -3\n"},
      // the second half of a buffer, read; parts of a whole
      {"buffer h int8[4] arena align 1\n", "call half(x + 4, h)\ncall half(h, y)\n",
       "h x 0 -4 4\ny h 1 0 0\n"},
      {"buffer p int8[4] arena align 1 tie 0 0\nbuffer q int8[4] arena align 1 tie 0 4\n"
       "buffer w int8[8] arena align 1 tie 0 0\n",
       "call half(x, p)\ncall half(x, q)\ncall window(w, y)\n",
       "q x 1 0 0\ny w 2 1 1\ny p 2 1 1\ny q 2 5 -3\n"},
      {"buffer p int8[4] arena align 1 tie 0 0\nbuffer q int8[4] arena align 1 tie 0 4\n"
       "buffer w int8[8] arena align 1 tie 0 0\n",
       "call half(x, p)\ncall half(x, q)\ncall both(w, p, y)\n",
       "q x 1 0 0\ny w 2 0 0\ny p 2 4 0\ny q 2 4 -4\n"},
  };
  const auto number = [](const std::optional<int64_t>& n) { return n ? std::to_string(*n) : "-"; };
  for (const Case& c : cases) {
    const loop::Program program =
        parsed("program net\n" + io + abc + c.buffers + kKernels + "run {\n" + c.runner + "}\n");
    const Storage storage = make_problem(program, reversed_kernels(program),
                                         {.io_in_arena = true, .reuse_inputs = true});
    std::string text;
    for (const plan::Overlap& o : storage.problem.overlaps) {
      const auto name = [&](int64_t b) {
        return storage.problem.buffers[static_cast<size_t>(b)].name;
      };
      text += fmt::format("{} {} {} {} {}\n", name(o.output), name(o.input), o.step,
                          number(o.forward), number(o.reverse));
    }
    EXPECT_EQ(text, c.overlaps) << c.runner;
  }
}

TEST(FindOverlaps, CallersMemoryStaysAsItIs) {
  const loop::Program program =
      parsed(std::string("program net\nbuffer x int8[8] input align 1 tensor \"x\" type int8[8]\n"
                         "buffer y int8[8] output align 1 tensor \"y\" type int8[8]\n") +
             kKernels + "run {\ncall move(x, y)\n}\n");
  const auto reversed = reversed_kernels(program);
  EXPECT_THAT(make_problem(program, reversed, {}).problem.overlaps, testing::IsEmpty());
  EXPECT_THAT(make_problem(program, reversed, {.reuse_inputs = true}).problem.overlaps,
              testing::IsEmpty());
  EXPECT_THAT(make_problem(program, reversed, {.io_in_arena = true}).problem.overlaps,
              testing::IsEmpty());
}

TEST(WithDirections, TwoKernelsWhereBothAreNeeded) {
  const loop::Program program =
      parsed(std::string("program net\nbuffer x int8[8] input align 1 tensor \"x\" type int8[8]\n"
                         "buffer y int8[8] output align 1 tensor \"y\" type int8[8]\n"
                         "buffer a int8[8] arena align 1\n") +
             kKernels + "run {\ncall move(x, a)\ncall window(a, a)\ncall move(a, y)\n}\n");
  const auto reversed = reversed_kernels(program);
  const auto with = [&](std::vector<plan::StepDirection> directions) {
    const loop::Program result = with_directions(program, reversed, directions);
    std::string names;
    for (const loop::Kernel& k : result.kernels) names += k.name + " ";
    for (const loop::Stmt& s : result.runner)
      names += std::get<loop::CallKernel>(s.kind).kernel + " ";
    return names;
  };
  using plan::Direction;
  const std::string others = "window add widen to_float both half ";
  EXPECT_EQ(with({{0, Direction::kForward}}), "move " + others + "move window move ");
  EXPECT_EQ(with({{0, Direction::kForward}, {2, Direction::kReverse}}),
            "move move_reverse " + others + "move window move_reverse ");
  EXPECT_EQ(with({{0, Direction::kReverse}, {2, Direction::kReverse}}),
            "move_reverse " + others + "move_reverse window move_reverse ");
  // A call that shares no byte takes what is there.
  EXPECT_EQ(with({{2, Direction::kReverse}}),
            "move_reverse " + others + "move_reverse window move_reverse ");
}

TEST(UnifyDirections, FewestKernels) {
  const loop::Program program =
      parsed(std::string("program net\nbuffer x int8[8] input align 1 tensor \"x\" type int8[8]\n"
                         "buffer y int8[8] output align 1 tensor \"y\" type int8[8]\n"
                         "buffer a int8[8] arena align 1\nbuffer b int8[8] arena align 1\n") +
             kKernels + "run {\ncall window(x, a)\ncall window(a, b)\ncall move(b, y)\n}\n");
  const Storage problem =
      make_problem(program, reversed_kernels(program), {.io_in_arena = true, .reuse_inputs = true});
  const auto directions = [&](std::vector<int64_t> offsets) {  // of x, y, a, b
    plan::Plan plan{.offsets = std::move(offsets), .pool_of = {0, 0, 0, 0}};
    for (int64_t step = 0; step < 3; ++step) plan.directions.push_back({step});
    unify_directions(program, problem.problem, plan);
    std::string text;
    for (const plan::StepDirection& d : plan.directions) {
      text += d.direction == plan::Direction::kForward ? "f" : "r";
    }
    return text;
  };
  EXPECT_EQ(directions({2, 0, 1, 0}), "fff");
  EXPECT_EQ(directions({0, 0, 1, 2}), "rrf");
  // The second could run either way, as could the first.
  EXPECT_EQ(directions({0, 0, 1, 20}), "rrf");
  EXPECT_EQ(directions({0, 0, 20, 0}), "fff");
  // Each must run its way.
  EXPECT_EQ(directions({0, 0, 1, 0}), "rff");
}

// A random network of small kernels whose accesses go all ways.
class RandomNetwork {
 public:
  explicit RandomNetwork(uint32_t seed) : random_(seed) {}

  std::string text() {
    values_.push_back({"x", 6 + below(20), false});
    buffers_ = fmt::format("buffer x int8[{0}] input align 1 tensor \"x\" type int8[{0}]\n",
                           values_[0].size);
    std::string inner;
    for (int64_t n = 3 + below(6); n > 0; --n) add_step(inner);
    const Value last = values_.back();
    const int64_t out = below(2) == 0 ? last.size : 5;
    buffers_ += fmt::format("buffer y int8[{0}] output align 1 tensor \"y\" type int8[{0}]\n", out);
    add_kernel({last}, {"y", out, false},
               fmt::format("for i = 0 to {} {{\n  y[i] = int8(int32(a[min(i, {})]) & 127)\n}}\n",
                           out, last.size - 1));
    return "program net\n" + buffers_ + inner + kernels_ + "run {\n" + calls_ + "}\n";
  }

 private:
  struct Value {
    std::string name;
    int64_t size = 0;
    bool wide = false;  // int32, not int8
    std::string type() const { return fmt::format("{}[{}]", wide ? "int32" : "int8", size); }
  };

  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }

  void add_step(std::string& buffers) {
    const Value a =
        values_[values_.size() - 1 - static_cast<size_t>(below(2) % std::ssize(values_))];
    Value y{fmt::format("t{}", values_.size()), a.size, false};
    const int64_t n = a.size;
    std::string value = "int32(a[i])";
    std::string before;
    std::vector<Value> inputs = {a};
    switch (below(8)) {
      case 0:
        y.wide = true;
        break;
      case 1:
        value = fmt::format("int32(a[{} - i])", n - 1);
        break;
      case 2:
        y.size = 2 * n;
        value = "int32(a[floordiv(i, 2)])";
        break;
      case 3:
        y.size = (n + 1) / 2;
        value = "int32(a[i * 2])";
        break;
      case 4:  // a dense layer
        y.size = 1 + below(12);
        before = fmt::format("for k = 0 to {} {{\n    s = s + int32(a[k])\n  }}\n", n);
        value = "i";
        break;
      case 5: {  // a window
        const int64_t width = 2 + below(4);
        const int64_t pad = below(width);
        before = fmt::format(
            "for k = max({0} - i, 0) to min({1} - i, {2}) {{\n    s = s + int32(a[i + k - {0}])\n  "
            "}}\n",
            pad, n + pad, width);
        value = "3";
        break;
      }
      case 6: {  // with another value of at least this size
        for (const Value& b : values_) {
          if (b.size >= n && b.name != a.name && inputs.size() < 2) inputs.push_back(b);
        }
        if (inputs.size() == 2) value = "int32(a[i]) + int32(b[i])";
        break;
      }
      default:
        break;
    }
    buffers +=
        fmt::format("buffer {} {} arena align {}\n", y.name, y.type(), y.wide ? 4 : 1 + below(2));
    add_kernel(
        inputs, y,
        fmt::format("for i = 0 to {} {{\n  let s: int32 = 1\n  {}\n  y[i] = {}(s + {} & 127)\n}}\n",
                    y.size, before, y.wide ? "int32" : "int8", value));
    values_.push_back(y);
  }

  void add_kernel(const std::vector<Value>& inputs, const Value& output, const std::string& body) {
    std::string params;
    std::string args;
    for (size_t k = 0; k < inputs.size(); ++k) {
      params += fmt::format("{}: {} read align 1, ", k == 0 ? "a" : "b", inputs[k].type());
      args += inputs[k].name + ", ";
    }
    kernels_ += fmt::format("kernel k{}({}y: {} write align 1) \"\" {{\n{}}}\n", num_kernels_,
                            params, output.type(), body);
    calls_ += fmt::format("call k{}({}{})\n", num_kernels_++, args, output.name);
  }

  std::mt19937 random_;
  std::vector<Value> values_;
  std::string buffers_;
  std::string kernels_;
  std::string calls_;
  int64_t num_kernels_ = 0;
};

TEST(Place, OverlappedBuffersHoldWhatTheyMust) {
  int64_t saved = 0;
  int64_t num_reversed = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    const loop::Program program = parsed(RandomNetwork(seed).text());
    const auto reversed = reversed_kernels(program);
    std::vector<uint8_t> input(static_cast<size_t>(program.buffers[0].num_elements));
    for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<uint8_t>(i * 37 + seed);
    const std::vector<std::vector<uint8_t>> inputs = {input};
    const auto expected = loop::interpret(program, inputs);
    for (const bool in_arena : {false, true}) {
      const StorageOptions options = {
          .io_in_arena = in_arena, .reuse_inputs = in_arena, .limits = {.climb_steps = 20}};
      const Storage storage = place(program, reversed, options);
      ASSERT_EQ(loop::interpret(storage.program, inputs, storage.arena_bytes), expected)
          << seed << "\n"
          << loop::print(storage.program);
      saved += place(program, {}, options).arena_bytes - storage.arena_bytes;
      for (const plan::StepDirection& d : storage.plan.directions) {
        num_reversed += d.direction == plan::Direction::kReverse ? 1 : 0;
      }
    }
  }
  EXPECT_GT(num_reversed, 100);
  EXPECT_GT(saved, 100);  // by the reverse direction alone
}

}  // namespace
}  // namespace ingot
