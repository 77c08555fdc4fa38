// SPDX-License-Identifier: Apache-2.0
#include "schedule/dsp_depthwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "schedule/block.h"
#include "schedule/columns.h"
#include "schedule/zero_point_sums.h"
#include "target/intrinsics.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;
using loop::var;

constexpr int64_t kChannels = 4;      // of a word
constexpr int64_t kMostUnrolled = 5;  // steps of the innermost sum

// The columns at which the innermost sum has the same bounds.
struct ColumnClass {
  Span columns;
  Span taps;
};

class DepthwiseBuilder {
 public:
  DepthwiseBuilder(const loop::Kernel& kernel, Contraction c, std::vector<SumRange> ranges,
                   bool reverse)
      : kernel_(kernel), c_(std::move(c)), ranges_(std::move(ranges)), reverse_(reverse) {
    channel_ = c_.outer.back();
    positions_.assign(c_.outer.begin(), c_.outer.end() - 1);
    names_ = names_in(kernel);
    sums_.emplace(c_, channel_.variable, names_);
    zero_point_ = loop::fresh_name("minus_zero_point", names_);
    halves_ = loop::fresh_name(c_.w.buffer + "_halves", names_);
  }

  Rescheduled build() {
    Rescheduled out;
    out.kernel = kernel_;
    out.kernel.body = with_positions();
    if (uses_zero_point_) {
      const Expr half = lit(c_.x.offset, loop::kInt16);
      out.kernel.body.insert(out.kernel.body.begin(),
                             loop::Let{zero_point_, loop::pack(loop::kInt16x2, {half, half})});
    }
    out.kernel.body = loop::simplify(out.kernel.body);
    add_sums(out);
    widen_weights(out);
    out.functions = arm_dsp_intrinsics();
    return out;
  }

 private:
  // How one position or two are made; `taps` of the innermost sum, where they are known.
  struct Tile {
    int64_t num_positions = 1;
    std::optional<Span> taps;
    bool zero_point_apart = false;
  };

  Block with_positions() {
    Columns columns(positions_, ranges_, 2, reverse_, names_);
    Block row;
    for (const ColumnClass& k : classes()) {
      const bool full = k.taps == ranges_.back().full && is_full_otherwise();
      const Tile single = {1, k.taps, false};
      const Tile pair = {2, k.taps, c_.x.offset != 0};
      row = columns.in_order(std::move(row), columns.segment(
                                                 k.columns, full ? k.columns : Span{},
                                                 [&] { return with_channels(single); },
                                                 [&] { return with_channels(pair); }));
    }
    return columns.rows(std::move(row));
  }

  // No outer sum depends on the column.
  bool is_full_otherwise() const {
    return std::all_of(ranges_.begin(), ranges_.end() - 1,
                       [&](const SumRange& r) { return r.variable != positions_.back().variable; });
  }

  std::vector<ColumnClass> classes() const {
    const SumRange& range = ranges_.back();
    const int64_t width = *positions_.back().extent();
    if (range.variable != positions_.back().variable) return {{{0, width}, range.full}};
    std::vector<ColumnClass> classes;
    for (int64_t v = 0; v < width; ++v) {
      const Span& taps = range.spans[static_cast<size_t>(v)];
      if (classes.empty() || classes.back().taps != taps) classes.push_back({{v, v}, taps});
      classes.back().columns.end = v + 1;
    }
    return classes;
  }

  Block with_channels(const Tile& tile) {
    const int64_t count = *channel_.extent();
    const int64_t whole = count / kChannels * kChannels;
    Block out = {loop::For{channel_.variable, lit(0), lit(whole), kChannels, reverse_,
                           group(tile, var(channel_.variable))}};
    if (whole == count) return out;
    Block rest = group(tile, lit(count - kChannels));
    return reverse_ ? joined(std::move(rest), std::move(out))
                    : joined(std::move(out), std::move(rest));
  }

