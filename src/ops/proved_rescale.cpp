// SPDX-License-Identifier: Apache-2.0
#include "ops/proved_rescale.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/reference_math.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::Expr;

// The output of the reference before the clamp, as a function of the accumulator.
auto reference_output(const RescaleTask& task, double factor) {
  // What reference::requantize() would work out at each call.
  const bool is_float = task.rounding == Rounding::kFloat;
  const QuantizedMultiplier m = is_float ? QuantizedMultiplier() : quantize_multiplier(factor);
  return [&task, factor, is_float, m](int64_t accumulator) {
    const auto acc = static_cast<int32_t>(accumulator);
    return task.zero_point +
           (is_float ? reference::requantize(acc, factor, task.rounding)
                     : reference::multiply_by_quantized_multiplier(acc, m, task.rounding));
  };
}

// Of the output less `base`.
std::vector<Staircase> staircases_of(const RescaleTask& task, int64_t base) {
  std::vector<Staircase> all;
  for (size_t c = 0; c < task.accumulators.size(); ++c) {
    const double factor = task.factors.size() == 1 ? task.factors.front() : task.factors.at(c);
    const auto unclamped = reference_output(task, factor);
    const auto output = [&](int64_t accumulator) {
      return std::clamp(unclamped(accumulator), task.clamp.low, task.clamp.high) - base;
    };
    all.push_back(staircase_of(output, task.accumulators[c], factor));
  }
  return all;
}

// Whether an output of the reference lies outside of the clamp.
bool can_saturate(const RescaleTask& task) {
  for (size_t c = 0; c < task.accumulators.size(); ++c) {
    const double factor = task.factors.size() == 1 ? task.factors.front() : task.factors.at(c);
    const auto output = reference_output(task, factor);
    if (output(task.accumulators[c].low) < task.clamp.low) return true;
    if (output(task.accumulators[c].high) > task.clamp.high) return true;
  }
  return false;
}

std::vector<LineForm> forms_for(const RescaleTask& task, std::optional<Interval> clamp) {
  const double largest = std::ranges::max(task.factors);
  int exponent = 0;
  std::frexp(largest, &exponent);  // largest < 2^exponent
  const int64_t most = std::clamp<int64_t>(31 - exponent, 0, 52);
  std::vector<LineForm> forms;
  for (const bool bent : {false, true}) {
    if (most >= 32) forms.push_back({32, bent, clamp});
    forms.push_back({most, bent, clamp});
    if (most > 0) forms.push_back({most - 1, bent, clamp});
  }
  return forms;
}

// One staircase over all that any channel reaches, where they have one factor; it does for each.
RescaleTask with_common_range(RescaleTask task) {
  Interval all = task.accumulators.front();
  for (const Interval& range : task.accumulators) all = loop::join(all, range);
  task.accumulators = {all};
  return task;
}

bool same_factors(const RescaleTask& task) {
  return std::ranges::all_of(task.factors, [&](double f) { return f == task.factors.front(); });
}

template <class T, class Member>
std::vector<T> column(const std::vector<Line>& lines, Member member) {
  std::vector<T> values;
  for (const Line& line : lines) values.push_back(static_cast<T>(line.*member));
  return values;
}

Expr i64(const Expr& e) { return loop::cast(loop::kInt64, e); }

}  // namespace

int64_t num_searches(const RescaleTask& task) {
  return same_factors(task) ? 1 : std::ssize(task.accumulators);
}

std::optional<ProvedRescale> prove_rescale(const RescaleTask& given) {
  if (given.accumulators.empty()) return std::nullopt;
  const RescaleTask task = same_factors(given) ? with_common_range(given) : given;
  for (const Interval& range : task.accumulators) {
    if (range.low < std::numeric_limits<int32_t>::min()) return std::nullopt;
    if (range.high > std::numeric_limits<int32_t>::max()) return std::nullopt;
  }
  const bool clamps = can_saturate(task);
  // Saturation to all of int8 is one instruction on Arm, and so is one that starts at 0.
  const bool is_whole_type = task.clamp == Interval{-128, 127};
  const int64_t base = clamps && !is_whole_type ? task.clamp.low : 0;
  const std::optional<Interval> clamp =
      clamps ? std::optional(Interval{task.clamp.low - base, task.clamp.high - base})
             : std::nullopt;
  const std::vector<Staircase> stairs = staircases_of(task, base);
  for (const LineForm& form : forms_for(task, clamp)) {
    ProvedRescale proved{base, form, {}};
    for (const Staircase& channel : stairs) {
      const std::optional<Line> line = find_line(channel, form);
      if (!line) break;
      CHECK(is_proved(channel, form, *line));
      proved.lines.push_back(*line);
    }
    if (proved.lines.size() == stairs.size()) return proved;
  }
  return std::nullopt;
}

ProvedRescaler::ProvedRescaler(Lowering& lowering, const RescaleTask& task,
                               const ProvedRescale& proved) {
  record_.proved = true;
  record_.clamps = proved.form.clamp.has_value();
  record_.base = proved.base;
  record_.shift = proved.form.shift;
  record_.multipliers = column<int64_t>(proved.lines, &Line::multiplier);
  record_.offsets = column<int64_t>(proved.lines, &Line::offset);
  if (proved.form.bent) record_.bends = column<int64_t>(proved.lines, &Line::bend);
  if (proved.lines.size() == 1) return;
  // The bend needs the sign of the whole sum, so it leaves the bias there.
  if (!proved.form.bent && !task.biases.empty()) {
    record_.biases_in_offsets = task.biases;
    for (size_t c = 0; c < task.biases.size(); ++c) {
      record_.offsets[c] += task.biases[c] * record_.multipliers[c];
    }
  }
  record_.multipliers_table = lowering.constant(
      "multipliers", DType::kInt32, Bytes::of(column<int32_t>(proved.lines, &Line::multiplier)));
  record_.offsets_table = lowering.constant("offsets", DType::kInt64, Bytes::of(record_.offsets));
  if (record_.bends.empty()) return;
  record_.bends_table = lowering.constant("bends", DType::kInt32,
                                          Bytes::of(column<int32_t>(proved.lines, &Line::bend)));
}

Expr ProvedRescaler::apply(const Expr& accumulator, const Expr& channel) const {
  const bool tables = !record_.multipliers_table.empty();
  const auto constant = [&](const std::string& table, DType dtype, int64_t value) {
    return i64(tables ? Lowering::load(table, dtype, channel)
                      : loop::lit(value, loop::Type{dtype}));
  };
  const Expr multiplier =
      constant(record_.multipliers_table, DType::kInt32, record_.multipliers.front());
  const Expr offset = constant(record_.offsets_table, DType::kInt64, record_.offsets.front());
  Expr sum = i64(accumulator) * multiplier + offset;
  if (!record_.bends.empty()) {
    const Expr bend = constant(record_.bends_table, DType::kInt32, record_.bends.front());
    sum = sum + i64(loop::shr(accumulator, 31)) * bend;
  }
  return loop::cast(loop::kInt32, loop::shr(sum, record_.shift));
}

}  // namespace ingot
