// SPDX-License-Identifier: Apache-2.0
#include "schedule/gathered_dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "schedule/block.h"
#include "schedule/channel_table.h"
#include "schedule/lane_finish.h"
#include "schedule/vector_weights.h"
#include "support/arithmetic.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;
using loop::Type;
using loop::var;

constexpr int64_t kWord = 4;
constexpr int64_t kVector = 16;
constexpr int64_t kMostVectors = 4;     // of x, for the columns of a block
constexpr int64_t kFewestChannels = 8;  // that gathering pays for
constexpr Type kBytes{DType::kInt8, kVector};
constexpr Type kInts{DType::kInt32, 4};

using Tap = std::vector<int64_t>;  // the values of the sums

// Every tap, so that words of four lie side by side in x as far as the runs are long: the rests of
// the runs come last.
std::vector<Tap> taps_in_words(const Contraction& c, const std::vector<SumRange>& ranges) {
  int64_t length = 1;
  size_t num_outer = c.sums.size();
  while (num_outer > 0 && c.x.index.factor(c.sums[num_outer - 1].variable) == length) {
    length *= ranges[--num_outer].full.end;
  }
  int64_t steps = 1;
  for (size_t s = 0; s < num_outer; ++s) steps *= ranges[s].full.end;
  std::vector<Tap> words;
  std::vector<Tap> rests;
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t i = 0; i < length; ++i) {
      Tap tap(c.sums.size());
      int64_t rest = step * length + i;
      for (size_t s = tap.size(); s-- > 0;) {
        tap[s] = rest % ranges[s].full.end;
        rest /= ranges[s].full.end;
      }
      (i < length / kWord * kWord ? words : rests).push_back(std::move(tap));
    }
  }
  words.insert(words.end(), rests.begin(), rests.end());
  return words;
}

class GatheredDotBuilder {
 public:
  GatheredDotBuilder(const loop::Program& program, const loop::Kernel& kernel, Contraction c,
                     std::vector<SumRange> ranges, std::vector<Tap> taps, bool reverse,
                     const DotShape& shape)
      : kernel_(kernel),
        c_(std::move(c)),
        axes_(axes_of(c_)),
        ranges_(std::move(ranges)),
        taps_(std::move(taps)),
        reverse_(reverse),
        shape_(shape) {
    num_vectors_ = ceil_div(std::ssize(taps_), kVector);
    const int64_t width = *axes_.positions.back().extent();
    columns_ = width % 2 == 0 && 2 * num_vectors_ <= kMostVectors ? 2 : 1;
    chunks_ = chunks_of(*axes_.channel.extent(), shape.lanes, 1);
    names_ = names_in(kernel);
    packed_ = loop::fresh_name(c_.w.buffer + "_packed", names_);
    sums_ = loop::fresh_name(c_.w.buffer + "_sums", names_);
    finish_.emplace(c_, axes_.channel.variable, program, shape.known, names_);
  }

  std::optional<Rescheduled> build() {
    Rescheduled out;
    out.kernel = kernel_;
    Block body = gathered();
    append(body, with_channels());
    for (size_t p = axes_.positions.size(); p-- > 0;) {
      const LoopRange& axis = axes_.positions[p];
      const bool is_column = p + 1 == axes_.positions.size();
      body = {loop::For{axis.variable, axis.begin, axis.end, is_column ? columns_ : 1, reverse_,
                        std::move(body)}};
    }
    out.kernel.body = loop::simplify(body);
    if (finish_->failed()) return std::nullopt;
    replace_params(out);
    out.functions = shape_.functions;
    finish_->add_functions(out.functions);
    if (shape_.joins_tables) join_channel_tables(out, packed_);
    return out;
  }

 private:
  // ---- The elements of x.

  // The values of the position of sum `s` at which its tap is `value`.
  Span positions_of(size_t s, int64_t value) const {
    Span span;
    const std::vector<Span>& spans = ranges_[s].spans;
    for (int64_t v = 0; v < std::ssize(spans); ++v) {
      const Span& taps = spans[static_cast<size_t>(v)];
      if (value < taps.begin || value >= taps.end) continue;
      if (span.length() == 0) span = {v, v};
      span.end = v + 1;
    }
    return span;
  }

