// SPDX-License-Identifier: Apache-2.0
// Random expressions of all types: their C has no conversion that compilers warn of, no undefined
// behaviour, and the interpreter's values.
#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <random>

#include "emit/test_build.h"
#include "loop/interpret.h"
#include "loop/loop.h"
#include "loop/text.h"

namespace ingot {
namespace {

using loop::BinaryOp;
using loop::Expr;
using loop::Type;
using loop::UnaryOp;

constexpr int64_t kElements = 16;

constexpr DType kTypes[] = {DType::kInt8,  DType::kUInt8,   DType::kInt16,  DType::kUInt16,
                            DType::kInt32, DType::kUInt32,  DType::kInt64,  DType::kUInt64,
                            DType::kBool,  DType::kFloat32, DType::kFloat64};

// Builds expressions over one array per type, indexed by i, and the loop variable.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  int64_t pick(int64_t count) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(count));
  }
  DType pick_type() { return kTypes[pick(std::size(kTypes))]; }

  Expr make(DType dtype, int depth) {
    if (depth == 0 || pick(6) == 0) return leaf(dtype);
    if (pick(4) == 0) return conversion(dtype, depth);
    if (pick(8) == 0) {
      return loop::select(make(DType::kBool, depth - 1), make(dtype, depth - 1),
                          make(dtype, depth - 1));
    }
    if (dtype == DType::kBool) return make_bool(depth);
    if (pick(7) == 0) return make_unary(dtype, depth);
    if (is_float(dtype)) {
      constexpr BinaryOp kOps[] = {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kMin,
                                   BinaryOp::kMax};
      return loop::binary(kOps[pick(std::size(kOps))], make(dtype, depth - 1),
                          make(dtype, depth - 1));
    }
    return make_integer(dtype, depth);
  }

 private:
  Expr leaf(DType dtype) {
    if (pick(3) == 0) return literal(dtype);
    if (dtype == DType::kInt32 && pick(3) == 0) return loop::var("i");
    return loop::load("x_" + std::string(name_of(dtype)), loop::var("i"), Type{dtype});
  }
  Expr literal(DType dtype) {
    if (is_float(dtype))
      return loop::float_lit(static_cast<double>(pick(41) - 20) / 8, Type{dtype});
    const int64_t edges[] = {lowest(dtype), highest(dtype), 0, 1, highest(dtype) / 2};
    if (pick(3) == 0) return loop::lit(edges[pick(std::size(edges))], Type{dtype});
    return loop::lit(std::max(lowest(dtype), std::min(highest(dtype), pick(20) - 6)), Type{dtype});
  }
  Expr conversion(DType dtype, int depth) {
    const DType from = pick_type();
    // Float values are kept clear of the edges of integer types.
    if (is_float(from) && !is_float(dtype)) return leaf(dtype);
    return loop::cast(Type{dtype}, make(from, depth - 1));
  }
  Expr make_bool(int depth) {
    if (pick(2) == 0) {
      constexpr BinaryOp kOps[] = {BinaryOp::kAnd, BinaryOp::kOr, BinaryOp::kXor, BinaryOp::kEq};
      return loop::binary(kOps[pick(std::size(kOps))], make(DType::kBool, depth - 1),
                          make(DType::kBool, depth - 1));
    }
    if (pick(5) == 0) return loop::unary(UnaryOp::kNot, make(DType::kBool, depth - 1));
    const DType dtype = pick_type();
    constexpr BinaryOp kOps[] = {BinaryOp::kEq, BinaryOp::kNe, BinaryOp::kLt, BinaryOp::kLe};
    return loop::binary(kOps[pick(std::size(kOps))], make(dtype, depth - 1),
                        make(dtype, depth - 1));
  }
  Expr make_unary(DType dtype, int depth) {
    constexpr UnaryOp kIntegers[] = {UnaryOp::kNeg, UnaryOp::kNot, UnaryOp::kAbs};
    constexpr UnaryOp kFloats[] = {UnaryOp::kNeg, UnaryOp::kAbs, UnaryOp::kFloor, UnaryOp::kCeil,
                                   UnaryOp::kRound};
    const UnaryOp op =
        is_float(dtype) ? kFloats[pick(std::size(kFloats))] : kIntegers[pick(std::size(kIntegers))];
    // The interpreter holds uint64 in 63 bits.
    if (op == UnaryOp::kNot && dtype == DType::kUInt64) return leaf(dtype);
    return loop::unary(op, make(dtype, depth - 1));
  }
  Expr make_integer(DType dtype, int depth) {
    constexpr BinaryOp kOps[] = {
        BinaryOp::kAdd,      BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kDiv, BinaryOp::kFloorDiv,
        BinaryOp::kFloorMod, BinaryOp::kMin, BinaryOp::kMax, BinaryOp::kShl, BinaryOp::kShr,
        BinaryOp::kAnd,      BinaryOp::kOr,  BinaryOp::kXor};
    const BinaryOp op = kOps[pick(std::size(kOps))];
    const Expr a = make(dtype, depth - 1);
    if (op == BinaryOp::kFloorDiv || op == BinaryOp::kFloorMod) {
      return loop::binary(op, a, loop::lit(1 + pick(9), Type{dtype}));
    }
    const bool shifts = op == BinaryOp::kShl || op == BinaryOp::kShr;
    if (shifts && pick(3) > 0) {
      return loop::binary(op, a, loop::lit(pick(8 * size_in_bytes(dtype)), Type{dtype}));
    }
    return loop::binary(op, a, make(dtype, depth - 1));
  }

