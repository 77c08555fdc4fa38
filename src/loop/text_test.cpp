// SPDX-License-Identifier: Apache-2.0
#include "loop/text.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "loop/typing.h"

namespace ingot::loop {
namespace {

std::string fault_of(const std::string& text) {
  const Result<Program> result = parse(text);
  if (result) return "";
  return result.error().at(0).where + ": " + result.error().at(0).what;
}

// A program around statements; x, w and y are buffers, f a function.
std::string program_with(const std::string& body) {
  return "program p\n"
         "function f(a: int32, v: int8p4) -> int32 \"\" {\n  return a\n}\n"
         "kernel k(x: int8[64] read align 4, w: int32[8] constant align 4, "
         "z: float32[8] update align 4, y: int8[64] write align 4) \"\" {\n" +
         body + "}\nrun {\n}\n";
}

// Texts in the form in which they print.
const char* const kStatements[] = {
    "  y[0] = x[1]\n",
    "  let a: int32 = w[2] + int32(x[3]) * 5 - 7\n",
    "  let a: int32 = w[2] - (5)\n",
    "  let a: int32 = -w[2]\n",
    "  let a: int32 = -(5)\n",
    "  let a: int32 = -(-w[0])\n",
    "  let a: int32 = -5 - (-5)\n",
    "  let a: int32 = w[0] - (w[1] - w[2]) - w[3]\n",
    "  let a: int32 = (w[0] + w[1]) * w[2] + w[3] * (w[4] * w[5])\n",
    "  let a: int32 = w[0] << 3 & w[1] | w[2] ^ w[3] >> 1\n",
    "  let a: int32 = (w[0] & 1) << 2\n",
    "  let a: bool = w[0] < w[1] == (w[2] <= w[3])\n",
    "  let a: bool = !(w[0] != 3)\n",
    "  let a: bool = !true\n",
    "  let a: int64 = int64(w[0]) * -9223372036854775808:int64 + -9223372036854775808:int64\n",
    "  let a: int8 = x[0] + -128:int8\n",
    "  let a: uint32 = uint32(w[0]) - (5:uint32)\n",
    "  let a: int32 = min(max(w[0], -128), 127)\n",
    "  let a: int32 = floordiv(w[0], 4) + floormod(w[0], 4) + div(w[0], w[1])\n",
    "  let a: int32 = select(w[0] < 0, -w[0], abs(w[0]))\n",
    "  let a: int32 = f(w[0], x[4]:int8p4 align 4)\n",
    "  let a: int8x16 = x[0]:int8x16 align 4 + int8x16(x[0])\n",
    "  let a: boolx4 = x[0]:int8x4 align 1 < int8x4(3:int8)\n",
    "  y[4]:int8p4 align 4 = x[0]:int8p4 align 4\n",
    "  y[4]:int8 align 4 = x[4]:int8 align 2\n",
    "  let a: float32 = z[0] * 0.5 + -0.25 + sqrt(z[1]) - -z[2]\n",
    "  let a: float32 = -(0.5) + -0.0\n",
    "  let a: float32 = inf:float32 + -inf:float32 + nan:float32\n",
    "  let a: float64 = 0.1:float64 + 1e+300:float64 + inf:float64\n",
    "  let a: float16 = 0.5:float16\n",
    "  let a: float32 = 1e-45 + 3.4028235e+38\n",
    "  let inf: float32 = 0.5\n  let nan: float32 = inf\n",
    "  for i = 0 to 5 {\n  }\n",
    "  for i = max(0, w[0]) to min(8, w[1]) step 2 reverse {\n    y[i] = x[i]\n  }\n",
    "  if w[0] < 3 {\n    y[0] = 1:int8\n  } else {\n    y[0] = 2:int8\n  }\n",
    "  if true {\n  }\n",
    "  array t int32[8]\n  t[0] = w[0]\n  let a: int32 = t[0]\n  a = a + 1\n",
    "  comment \"a \\\"b\\\" \\\\ \\x0a\\xff\"\n",
    // Keywords are names where they stand for something.
    "  let for: int32 = 0\n  for = for + 1\n  let to: int32 = for\n  for step = to to for {\n  }\n",
    "  array array int8[4]\n  array[0] = array[1]\n",
};

TEST(LoopText, statementsPrintAsTheyParse) {
  for (const char* body : kStatements) {
    const std::string text = program_with(body);
    const Result<Program> program = parse(text);
    ASSERT_TRUE(program) << body << fault_of(text);
    EXPECT_EQ(print(*program), text);
  }
}

constexpr const char* kProgram =
    R"(program "a b"
buffer x int8[4] input align 1 tensor "in \"put\"" type int8[1,4] scale 0.1 zero_point -3
buffer y int8[4] output align 1 type int8[1,4] scales {0.1,1} zero_points {0,-1} axis 1
buffer s float32[] output align 4 type float32[]
buffer t int8[8] arena align 4 offset 16 tie 0 -4
buffer e int8[0] constant align 1 data 
buffer w int16[2] constant align 4 data 00ff1234
function g() -> int32 "a constant" spelling "__g" {
  let r: int32 = 5
  return r
}
function sum(a: int8p4) -> int16p2 "of neighbours" movable assembly "sum %0, %1" if "defined SUM" {
  return int16p2(int16(lane(a, 0)) + int16(lane(a, 1)), int16(lane(a, 2)) + int16(lane(a, 3)))
}
kernel copy(a: int8[4] read align 1, b: int8[4] write align 1) "copies" {
  for i = 0 to 4 {
    b[i] = a[i]
  }
}
run {
  comment "first"
  call copy(x, t + 4) note "n1" copy macs 0 operators [0, 1]
  for i = 0 to 3 {
    call copy(t + 4, y) note "n2" "odd kind" macs 17 operators []
  }
}
)";

TEST(LoopText, programsPrintAsTheyParse) {
  std::string text = kProgram;
  text.replace(text.find("float32[] output"), 9, "float32[1]");
  const Result<Program> program = parse(text);
  ASSERT_TRUE(program) << fault_of(text);
  EXPECT_EQ(print(*program), text);
  EXPECT_EQ(find_buffer(*program, "w")->data->as<int16_t>(), (std::vector<int16_t>{-256, 0x3412}));
  EXPECT_EQ(program->notes.at(1).macs, 17);
  const std::string without = print(*program, {.data = false});
  EXPECT_EQ(without.find("data"), std::string::npos);
  ASSERT_TRUE(parse(without)) << fault_of(without);
}

struct Wrong {
  std::string text;
  std::string fault;
};

TEST(LoopText, faultsAreNamed) {
  const std::vector<Wrong> kCases = {
      {"", R"(line 1, column 1: expected "program")"},
      {"program p\n  bufer",
       R"(line 2, column 3: expected a buffer, function, kernel or run before "bufer")"},
      {"program p run {", R"(line 1, column 16: expected "}")"},
      {"program p run {} 5", R"(line 1, column 18: text after the end of the program before "5")"},
      {"program \"p", "line 1, column 9: a quoted text without an end"},
      {"program \"\\q\"",
       "line 1, column 9: an unknown escape in a quoted text before \"\\\"\\\\q\\\"\""},
      {"program p buffer b int7[1]", R"(line 1, column 24: expected an element type before "[")"},
      {"program p buffer b int8[-1]",
       R"(line 1, column 27: expected a number of elements before "]")"},
      {"program p buffer b int8[99999999999999999999]",
       R"(line 1, column 25: expected an integer of 64 bits before "99999999999999999999")"},
      {"program p buffer b int8[1] constant align 1 data 0",
       R"(line 1, column 45: expected pairs of hexadecimal digits before "data")"},
      {"program p buffer b int8[1] constant align 1 data 0102 run {}",
       R"(line 1, column 55: data of another size than its buffer before "run")"},
      {program_with("let a: int32 = q"), R"(line 6, column 17: "q" is not defined before "}")"},
      {program_with("y[0] = q[0]"), R"(line 6, column 9: "q" is no buffer before "[")"},
      {program_with("let a: int32 = f(1,\n2) + q(1)\n"),
       R"(line 8, column 1: no function "q" of 1 arguments before "}")"},
      {program_with("let a: int64 = 5\n"),
       R"(line 7, column 1: a value of another type than stated before "}")"},
      {program_with("let a: int32 = 5 + 5:int64\n"),
       R"(line 7, column 1: operands of types int32 and int64 before "}")"},
      {program_with("let a: int8 = 128:int8\n"),
       R"(line 7, column 1: 128 is no value of int8 before "}")"},
      {program_with("let a: int32 = floordiv(5, 0)\n"),
       R"(line 7, column 1: floor division by what is no literal above 0 before "}")"},
      {program_with("let a: float32 = 1e99\n"),
       R"(line 7, column 1: 1e99 is no value of float32 before "}")"},
      {program_with("for i = 0 to 5 step 0 {}"),
       R"(line 6, column 23: expected a step above 0 before "{")"},
      {program_with("call k()"), R"(line 6, column 1: expected a statement before "call")"},
      {program_with("y[0]:int8x4 align 3 = x[0]"),
       R"(line 6, column 27: a value of another type than the place stored to before "}")"},
      {program_with("y[0] = x[0]:int8x4 align 3"),
       R"(line 6, column 27: an alignment of 3 bytes for int8x4 before "}")"},
      {program_with("for i = 0 to 5 {} y[i] = x[i]"),
       R"(line 6, column 22: "i" is not defined before "]")"},
  };
  for (const Wrong& wrong : kCases) EXPECT_EQ(fault_of(wrong.text), wrong.fault) << wrong.text;
}