  // That position `variable` of column `p` lies within `span`; null if it always does.
  Expr is_within(const std::string& variable, const Span& span, int64_t p) const {
    const auto axis = std::ranges::find(axes_.positions, variable, &LoopRange::variable);
    const bool is_column = variable == axes_.positions.back().variable;
    const int64_t shift = is_column ? p : 0;
    Expr all = nullptr;
    if (span.begin > 0) all = loop::less(lit(span.begin - shift - 1), var(variable));
    if (span.end < *axis->extent()) {
      all = both(all, loop::less(var(variable), lit(span.end - shift)));
    }
    return all;
  }
  static Expr both(const Expr& a, const Expr& b) {
    return a && b ? loop::binary(loop::BinaryOp::kAnd, a, b) : a ? a : b;
  }

  // That the tap lies within x; null if it always does.
  Expr is_inside(const Tap& tap, int64_t p) const {
    Expr all = nullptr;
    for (size_t s = 0; s < tap.size(); ++s) {
      if (ranges_[s].variable.empty()) continue;
      all = both(all, is_within(ranges_[s].variable, positions_of(s, tap[s]), p));
    }
    return all;
  }
  // That all do.
  Expr is_full(int64_t p) const {
    Expr all = nullptr;
    for (const LoopRange& axis : axes_.positions) {
      const Span full = full_positions(ranges_, axis.variable, *axis.extent());
      all = both(all, is_within(axis.variable, full, p));
    }
    return all;
  }

  Expr element(const Tap& tap, int64_t p, Type type) const {
    AffineIndex index = c_.x.index;
    for (size_t s = 0; s < tap.size(); ++s) {
      index.constant += tap[s] * index.factor(c_.sums[s].variable);
      index.factors.erase(c_.sums[s].variable);
    }
    index.constant += p * index.factor(axes_.positions.back().variable);
    std::vector<std::string> order;
    for (const LoopRange& axis : axes_.positions) order.push_back(axis.variable);
    return loop::load(c_.x.buffer, index.expr(order), type, 1);
  }

  bool is_word(int64_t first) const {
    if (first + kWord > std::ssize(taps_)) return false;
    std::vector<int64_t> places;
    for (int64_t i = 0; i < kWord; ++i) {
      std::map<std::string, int64_t> at;
      for (const LoopRange& axis : c_.outer) at[axis.variable] = 0;
      const Tap& tap = taps_[static_cast<size_t>(first + i)];
      for (size_t s = 0; s < tap.size(); ++s) at[c_.sums[s].variable] = tap[s];
      places.push_back(c_.x.index.at(at));
      if (places.back() != places.front() + i) return false;
    }
    return true;
  }

  // Four taps from `first` on; `guarded`: each may lie outside of x.
  Expr word(int64_t first, int64_t p, bool guarded) const {
    const Expr outside = lit(-c_.x.offset, loop::kInt8);
    if (!guarded && is_word(first)) {
      return element(taps_[static_cast<size_t>(first)], p, loop::kInt8x4);
    }
    std::vector<Expr> elements;
    for (int64_t i = first; i < first + kWord; ++i) {
      if (i >= std::ssize(taps_)) {
        elements.push_back(lit(0, loop::kInt8));
        continue;
      }
      const Tap& tap = taps_[static_cast<size_t>(i)];
      const Expr inside = guarded ? is_inside(tap, p) : nullptr;
      const Expr x = element(tap, p, loop::kInt8);
      elements.push_back(inside ? loop::select(inside, x, outside) : x);
    }
    return loop::pack(loop::kInt8x4, std::move(elements));
  }

  Expr vector(int64_t g, int64_t p, bool guarded) const {
    std::vector<Expr> words;
    for (int64_t i = 0; i < kVector; i += kWord) {
      words.push_back(word(g * kVector + i, p, guarded));
    }
    return loop::call("words_x4", kBytes, std::move(words));
  }

  Block gathered() {
    Block out;
    for (int64_t p = 0; p < columns_; ++p) {
      const Expr full = is_full(p);
      Block plain;
      Block guarded;
      for (int64_t g = 0; g < num_vectors_; ++g) {
        const std::string name = loop::fresh_name(fmt::format("x_{}_{}", g, p), names_);
        x_[{g, p}] = name;
        if (!full) {
          out.emplace_back(loop::Let{name, vector(g, p, false)});
          continue;
        }
        out.emplace_back(loop::Let{name, loop::cast(kBytes, lit(0, loop::kInt8))});
        plain.emplace_back(loop::Assign{name, vector(g, p, false)});
        guarded.emplace_back(loop::Assign{name, vector(g, p, true)});
      }
      if (full) out.emplace_back(loop::If{full, std::move(plain), std::move(guarded)});
    }
    return out;
  }