  std::mt19937 random_;
};

loop::Buffer make_buffer(const std::string& name, DType dtype, loop::BufferKind kind) {
  loop::Buffer buffer;
  buffer.name = name;
  buffer.dtype = dtype;
  buffer.num_elements = kElements;
  buffer.kind = kind;
  buffer.alignment = size_in_bytes(dtype);
  return buffer;
}

loop::Program empty_program() {
  loop::Program program;
  program.name = "random";
  for (const DType dtype : kTypes) {
    program.buffers.push_back(
        make_buffer("x_" + std::string(name_of(dtype)), dtype, loop::BufferKind::kInput));
  }
  return program;
}

// Adds an output and a kernel that stores `e` for each i.
void add_kernel(loop::Program& program, const Expr& e) {
  const std::string number = std::to_string(program.kernels.size());
  const DType dtype = e->type.dtype;
  program.buffers.push_back(make_buffer("y_" + number, dtype, loop::BufferKind::kOutput));
  loop::Kernel kernel;
  kernel.name = "kernel_" + number;
  loop::CallKernel call{kernel.name, {}};
  for (const DType input : kTypes) {
    const std::string name = "x_" + std::string(name_of(input));
    kernel.params.push_back(
        {name, input, kElements, loop::Access::kRead, size_in_bytes(input), false});
    call.args.push_back({name, 0});
  }
  kernel.params.push_back({"y", dtype, kElements, loop::Access::kWrite, size_in_bytes(dtype)});
  call.args.push_back({"y_" + number, 0});
  kernel.body.push_back(loop::For{"i",
                                  loop::lit(0),
                                  loop::lit(kElements),
                                  1,
                                  false,
                                  {loop::Store{"y", loop::var("i"), e, size_in_bytes(dtype)}}});
  program.kernels.push_back(kernel);
  program.runner.push_back(call);
}

