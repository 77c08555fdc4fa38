// SPDX-License-Identifier: Apache-2.0
#include "schedule/dsp_dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "schedule/block.h"
#include "schedule/columns.h"
#include "schedule/run.h"
#include "schedule/weight_table.h"
#include "schedule/zero_point_sums.h"
#include "support/arithmetic.h"
#include "target/intrinsics.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;
using loop::var;

constexpr int64_t kWord = 4;             // elements of x in a word
constexpr int64_t kLongestUnrolled = 6;  // words of a run that needs no loop
// Pairs of channels times positions that leave registers for words of x. Larger blocks load a word
// for each half of it.
constexpr int64_t kMostSumsBesideWords = 2;

// The block of outputs that one pass over the sums makes.
struct Tile {
  int64_t num_pairs = 0;     // of channels
  int64_t num_channels = 0;  // at most twice the pairs
  int64_t num_positions = 1;
  bool zero_point_apart = false;   // x as it is, the sums of the weights added at the end
  const RunClass* part = nullptr;  // that the run is here; null: all share their words
};

class DotBuilder {
 public:
  DotBuilder(const loop::Kernel& kernel, Contraction c, Run run, std::vector<SumRange> ranges,
             bool reverse)
      : kernel_(kernel),
        c_(std::move(c)),
        axes_(axes_of(c_)),
        run_(std::move(run)),
        ranges_(std::move(ranges)),
        reverse_(reverse) {
    const int64_t count = *axes_.channel.extent();
    // Where columns come in pairs, a block has two pairs of channels; single ones take four.
    const bool has_singles = axes_.positions.empty() || c_.x.offset != 0;
    pairs_per_group_ = count % 8 == 0 && has_singles ? 4 : count > 2 ? 2 : 1;
    names_ = names_in(kernel);
    packed_ = loop::fresh_name(c_.w.buffer + "_packed", names_);
    sums_.emplace(c_, axes_.channel.variable, names_);
    zero_point_ = loop::fresh_name("minus_zero_point", names_);
  }

  Rescheduled build() {
    Rescheduled out;
    out.kernel = kernel_;
    out.kernel.comment +=
        ". The weights of two channels share a halfword, the first in its low byte: both_ sums the "
        "products "
        "of whole halfwords, low_ those of their low bytes, which are the first channel's.";
    out.kernel.body = with_positions();
    if (c_.x.offset != 0 && uses_zero_point_) {
      const Expr half = lit(c_.x.offset, loop::kInt16);
      out.kernel.body.insert(out.kernel.body.begin(),
                             loop::Let{zero_point_, loop::pack(loop::kInt16x2, {half, half})});
    }
    out.kernel.body = loop::simplify(out.kernel.body);
    replace_params(out);
    out.functions = arm_dsp_intrinsics();
    return out;
  }

 private:
  int64_t group_channels() const { return 2 * pairs_per_group_; }
  int64_t num_groups() const { return ceil_div(*axes_.channel.extent(), group_channels()); }
  // int16 elements of the packed weights for one word of x and one group of channels.
  int64_t word_elements() const { return kWord * pairs_per_group_; }
  int64_t outer_sum_steps() const {
    int64_t steps = 1;
    for (size_t s = 0; s < run_.num_outer; ++s) steps *= ranges_[s].full.end;
    return steps;
  }
  int64_t group_elements() const { return outer_sum_steps() * run_.num_words * word_elements(); }

  // ---- The nest, from outside inwards.

  Tile single(const RunClass* part) const {
    return {pairs_per_group_, group_channels(), 1, false, part};
  }