  // ---- The outputs of one block.

  Block with_channels() {
    Block out;
    for (const Chunk& chunk : chunks_) {
      Block block = chunk.num_blocks == 1
                        ? outputs(chunk, lit(chunk.first))
                        : Block{loop::For{axes_.channel.variable, lit(chunk.first),
                                          lit(chunk.end()), chunk.channels(), reverse_,
                                          outputs(chunk, var(axes_.channel.variable))}};
      out = reverse_ ? joined(std::move(block), std::move(out))
                     : joined(std::move(out), std::move(block));
    }
    return out;
  }

  Block outputs(const Chunk& chunk, const Expr& channel) {
    Block out;
    std::map<std::pair<int64_t, int64_t>, std::string> sums;  // by channel and column
    for (int64_t g = 0; g < num_vectors_; ++g) {
      for (int64_t u = 0; u < chunk.lanes; ++u) {
        const std::string w = loop::fresh_name("w_part", names_);
        const Expr index = channel * (num_vectors_ * kVector) + (g * chunk.lanes + u) * kVector;
        out.emplace_back(loop::Let{w, loop::load(packed_, index, kBytes, 4)});
        for (int64_t p = 0; p < columns_; ++p) {
          const Expr x = var(x_.at({g, p}), kBytes);
          std::string& sum = sums[{u, p}];
          if (g == 0) {
            sum = loop::fresh_name(fmt::format("sum_{}_{}", u, p), names_);
            out.emplace_back(
                loop::Let{sum, loop::call(shape_.first_dot, loop::kInt32, {x, var(w, kBytes)})});
            continue;
          }
          out.emplace_back(loop::Assign{sum, loop::call(shape_.parts.front().dot, loop::kInt32,
                                                        {var(sum), x, var(w, kBytes)})});
        }
      }
    }
    std::vector<Block> columns;
    for (int64_t p = 0; p < columns_; ++p) {
      const auto sum = [&](int64_t u) { return var(sums.at({u, p})); };
      columns.push_back(finish(chunk, channel, p, four_lanes(sum(0), sum(1), sum(2), sum(3))));
    }
    append(out, with_stores_last(columns));
    return out;
  }

  Expr four_lanes(const Expr& a, const Expr& b, const Expr& c, const Expr& d) const {
    return loop::call(columns_ == 1 ? "with_lanes_1_3" : "with_lanes_1_3_and_lr", kInts,
                      {loop::call("lanes_0_2", kInts, {a, c}), b, d});
  }

  Block finish(const Chunk& chunk, const Expr& channel, int64_t p, const Expr& sum) {
    std::map<std::string, Expr> values;
    if (columns_ > 1) {
      const std::string& column = axes_.positions.back().variable;
      values[column] = var(column) + p;
    }
    Expr first = finish_->first(channel, chunk, values);
    if (c_.x.offset != 0) first = first + loop::load(sums_, channel, kInts, 4);
    return finish_->finish(channel, chunk.valid, sum + first, values);
  }

  // ---- Parameters.

  int64_t padded_channels() const { return chunks_.back().end(); }

  int64_t weight_of(int64_t channel, const Tap& tap) const {
    std::map<std::string, int64_t> at;
    for (const LoopRange& axis : c_.outer) at[axis.variable] = 0;
    at[axes_.channel.variable] = channel;
    for (size_t s = 0; s < tap.size(); ++s) at[c_.sums[s].variable] = tap[s];
    return c_.w.index.at(at);
  }

