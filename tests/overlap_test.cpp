// SPDX-License-Identifier: Apache-2.0
// Overlap inside operators, on every small shape of every operator as it is lowered and scheduled:
// the derived distance is the least by the trace of a run, and with output and input exactly that
// far apart in one memory the operator still computes what it must.
#include "loop/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "loop/interpret.h"
#include "loop/text.h"
#include "schedule/schedule.h"
#include "tests/support/element_cases.h"
#include "tests/support/operator_cases.h"
#include "tests/support/triangle.h"

namespace ingot::testing {
namespace {

using loop::Side;
using Memory = std::vector<std::vector<uint8_t>>;

struct Cases {
  std::string name;
  std::vector<OneNode> (*make)();
};

// Per parameter of the only kernel: what it is bound to, zeros where that is written.
Memory memory_of(const loop::Program& program, const OneNode& node) {
  Memory given;
  for (const TestInput& input : node.inputs) {
    if (input.absent || input.constant) continue;
    given.emplace_back(input.bytes->view().begin(), input.bytes->view().end());
  }
  Memory memory;
  for (const loop::BufferRef& arg : std::get<loop::CallKernel>(program.runner.front().kind).args) {
    const loop::Buffer& buffer = *loop::find_buffer(program, arg.buffer);
    if (buffer.kind == loop::BufferKind::kConstant) {
      memory.emplace_back(buffer.data->view().begin(), buffer.data->view().end());
    } else if (buffer.kind == loop::BufferKind::kInput) {
      // Inputs stand first, in order.
      memory.push_back(given.at(static_cast<size_t>(&buffer - program.buffers.data())));
    } else {
      memory.emplace_back(static_cast<size_t>(buffer.size_bytes()));
    }
  }
  return memory;
}

std::vector<std::span<uint8_t>> spans_of(Memory& memory) {
  std::vector<std::span<uint8_t>> spans;
  for (std::vector<uint8_t>& m : memory) spans.emplace_back(m);
  return spans;
}

struct Pair {
  size_t output = 0;
  size_t input = 0;
  Side side = Side::kBefore;
};

// By the trace of a run; limited as a distance is.
int64_t traced_distance(const loop::Program& program, const loop::Kernel& kernel, Memory memory,
                        const Pair& pair) {
  const auto bytes = [&](size_t param) { return size_in_bytes(kernel.params[param].dtype); };
  const auto size = [&](size_t param) { return kernel.params[param].num_elements * bytes(param); };
  const bool before = pair.side == Side::kBefore;
  const int64_t upper = before ? size(pair.output) : size(pair.input);
  const int64_t lower = -(before ? size(pair.input) : size(pair.output));
  std::optional<int64_t> written;
  int64_t distance = lower;
  loop::interpret(program, kernel, spans_of(memory),
                  {.on_access = [&](const loop::MemoryAccess& access) {
                    const auto param = static_cast<size_t>(access.param);
                    const int64_t begin = access.element * bytes(param);
                    const int64_t end = begin + access.lanes * bytes(param);
                    if (param == pair.output && access.is_store) {
                      const int64_t reach = before ? end : -begin;
                      written = std::max(written.value_or(reach), reach);
                    } else if (param == pair.input && written) {
                      distance = std::max(distance, *written - (before ? begin : -end));
                    }
                  }});
  return std::min(distance, upper);
}

// The output's bytes after a run with the two `distance` apart.
std::vector<uint8_t> overlapped_output(const loop::Program& program, const loop::Kernel& kernel,
                                       Memory memory, const Pair& pair, int64_t distance) {
  const int64_t behind = pair.side == Side::kBefore ? distance : -distance;  // input to output
  const auto input_begin = static_cast<size_t>(std::max<int64_t>(behind, 0));
  const auto output_begin = static_cast<size_t>(std::max<int64_t>(-behind, 0));
  const size_t input_size = memory[pair.input].size();
  const size_t output_size = memory[pair.output].size();
  std::vector<uint8_t> shared(std::max(input_begin + input_size, output_begin + output_size), 0xA5);
  std::ranges::copy(memory[pair.input], shared.begin() + static_cast<std::ptrdiff_t>(input_begin));
  std::vector<std::span<uint8_t>> spans = spans_of(memory);
  spans[pair.input] = std::span(shared).subspan(input_begin, input_size);
  spans[pair.output] = std::span(shared).subspan(output_begin, output_size);
  loop::interpret(program, kernel, spans);
  return {spans[pair.output].begin(), spans[pair.output].end()};
}

class Overlap : public ::testing::TestWithParam<Cases> {
 protected:
  // The number of pairs that were compared.
  static int64_t expect_least(const OneNode& given) {
    const OneNode node = with_data(given);
    Scheduled scheduled = schedule(program_of(node), *find_target("c99"));
    const loop::Program& program = scheduled.program;
    const loop::Kernel& forward = program.kernels.front();
    const Memory memory = memory_of(program, node);
    Memory after = memory;
    loop::interpret(program, forward, spans_of(after));
    int64_t count = 0;
    for (size_t o = 0; o < forward.params.size(); ++o) {
      for (size_t i = 0; i < forward.params.size(); ++i) {
        const bool is_pair = forward.params[o].access != loop::Access::kRead &&
                             forward.params[i].access == loop::Access::kRead &&
                             !forward.params[i].constant;
        if (!is_pair) continue;
        for (const Side side : {Side::kBefore, Side::kBehind}) {
          const auto& reversed = scheduled.reversed.front();
          const loop::Kernel& kernel = side == Side::kBehind && reversed ? *reversed : forward;
          const int64_t distance =
              loop::least_distance(kernel, forward.params[o].name, forward.params[i].name, side);
          EXPECT_EQ(distance, traced_distance(program, kernel, memory, {o, i, side}))
              << loop::print(kernel);
          EXPECT_EQ(overlapped_output(program, kernel, memory, {o, i, side}, distance), after[o])
              << loop::print(kernel);
          ++count;
        }
      }
    }
    return count;
  }
};

TEST_P(Overlap, IsSafeAndLeast) {
  int64_t count = 0;
  for (const OneNode& node : GetParam().make()) {
    count += expect_least(node);
    if (HasFailure()) FAIL() << "seed " << node.seed;
  }
  EXPECT_GT(count, 10);
}

INSTANTIATE_TEST_SUITE_P(All, Overlap,
                         ::testing::Values(Cases{"conv_2d", conv_2d_cases},
                                           Cases{"depthwise_conv_2d", depthwise_conv_2d_cases},
                                           Cases{"fully_connected", fully_connected_cases},
                                           Cases{"pool_2d", pool_2d_cases},
                                           Cases{"binary", binary_cases},
                                           Cases{"elementwise", elementwise_cases},
                                           Cases{"pad", pad_cases}, Cases{"reduce", reduce_cases},
                                           Cases{"move", move_cases}, Cases{"concat", concat_cases},
                                           Cases{"softmax", softmax_cases}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace ingot::testing