  Block with_positions() {
    if (axes_.positions.empty()) {
      return with_channels(single(run_.shares_words ? nullptr : &run_.classes[0]));
    }
    Columns columns(axes_.positions, ranges_, 2, reverse_, names_);
    const auto segment = [&](const Span& all, const Span& pairs, const RunClass* part) {
      const Tile pair = {std::min<int64_t>(2, pairs_per_group_), 0, 2, c_.x.offset != 0, part};
      return columns.segment(
          all, pairs, [&] { return with_channels(single(part)); },
          [&] { return with_channels(pair); });
    };
    if (run_.shares_words) {
      return columns.rows(segment({0, columns.width()}, columns.full(), nullptr));
    }
    Block row;
    for (const RunClass& k : run_.classes) {
      const Span full = k.elements.length() == run_.length ? columns.full() : Span{};
      const Span pairs = {std::max(k.columns.begin, full.begin), std::min(k.columns.end, full.end)};
      row = in_order(std::move(row), segment(k.columns, pairs, &k));
    }
    return columns.rows(std::move(row));
  }

  // Over groups of channels, whole ones and the rest.
  Block with_channels(Tile tile) {
    const int64_t count = *axes_.channel.extent();
    const int64_t step = group_channels();
    const int64_t whole = count / step * step;
    Block out;
    if (whole > 0) out = {loop_over_groups(tile, whole)};
    if (whole < count) {
      tile.num_channels = count - whole;
      tile.num_pairs = ceil_div(tile.num_channels, 2);
      Block rest = tile_block(tile, lit(whole), lit(whole));
      out = in_order(std::move(out), std::move(rest));
    }
    for (size_t g = axes_.channels.size(); g-- > 0;) out = {loop_over(axes_.channels[g], out)};
    return out;
  }

  loop::Stmt loop_over_groups(Tile tile, int64_t whole) {
    tile.num_channels = 2 * tile.num_pairs;
    const Expr group = var(axes_.channel.variable);
    Block body;
    if (tile.num_pairs == pairs_per_group_) {
      body = tile_block(tile, group, group);
    } else {
      // Parts of a packed group, one after the other.
      const std::string part = loop::fresh_name("half", names_);
      const Expr channel = group + var(part) * tile.num_channels;
      part_ = part;
      body = {loop::For{part, lit(0), lit(pairs_per_group_ / tile.num_pairs), 1, reverse_,
                        tile_block(tile, channel, group)}};
      part_.clear();
    }
    return loop::For{axes_.channel.variable, lit(0),   lit(whole),
                     group_channels(),       reverse_, std::move(body)};
  }

  // ---- One block of outputs.

  // The last pair of a block may have one channel only, whose products need no bytes apart.
  static bool has_both(const Tile& tile, int64_t pair) { return 2 * pair + 1 < tile.num_channels; }

  Block tile_block(const Tile& tile, const Expr& channel, const Expr& group) {
    Block out;
    totals_.clear();
    lows_.clear();
    not_begun_.clear();
    for (int64_t pair = 0; pair < tile.num_pairs; ++pair) {
      for (int64_t p = 0; p < tile.num_positions; ++p) {
        totals_[{pair, p}] = loop::fresh_name(fmt::format("both_{}_{}", pair, p), names_);
        lows_[{pair, p}] = loop::fresh_name(fmt::format("low_{}_{}", pair, p), names_);
        if (is_straight(tile)) {
          not_begun_.insert({totals_[{pair, p}], lows_[{pair, p}]});
          continue;
        }
        out.emplace_back(loop::Let{total(pair, p), lit(0)});
        if (has_both(tile, pair)) out.emplace_back(loop::Let{low(pair, p), lit(0)});
      }
    }
    append(out, sum_loops(tile, group, 0));
    for (int64_t p = 0; p < tile.num_positions; ++p) {
      for (int64_t k = 0; k < tile.num_channels; ++k) append(out, finish(tile, channel, k, p));
    }
    return out;
  }

  // The sums are without a loop: the first products need nothing to be added to.
  bool is_straight(const Tile& tile) const {
    if (run_.num_outer > 0) return false;
    if (tile.part) return tile.part->num_words - 1 <= kLongestUnrolled;
    const bool constant = run_.varying_sum < 0 || tile.num_positions > 1;
    return constant && run_.length <= kLongestUnrolled * kWord;
  }

  Block sum_loops(const Tile& tile, const Expr& group, size_t s) {
    if (s == run_.num_outer) return words(tile, group);
    const LoopRange& sum = c_.sums[s];
    const bool full = tile.num_positions > 1;
    return {loop::For{sum.variable, full ? lit(ranges_[s].full.begin) : sum.begin,
                      full ? lit(ranges_[s].full.end) : sum.end, 1, false,
                      sum_loops(tile, group, s + 1)}};
  }