std::vector<std::vector<uint8_t>> make_inputs(Generator& generator) {
  std::vector<std::vector<uint8_t>> inputs;
  for (const DType dtype : kTypes) {
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < kElements; ++i) {
      const int64_t small = std::max(lowest(is_float(dtype) ? DType::kInt8 : dtype),
                                     generator.pick(dtype == DType::kBool ? 2 : 40) -
                                         (is_signed_integer(dtype) || is_float(dtype) ? 20 : 0));
      const auto append = [&](auto value) {
        const auto* raw = reinterpret_cast<const uint8_t*>(&value);
        bytes.insert(bytes.end(), raw, raw + size_in_bytes(dtype));
      };
      if (dtype == DType::kFloat32) {
        append(static_cast<float>(small) / 4);
      } else if (dtype == DType::kFloat64) {
        append(static_cast<double>(small) / 8);
      } else {
        append(small);
      }
    }
    inputs.push_back(bytes);
  }
  return inputs;
}

// A program of random kernels none of which faults on `inputs`.
loop::Program make_program(Generator& generator, const std::vector<std::vector<uint8_t>>& inputs,
                           int64_t kernels) {
  loop::Program program = empty_program();
  while (static_cast<int64_t>(program.kernels.size()) < kernels) {
    const Expr e = generator.make(generator.pick_type(), 4);
    loop::Program alone = empty_program();
    add_kernel(alone, e);
    try {
      loop::interpret(alone, inputs);
    } catch (const InternalError&) {
      continue;  // it overflows, say: no program may contain it
    }
    add_kernel(program, e);
  }
  return program;
}

TEST(RandomExpressions, GiveTheSameInC) {
  if (!has_program("gcc") || !has_program("g++")) GTEST_SKIP() << "no gcc on the PATH";
  const std::string warnings =
      " -Werror -pedantic -Wconversion -Wsign-conversion -Wdouble-promotion -Wparentheses"
      " -Wtype-limits -Wsign-compare ";
  const std::string sanitize = " -fsanitize=undefined -fno-sanitize-recover=all ";
  const std::string commands[] = {"gcc -std=c99 -O1" + warnings + sanitize,
                                  "clang -std=c99 -O1" + warnings,
                                  "clang++ -x c++ -std=c++11 -O1" + warnings};
  const char* const wanted = std::getenv("INGOT_RANDOM_SEEDS");  // more of them by hand
  const int seeds = wanted ? std::atoi(wanted) : 2;
  for (int seed = 1; seed <= seeds; ++seed) {
    Generator generator(static_cast<uint32_t>(seed));
    const std::vector<std::vector<uint8_t>> inputs = make_inputs(generator);
    const loop::Program program = make_program(generator, inputs, 200);
    const EmitOptions options;
    const TemporaryFolder folder;
    std::string input_bytes;
    for (const auto& part : inputs) input_bytes.append(part.begin(), part.end());
    std::string expected;
    for (const auto& part : loop::interpret(program, inputs)) {
      expected.append(part.begin(), part.end());
    }
    for (const CFile& file : emit_c(program, options)) {
      write_text(folder.path() / file.name, file.text.str());
    }
    write_text(folder.path() / "in.bin", input_bytes);
    write_text(folder.path() / "main.cpp", main_text(program, options));
    for (const std::string& command : commands) {
      if (!has_program(command.substr(0, command.find(' ')))) continue;
      int status = 0;
      const std::string output =
          run_command(folder.path(),
                      command + "-c random.c && g++ -std=c++11" + sanitize +
                          "main.cpp random.o -lm -o main && ./main in.bin out.bin",
                      status);
      ASSERT_EQ(status, 0) << command << " seed " << seed << "\n" << output.substr(0, 3000);
      std::ifstream file(folder.path() / "out.bin", std::ios::binary);
      const std::string actual{std::istreambuf_iterator<char>(file), {}};
      ASSERT_EQ(actual.size(), expected.size());
      size_t offset = 0;
      for (size_t k = 0; k < program.kernels.size(); ++k) {
        const auto size =
            static_cast<size_t>(loop::find_buffer(program, "y_" + std::to_string(k))->size_bytes());
        EXPECT_EQ(actual.substr(offset, size), expected.substr(offset, size))
            << command << loop::print(program.kernels[k]);
        offset += size;
      }
    }
  }
}

}  // namespace
}  // namespace ingot