std::string repeated(const std::string& text, int64_t times) {
  std::string all;
  for (int64_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(LoopText, depthIsBounded) {
  const auto nested = [](int64_t n) {
    return program_with("let a: int32 = " + repeated("(", n) + "1" + repeated(")", n) + "\n");
  };
  EXPECT_EQ(fault_of(nested(kMaxExprDepth - 1)), "");
  EXPECT_NE(fault_of(nested(kMaxExprDepth)), "");
  EXPECT_NE(fault_of(nested(100000)), "");
  EXPECT_NE(fault_of(program_with("let a: int32 = " + repeated("-(", 100000))), "");
  EXPECT_NE(fault_of(program_with("let a: bool = " + repeated("!", 100000))), "");
  EXPECT_NE(fault_of(program_with("y[" + repeated("w[", 100000))), "");
  EXPECT_NE(fault_of(program_with("let a: int32 = 1" + repeated(" + 1", 100000))), "");
  EXPECT_EQ(fault_of(program_with("let a: int32 = 1" + repeated(" + 1", 900) + "\n")), "");
  const auto blocks = [](int64_t n) {
    return program_with(repeated("if true {", n) + repeated("}", n));
  };
  EXPECT_EQ(fault_of(blocks(kMaxBlockDepth - 1)), "");
  EXPECT_NE(fault_of(blocks(kMaxBlockDepth)), "");
  EXPECT_NE(fault_of(blocks(100000)), "");
}

// Trees of every kind of node, without folding.
class RandomExpr {
 public:
  explicit RandomExpr(uint32_t seed) : random_(seed) {}

  Expr of(Type type, int depth) {
    if (depth == 0 || pick(5) == 0) return leaf(type);
    const Expr a = of(type, depth - 1);
    switch (pick(6)) {
      case 0:
        return node(type, Select{of(kBool, depth - 1), a, of(type, depth - 1)});
      case 1:
        return node(type, Cast{of(kTypes[pick(std::size(kTypes))], depth - 1)});
      case 2:
        return checked(type, UnaryExpr{static_cast<UnaryOp>(pick(10)), a});
      default:
        return checked(type, BinaryExpr{static_cast<BinaryOp>(pick(17)), a, of(type, depth - 1)});
    }
  }

 private:
  static constexpr Type kTypes[] = {kBool,           kInt8,    kInt32,   kInt64,
                                    {DType::kUInt8}, kFloat32, kFloat64, {DType::kFloat16}};

  size_t pick(size_t n) { return random_() % n; }
  template <class T>
  static Expr node(Type type, T kind) {
    return std::make_shared<const ExprNode>(ExprNode{type, std::move(kind)});
  }
  // The node, or its first operand if there is no such node.
  template <class T>
  static Expr checked(Type type, T kind) {
    ExprNode n{type, kind};
    return find_type_fault(n).empty() ? std::make_shared<const ExprNode>(n) : kind.a;
  }
  Expr leaf(Type type) {
    if (pick(3) == 0) return var("v_" + print(type), type);
    if (!is_float(type.dtype)) {
      const int64_t bits =
          static_cast<int64_t>((static_cast<uint64_t>(random_()) << 32) | random_());
      const int64_t shifted = bits >> pick(64);
      const int64_t low = lowest(type.dtype);
      const int64_t high = highest(type.dtype);
      return lit(pick(4) == 0 ? low : pick(4) == 0 ? high : std::clamp(shifted, low, high), type);
    }
    const double values[] = {0,
                             -0.0,
                             1,
                             0.1,
                             -1e-8,
                             65504,
                             5e-8,
                             1e38,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN(),
                             1.0 / 3};
    return float_lit(values[pick(std::size(values))], type);
  }

  std::mt19937 random_;
};

TEST(LoopText, randomExpressionsSurvive) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomExpr random(seed);
    Function f{"f", {}, {}, random.of(kInt32, 6), "", ""};
    for (const Type type : {kBool, kInt8, kInt32, kInt64, Type{DType::kUInt8}, kFloat32, kFloat64,
                            Type{DType::kFloat16}}) {
      f.params.push_back({"v_" + print(type), type});
    }
    Program program{"p", {}, {f}, {}, {}, {}};
    const std::string text = print(program);
    const Result<Program> back = parse(text);
    ASSERT_TRUE(back) << text << fault_of(text);
    ASSERT_TRUE(equal(program, *back)) << text << print(*back);
  }
}

// Damaged texts give programs or faults, and nothing else.
TEST(LoopText, damagedTextsAreRefusedOrParse) {
  std::mt19937 random(1);
  int64_t refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = round % 2 == 0
                           ? std::string(kProgram)
                           : program_with(kStatements[random() % std::size(kStatements)]);
    for (size_t n = random() % 3 + 1; n > 0; --n) {
      const size_t at = random() % text.size();
      const size_t count = random() % 4;
      const size_t from = random() % text.size();
      text.replace(at, count, text.substr(from, random() % 8));
    }
    const Result<Program> result = parse(text);
    refused += result ? 0 : 1;
    if (result) {
      const std::string again = print(*result);
      const Result<Program> back = parse(again);
      ASSERT_TRUE(back) << again << fault_of(again);
      ASSERT_TRUE(equal(*result, *back)) << again;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace ingot::loop