  Block words(const Tile& tile, const Expr& group) {
    if (const RunClass* k = tile.part) {
      const int64_t table = kWord * k->first_word;
      const int64_t last = kWord * (k->num_words - 1);
      Block out = over_words(lit(0), lit(last), [&](const Expr& i) {
        return one_word(tile, group, i + k->elements.begin, i + table);
      });
      append(out, one_word(tile, group, lit(k->last_offset), lit(last + table), last_halves(*k)));
      return out;
    }
    const auto body = [&](const Expr& i) { return one_word(tile, group, i, i); };
    if (run_.varying_sum < 0 || tile.num_positions > 1) {
      return over_words(lit(0), lit(run_.length), body);
    }
    const LoopRange& sum = c_.sums[static_cast<size_t>(run_.varying_sum)];
    return over_words(sum.begin * run_.varying_step, sum.end * run_.varying_step, body);
  }

  // body(i) for every fourth i, two at a time where they come in twos.
  template <class Body>
  Block over_words(const Expr& begin, const Expr& end, const Body& body) {
    const auto* first = loop::as<loop::IntLit>(begin);
    const auto* last = loop::as<loop::IntLit>(end);
    const bool constant = first && last;
    const int64_t count = constant ? (last->value - first->value) / kWord : 0;
    Block out;
    if (constant && count <= kLongestUnrolled) {
      for (int64_t j = 0; j < count; ++j) append(out, body(lit(first->value + kWord * j)));
      return out;
    }
    const bool odd = constant && count % 2 == 1;
    const bool in_twos = constant || run_.varying_step % (2 * kWord) == 0;
    const std::string word = loop::fresh_name("i", names_);
    Block step = body(var(word));
    if (in_twos) append(step, body(var(word) + kWord));
    out = {loop::For{word, begin, odd ? lit(last->value - kWord) : end, in_twos ? 2 * kWord : kWord,
                     false, std::move(step)}};
    if (odd) append(out, body(lit(last->value - kWord)));
    return out;
  }

  // Those halves (elements 0 and 2, elements 1 and 3) of the last word that have a weight.
  std::vector<int64_t> last_halves(const RunClass& k) const {
    std::vector<int64_t> halves;
    for (const int64_t half : {0, 1}) {
      const int64_t word = k.first_word + k.num_words - 1;
      if (run_.element_at(word, half) || run_.element_at(word, half + 2)) halves.push_back(half);
    }
    return halves;
  }

  // The products of elements i to i + 3 of the run with the weights at `table`.
  Block one_word(const Tile& tile, const Expr& group, const Expr& i, const Expr& table,
                 const std::vector<int64_t>& halves = {0, 1}) {
    Block out;
    std::vector<Expr> words;
    for (int64_t p = 0; p < tile.num_positions; ++p) {
      words.push_back(load_x(tile, i, p));
      if (tile.num_pairs * tile.num_positions > kMostSumsBesideWords) continue;
      const std::string name = loop::fresh_name("x_word", names_);
      out.emplace_back(loop::Let{name, std::exchange(words.back(), var(name, loop::kInt8x4))});
    }
    for (const int64_t half : halves) {
      std::vector<Expr> pairs_of_x;
      for (int64_t p = 0; p < tile.num_positions; ++p) {
        const std::string name = loop::fresh_name("x_pair", names_);
        out.emplace_back(loop::Let{name, extended(tile, words[static_cast<size_t>(p)], half)});
        pairs_of_x.push_back(var(name, loop::kInt16x2));
      }
      for (int64_t pair = 0; pair < tile.num_pairs; ++pair) {
        const std::string name = loop::fresh_name("w_pair", names_);
        const int64_t at = (half * pairs_per_group_ + pair) * 2;
        out.emplace_back(loop::Let{
            name, loop::load(packed_, packed_index(tile, group, table) + at, loop::kInt16x2, 4)});
        add_products(out, pairs_of_x, var(name, loop::kInt16x2),
                     [&](int64_t p) { return total(pair, p); });
        if (!has_both(tile, pair)) continue;
        const std::string bytes = loop::fresh_name("w_low", names_);
        out.emplace_back(
            loop::Let{bytes, loop::call("low_bytes", loop::kInt16x2, {var(name, loop::kInt16x2)})});
        add_products(out, pairs_of_x, var(bytes, loop::kInt16x2),
                     [&](int64_t p) { return low(pair, p); });
      }
    }
    return out;
  }