  // Four channels from `channel` on.
  Block group(const Tile& tile, const Expr& channel) {
    sums_of_.clear();
    Block out;
    for (int64_t k = 0; k < kChannels; ++k) {
      for (int64_t p = 0; p < tile.num_positions; ++p) {
        const std::string name = loop::fresh_name(fmt::format("sum_{}_{}", k, p), names_);
        sums_of_[{k, p}] = name;
        out.emplace_back(loop::Let{name, lit(0)});
      }
    }
    if (by_x(tile)) {
      // Half of the channels at a time: 14 registers hold no more sums and weights.
      for (const int64_t half : {0, 1}) {
        half_ = half;
        append(out, sum_loops(tile, channel, 0));
      }
    } else {
      append(out, sum_loops(tile, channel, 0));
    }
    for (int64_t p = 0; p < tile.num_positions; ++p) {
      for (int64_t k = 0; k < kChannels; ++k) append(out, finish(tile, channel, k, p));
    }
    return out;
  }

  Block sum_loops(const Tile& tile, const Expr& channel, size_t s, const Expr& term = lit(0)) {
    const LoopRange& sum = c_.sums[s];
    const Expr own_term = term * ranges_[s].full.end;
    if (s + 1 == c_.sums.size()) return innermost(tile, channel, own_term);
    const bool full = tile.num_positions > 1;
    return {loop::For{sum.variable, full ? lit(ranges_[s].full.begin) : sum.begin,
                      full ? lit(ranges_[s].full.end) : sum.end, 1, false,
                      sum_loops(tile, channel, s + 1, own_term + var(sum.variable))}};
  }

  // `term`: the number of the row of taps in the table, times their number.
  Block innermost(const Tile& tile, const Expr& channel, const Expr& term) {
    const LoopRange& sum = c_.sums.back();
    if (by_x(tile)) return row_by_x(tile, channel, term);
    if (tile.taps->length() > kMostUnrolled) {
      return {loop::For{sum.variable, lit(tile.taps->begin), lit(tile.taps->end), 1, false,
                        tap(tile, channel, term, var(sum.variable))}};
    }
    Block out;
    for (int64_t t = tile.taps->begin; t < tile.taps->end; ++t) {
      append(out, tap(tile, channel, term, lit(t)));
    }
    return out;
  }

  // One term of each output.
  Block tap(const Tile& tile, const Expr& channel, const Expr& term, const Expr& t) {
    Block out;
    const Expr at = first_half(channel) + (term + t) * kChannels;
    const std::string even = let(out, "w_even", loop::load(halves_, at, loop::kInt16x2, 4));
    const std::string odd = let(out, "w_odd", loop::load(halves_, at + 2, loop::kInt16x2, 4));
    for (int64_t p = 0; p < tile.num_positions; ++p) {
      const std::string x = let(out, "x_word", load(c_.x, channel, t, p));
      add_products(out, let(out, "x_even", extended_x(tile, "", x)), even, 0, p);
      add_products(out, let(out, "x_odd", extended_x(tile, "_ror8", x)), odd, 1, p);
    }
    return out;
  }

  // Whether rows of taps are summed word by word of x, each being used for all columns.
  static bool by_x(const Tile& tile) {
    return tile.num_positions > 1 && tile.taps->length() <= kMostUnrolled;
  }

  // The terms of a row of taps for two of the four channels: the weights, then each word of x for
  // all sums that it is in.
  Block row_by_x(const Tile& tile, const Expr& channel, const Expr& term) {
    const int64_t tap_step = c_.x.index.factor(c_.sums.back().variable);
    const int64_t column_step = c_.x.index.factor(positions_.back().variable);
    Block out;
    std::map<int64_t, std::string> weights;
    // By the place of x: the tap and the column.
    std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> uses;
    for (int64_t t = tile.taps->begin; t < tile.taps->end; ++t) {
      const Expr at = first_half(channel) + (term + t) * kChannels + 2 * half_;
      weights[t] =
          let(out, half_ == 0 ? "w_even" : "w_odd", loop::load(halves_, at, loop::kInt16x2, 4));
      for (int64_t p = 0; p < tile.num_positions; ++p) {
        uses[t * tap_step + p * column_step].emplace_back(t, p);
      }
    }
    for (const auto& [place, terms] : uses) {
      const auto& [first_tap, first_column] = terms.front();
      const std::string word =
          let(out, "x_word", load(c_.x, channel, lit(first_tap), first_column));
      const std::string x = let(out, half_ == 0 ? "x_even" : "x_odd",
                                extended_x(tile, half_ == 0 ? "" : "_ror8", word));
      for (const auto& [t, p] : terms) add_products(out, x, weights.at(t), half_, p);
    }
    return out;
  }