  void replace_params(Rescheduled& out) const {
    const int64_t count = *axes_.channel.extent();
    std::vector<int64_t> order;
    for (int64_t first = 0; first < padded_channels(); first += kInts.lanes) {
      for (int64_t g = 0; g < num_vectors_; ++g) {
        for (int64_t channel = first; channel < first + kInts.lanes; ++channel) {
          for (int64_t i = g * kVector; i < (g + 1) * kVector; ++i) {
            const bool exists = i < std::ssize(taps_) && channel < count;
            order.push_back(exists ? weight_of(channel, taps_[static_cast<size_t>(i)]) : -1);
          }
        }
      }
    }
    std::vector<std::vector<int64_t>> rows(static_cast<size_t>(padded_channels()));
    for (int64_t channel = 0; channel < count; ++channel) {
      for (const Tap& tap : taps_) {
        rows[static_cast<size_t>(channel)].push_back(weight_of(channel, tap));
      }
    }
    const auto w = std::ranges::find(out.kernel.params, c_.w.buffer, &loop::Param::name);
    loop::Param sums = *w;
    w->name = packed_;
    w->num_elements = std::ssize(order);
    w->alignment = shape_.weight_alignment;
    out.constants.push_back(derived(packed_, c_.w.buffer, [order](const Bytes& weights) {
      return packed_weights(weights, order, DType::kInt8);
    }));
    if (c_.x.offset == 0) return;
    sums.name = sums_;
    sums.dtype = DType::kInt32;
    sums.num_elements = padded_channels();
    sums.alignment = 4;
    out.kernel.params.insert(w + 1, sums);
    const int64_t factor = c_.x.offset;
    out.constants.push_back(derived(sums_, c_.w.buffer, [rows, factor](const Bytes& weights) {
      return sums_of_weights(weights, rows, factor);
    }));
  }

  const loop::Kernel& kernel_;
  Contraction c_;
  Axes axes_;
  std::vector<SumRange> ranges_;
  std::vector<Tap> taps_;
  bool reverse_;
  const DotShape& shape_;
  int64_t num_vectors_ = 1;
  int64_t columns_ = 1;
  std::vector<Chunk> chunks_;
  std::set<std::string> names_;
  std::string packed_;
  std::string sums_;
  std::map<std::pair<int64_t, int64_t>, std::string> x_;  // by vector and column
  std::optional<LaneFinish> finish_;
};

// The vectors of x that schedule_vector_dot reads for each position.
int64_t vectors_of_runs(const Contraction& c, const std::vector<SumRange>& ranges,
                        const std::string& column, int64_t num_elements) {
  const std::optional<Run> run = find_run(c, ranges, column, num_elements, kVector);
  if (!run) return kMostVectors + 1;
  int64_t vectors = ceil_div(run->length, kVector);
  for (size_t s = 0; s < run->num_outer; ++s) vectors *= ranges[s].full.end;
  return vectors;
}

}  // namespace

std::optional<Rescheduled> schedule_gathered_dot(const loop::Program& program,
                                                 const loop::Kernel& kernel, bool reverse,
                                                 const DotShape& shape) {
  std::optional<Contraction> found = find_contraction(kernel);
  if (!shape.across || !found) return std::nullopt;
  Contraction c = with_collapsed_positions(*std::move(found));
  const bool bytes = c.x.dtype == DType::kInt8 && c.w.dtype == DType::kInt8;
  if (!bytes || c.w.offset != 0 || c.x.offset < -127 || c.x.offset > 128) return std::nullopt;
  std::string column;
  std::string channel;
  for (const LoopRange& axis : c.outer) {
    const bool is_channel = c.is_channel(axis);
    if (is_channel && !channel.empty()) return std::nullopt;
    (is_channel ? channel : column) = axis.variable;
  }
  if (channel.empty() || column.empty() || c.x.index.factor(channel) != 0) return std::nullopt;
  if (*c.find_outer(channel)->extent() < kFewestChannels) return std::nullopt;
  std::optional<std::vector<SumRange>> ranges = ranges_of_sums(c);
  if (!ranges) return std::nullopt;
  int64_t count = 1;
  for (const SumRange& range : *ranges) {
    count = checked_mul(count, range.full.end).value_or(kMostVectors * kVector + 1);
    if (count < 1 || count > kMostVectors * kVector) return std::nullopt;
  }
  const auto x = std::ranges::find(kernel.params, c.x.buffer, &loop::Param::name);
  if (ceil_div(count, kVector) >= vectors_of_runs(c, *ranges, column, x->num_elements)) {
    return std::nullopt;
  }
  std::vector<Tap> taps = taps_in_words(c, *ranges);
  return GatheredDotBuilder(program, kernel, std::move(c), *std::move(ranges), std::move(taps),
                            reverse, shape)
      .build();
}

}  // namespace ingot