  template <class Name>
  void add_products(Block& out, const std::vector<Expr>& x, const Expr& w, const Name& name) {
    for (size_t p = 0; p < x.size(); ++p) {
      const std::string sum = name(static_cast<int64_t>(p));
      if (not_begun_.erase(sum) > 0) {
        out.emplace_back(loop::Let{sum, loop::call("smuad", loop::kInt32, {w, x[p]})});
        continue;
      }
      out.emplace_back(loop::Assign{sum, loop::call("smlad", loop::kInt32, {var(sum), w, x[p]})});
    }
  }

  Expr load_x(const Tile& tile, const Expr& i, int64_t position) {
    AffineIndex index = c_.x.index;
    for (size_t s = run_.num_outer; s < c_.sums.size(); ++s) {
      index.factors.erase(c_.sums[s].variable);
    }
    if (tile.num_positions > 1) {
      index.constant += position * index.factor(axes_.positions.back().variable);
    }
    std::vector<std::string> order;
    for (const LoopRange& p : c_.outer) order.push_back(p.variable);
    const int64_t rest = std::exchange(index.constant, 0);
    return loop::load(c_.x.buffer, (index.expr(order) + i) + rest, loop::kInt8x4, 1);
  }

  Expr extended(const Tile& tile, const Expr& word, int64_t half) {
    const bool adds = c_.x.offset != 0 && !tile.zero_point_apart;
    const std::string name = std::string(adds ? "sxtab16" : "sxtb16") + (half == 1 ? "_ror8" : "");
    if (!adds) return loop::call(name, loop::kInt16x2, {word});
    uses_zero_point_ = true;
    return loop::call(name, loop::kInt16x2, {var(zero_point_, loop::kInt16x2), word});
  }

  // int16 elements; `table` counts elements of the run, four to a word.
  Expr packed_index(const Tile& tile, const Expr& group, const Expr& table) const {
    Expr index = axes_.outer_channel();
    index = index * (num_groups() * group_elements());
    index = index + group * (group_elements() / group_channels());
    int64_t stride = run_.num_words * word_elements();
    for (size_t s = run_.num_outer; s-- > 0;) {
      index = index + var(c_.sums[s].variable) * stride;
      stride *= ranges_[s].full.end;
    }
    if (!part_.empty()) index = index + var(part_) * (2 * tile.num_pairs);
    return index + table * pairs_per_group_;
  }

  // The statements that store channel `k` of the block at its position `p`.
  Block finish(const Tile& tile, const Expr& channel, int64_t k, int64_t p) {
    const Expr own_channel = channel + k;
    const int64_t pair = k / 2;
    Expr sum = var(has_both(tile, pair) ? low(pair, p) : total(pair, p));
    if (k % 2 == 1) sum = loop::shr(var(total(pair, p)) - sum, 8);
    std::map<std::string, Expr> values = {{axes_.channel.variable, own_channel}};
    if (tile.num_positions > 1) {
      const std::string& column = axes_.positions.back().variable;
      values[column] = var(column) + p;
    }
    ZeroPointSums::Ending ending{std::move(sum), c_.finish};
    if (tile.zero_point_apart) {
      AffineIndex index;
      int64_t stride = *axes_.channel.extent();
      for (size_t g = axes_.channels.size(); g-- > 0;) {
        index.factors[axes_.channels[g].variable] = stride;
        stride *= *axes_.channels[g].extent();
      }
      ending = sums_->ending(c_, std::move(ending.sum), index.expr({}) + own_channel);
    }
    return ending_of(c_, ending.sum + loop::substitute(c_.first, values), ending.finish, values,
                     k + p * tile.num_channels, names_);
  }