  // Where the halfwords of the group at `channel` begin: the last one stands apart where it
  // overlaps the one before.
  Expr first_half(const Expr& channel) const {
    const auto* first = loop::as<loop::IntLit>(channel);
    if (!first) return channel * num_terms();
    return lit((first->value + kChannels - 1) / kChannels * kChannels * num_terms());
  }

  int64_t num_terms() const {
    int64_t terms = 1;
    for (const SumRange& range : ranges_) terms *= range.full.end;
    return terms;
  }

  std::string let(Block& out, const char* name, Expr value) {
    std::string unique = loop::fresh_name(name, names_);
    out.emplace_back(loop::Let{unique, std::move(value)});
    return unique;
  }

  static Expr extended(const std::string& function, const std::string& word) {
    return loop::call(function, loop::kInt16x2, {var(word, loop::kInt8x4)});
  }
  Expr extended_x(const Tile& tile, const std::string& suffix, const std::string& word) {
    if (c_.x.offset == 0 || tile.zero_point_apart) return extended("sxtb16" + suffix, word);
    uses_zero_point_ = true;
    return loop::call("sxtab16" + suffix, loop::kInt16x2,
                      {var(zero_point_, loop::kInt16x2), var(word, loop::kInt8x4)});
  }

  // Channels `first` and `first` + 2 of the group.
  void add_products(Block& out, const std::string& x, const std::string& w, int64_t first,
                    int64_t p) const {
    for (const int64_t half : {0, 1}) {
      const std::string& sum = sums_of_.at({first + 2 * half, p});
      out.emplace_back(loop::Assign{
          sum, loop::call(half == 0 ? "smlabb" : "smlatt", loop::kInt32,
                          {var(sum), var(w, loop::kInt16x2), var(x, loop::kInt16x2)})});
    }
  }

  Expr load(const Factor& factor, const Expr& channel, const Expr& t, int64_t position) const {
    AffineIndex index = factor.index;
    int64_t rest = std::exchange(index.constant, 0);
    rest += position * index.factor(positions_.back().variable);
    const std::string& tap = c_.sums.back().variable;
    const Expr moved = t * index.factor(tap) + channel;
    index.factors.erase(tap);
    index.factors.erase(channel_.variable);
    std::vector<std::string> order;
    for (const LoopRange& axis : c_.outer) order.push_back(axis.variable);
    return loop::load(factor.buffer, (index.expr(order) + moved) + rest, loop::kInt8x4, 1);
  }

  Block finish(const Tile& tile, const Expr& channel, int64_t k, int64_t p) {
    const Expr own = channel + k;
    std::map<std::string, Expr> values = {{channel_.variable, own}};
    if (tile.num_positions > 1) {
      const std::string& column = positions_.back().variable;
      values[column] = var(column) + p;
    }
    ZeroPointSums::Ending ending{var(sums_of_.at({k, p})), c_.finish};
    if (tile.zero_point_apart) ending = sums_->ending(c_, std::move(ending.sum), own);
    return ending_of(c_, ending.sum + loop::substitute(c_.first, values), ending.finish, values,
                     k + kChannels * p, names_);
  }

  void add_sums(Rescheduled& out) const {
    const std::vector<std::vector<int64_t>> terms = terms_by_channel();
    const int64_t factor = c_.x.offset;
    sums_->add_to(out, c_, *channel_.extent(), [terms, factor](const Bytes& weights) {
      std::vector<int32_t> result;
      for (const std::vector<int64_t>& channel : terms) {
        int64_t sum = 0;
        for (const int64_t i : channel) {
          sum += static_cast<int8_t>(weights.view()[static_cast<size_t>(i)]);
        }
        result.push_back(static_cast<int32_t>(sum * factor));
      }
      return result;
    });
  }