  // ---- Constants.

  void replace_params(Rescheduled& out) {
    const auto packed = std::ranges::find(out.kernel.params, c_.w.buffer, &loop::Param::name);
    packed->name = packed_;
    packed->dtype = DType::kInt16;
    packed->num_elements = axes_.num_outer_channels() * num_groups() * group_elements();
    packed->alignment = kWord;
    const WeightTable table =
        weight_table(c_, run_, ranges_, axes_.channels, axes_.channel, pairs_per_group_);
    out.sources = {c_.w.buffer};
    const int64_t largest_x = largest_magnitude_of_x();
    out.fits = [table, largest_x](const std::vector<Bytes>& w) {
      return table.fits(w[0], largest_x);
    };
    out.constants.push_back({packed_, {c_.w.buffer}, [table](const std::vector<Bytes>& w) {
                               return table.packed(w[0]);
                             }});
    const int64_t offset = c_.x.offset;
    sums_->add_to(out, c_, axes_.num_outer_channels() * *axes_.channel.extent(),
                  [table, offset](const Bytes& w) { return table.sums(w, offset); });
  }

  int64_t largest_magnitude_of_x() const {
    return std::max({int64_t{128}, std::abs(c_.x.offset - 128), std::abs(c_.x.offset + 127)});
  }

  // ---- Names.

  // The sums of a pair of channels at a position: 256 B + A, and A.
  const std::string& total(int64_t pair, int64_t p) const { return totals_.at({pair, p}); }
  const std::string& low(int64_t pair, int64_t p) const { return lows_.at({pair, p}); }

  loop::Stmt loop_over(const LoopRange& axis, Block body) const {
    return loop::For{axis.variable, axis.begin, axis.end, 1, reverse_, std::move(body)};
  }
  Block in_order(Block a, Block b) const { return reverse_ ? joined(b, a) : joined(a, b); }

  const loop::Kernel& kernel_;
  Contraction c_;
  Axes axes_;
  Run run_;
  std::vector<SumRange> ranges_;
  bool reverse_;
  int64_t pairs_per_group_ = 2;
  std::set<std::string> names_;
  std::map<std::pair<int64_t, int64_t>, std::string> totals_;
  std::map<std::pair<int64_t, int64_t>, std::string> lows_;
  std::set<std::string> not_begun_;  // sums without a first value yet
  std::string packed_;
  std::optional<ZeroPointSums> sums_;
  std::string zero_point_;
  std::string part_;  // the loop over parts of a packed group that is being built
  bool uses_zero_point_ = false;
};

std::optional<Rescheduled> build(const loop::Kernel& kernel, Contraction c, bool reverse) {
  if (c.x.dtype != DType::kInt8 || c.w.dtype != DType::kInt8) return std::nullopt;
  const auto is_channel = [&](const LoopRange& axis) { return c.is_channel(axis); };
  std::optional<std::vector<SumRange>> ranges = ranges_of_sums(c);
  if (!ranges) return std::nullopt;
  std::string column;
  std::string channel;
  for (const LoopRange& axis : c.outer) (is_channel(axis) ? channel : column) = axis.variable;
  // The channels of a block share the words of x.
  if (c.x.index.factor(channel) != 0) return std::nullopt;
  const auto x = std::ranges::find(kernel.params, c.x.buffer, &loop::Param::name);
  std::optional<Run> run = find_run(c, *ranges, column, x->num_elements);
  if (!run) return std::nullopt;
  return DotBuilder(kernel, std::move(c), *std::move(run), *std::move(ranges), reverse).build();
}

}  // namespace

std::optional<Rescheduled> schedule_dsp_dot(const loop::Kernel& kernel, bool reverse) {
  std::optional<Contraction> c = find_contraction(kernel);
  if (!c) return std::nullopt;
  std::set<std::string> names = names_in(kernel);
  return build(kernel, with_a_channel(with_collapsed_positions(*std::move(c)), names), reverse);
}

}  // namespace ingot