  // The weights as halfwords: by group of channels, term, channels 0 and 2, then 1 and 3. Nothing
  // is left to extend where they are used.
  void widen_weights(Rescheduled& out) const {
    const std::vector<std::vector<int64_t>> terms = terms_by_channel();
    std::vector<int64_t> source;
    const auto count = static_cast<int64_t>(terms.size());
    for (int64_t first = 0; first < count; first += kChannels) {
      const int64_t begin = std::min(first, count - kChannels);
      for (int64_t term = 0; term < num_terms(); ++term) {
        for (const int64_t k : {0, 2, 1, 3}) {
          source.push_back(terms[static_cast<size_t>(begin + k)][static_cast<size_t>(term)]);
        }
      }
    }
    const auto w = std::ranges::find(out.kernel.params, c_.w.buffer, &loop::Param::name);
    *w = {halves_, DType::kInt16, static_cast<int64_t>(source.size()), loop::Access::kRead,
          4,       true};
    out.constants.push_back(derived(halves_, c_.w.buffer, [source](const Bytes& weights) {
      std::vector<int16_t> halves;
      for (const int64_t i : source) {
        halves.push_back(static_cast<int8_t>(weights.view()[static_cast<size_t>(i)]));
      }
      return Bytes::of(halves);
    }));
  }

  std::vector<std::vector<int64_t>> terms_by_channel() const {
    std::map<std::string, int64_t> at;
    for (const LoopRange& axis : c_.outer) at[axis.variable] = 0;
    std::vector<std::vector<int64_t>> terms(static_cast<size_t>(*channel_.extent()));
    for (int64_t step = 0; step < num_terms(); ++step) {
      int64_t rest = step;
      for (size_t s = c_.sums.size(); s-- > 0;) {
        at[c_.sums[s].variable] = rest % ranges_[s].full.end;
        rest /= ranges_[s].full.end;
      }
      for (size_t channel = 0; channel < terms.size(); ++channel) {
        at[channel_.variable] = static_cast<int64_t>(channel);
        terms[channel].push_back(c_.w.index.at(at));
      }
    }
    return terms;
  }

  const loop::Kernel& kernel_;
  Contraction c_;
  std::vector<SumRange> ranges_;
  bool reverse_;
  LoopRange channel_;
  std::vector<LoopRange> positions_;
  std::set<std::string> names_;
  std::map<std::pair<int64_t, int64_t>, std::string> sums_of_;  // by channel and position
  std::optional<ZeroPointSums> sums_;
  std::string zero_point_;
  std::string halves_;  // the weights
  int64_t half_ = 0;    // of the channels: 0 and 2, or 1 and 3
  bool uses_zero_point_ = false;
};

}  // namespace

std::optional<Rescheduled> schedule_dsp_depthwise(const loop::Kernel& kernel, bool reverse) {
  std::optional<Contraction> c = find_contraction(kernel);
  if (!c || c->outer.size() < 2 || c->w.offset != 0) return std::nullopt;
  if (c->x.dtype != DType::kInt8 || c->w.dtype != DType::kInt8) return std::nullopt;
  const std::string& channel = c->outer.back().variable;
  if (c->x.index.factor(channel) != 1 || c->w.index.factor(channel) != 1) return std::nullopt;
  if (*c->outer.back().extent() < kChannels) return std::nullopt;
  for (size_t i = 0; i + 1 < c->outer.size(); ++i) {
    if (c->w.index.factor(c->outer[i].variable) != 0) return std::nullopt;
  }
  std::optional<std::vector<SumRange>> ranges = ranges_of_sums(*c);
  if (!ranges) return std::nullopt;
  const std::string& column = c->outer[c->outer.size() - 2].variable;
  const std::string& innermost = ranges->back().variable;
  if (!innermost.empty() && innermost != column) return std::nullopt;
  return DepthwiseBuilder(kernel, *std::move(c), *std::move(ranges), reverse).build();
}

}  // namespace ingot
