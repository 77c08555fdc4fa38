// SPDX-License-Identifier: Apache-2.0
#include "schedule/packed_multiply.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "schedule/block.h"
#include "schedule/columns.h"
#include "schedule/packed_words.h"
#include "schedule/window_classes.h"
#include "support/arithmetic.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;
using loop::var;

constexpr int64_t kGroup = PackedWords::kChannels;

class PackedBuilder {
 public:
  PackedBuilder(const loop::Kernel& kernel, Contraction c, std::vector<SumRange> ranges,
                WindowClasses windows, bool reverse, const PackedShape& shape, int64_t num_split)
      : kernel_(kernel),
        c_(std::move(c)),
        axes_(axes_of(c_)),
        ranges_(std::move(ranges)),
        windows_(std::move(windows)),
        reverse_(reverse),
        shape_(shape),
        num_split_(static_cast<size_t>(num_split)) {
    names_ = names_in(kernel);
    packed_ = loop::fresh_name(c_.w.buffer + "_packed", names_);
    zero_ = loop::fresh_name(c_.w.buffer + "_zero", names_);
  }

  Rescheduled build() {
    Rescheduled out;
    out.kernel = kernel_;
    out.kernel.body = loop::simplify(with_positions());
    replace_weights(out);
    out.functions = packed_functions();
    return out;
  }

 private:
  struct Tile {
    int64_t channels = 1;
    int64_t columns = 1;
    bool full = false;  // all sums are
    Expr window = nullptr;
  };

  int64_t num_groups() const { return ceil_div(*axes_.channel.extent(), kGroup); }
  int64_t num_terms() const {
    int64_t terms = 1;
    for (const SumRange& range : ranges_) terms *= range.full.end;
    return terms;
  }

  // ---- The nest, from outside inwards.

  Block with_positions() {
    const auto single = [&] { return with_window({kGroup, 1, false, nullptr}); };
    const auto block = [&] { return with_window({kGroup, shape_.columns, true, nullptr}); };
    Columns columns(axes_.positions, ranges_, shape_.columns, reverse_, names_);
    return columns.rows(columns.segment({0, columns.width()}, columns.full(), single, block));
  }

  Block with_window(Tile tile) {
    if (c_.x.offset == 0) return with_channels(tile);
    if (tile.full) {
      tile.window = lit(windows_.full());
      return with_channels(tile);
    }
    const std::string name = loop::fresh_name("window", names_);
    tile.window = var(name);
    Block out = {loop::Let{name, windows_.expr()}};
    append(out, with_channels(tile));
    return out;
  }

  Block with_channels(Tile tile) {
    const int64_t count = *axes_.channel.extent();
    const int64_t whole = count / kGroup * kGroup;
    Block out;
    if (whole > 0) {
      out = {loop::For{axes_.channel.variable, lit(0), lit(whole), kGroup, reverse_,
                       tile_block(tile, var(axes_.channel.variable))}};
    }
    if (whole < count) {
      tile.channels = count - whole;
      Block rest = tile_block(tile, lit(whole));
      out = reverse_ ? joined(std::move(rest), std::move(out))
                     : joined(std::move(out), std::move(rest));
    }
    for (size_t g = axes_.channels.size(); g-- > 0;) {
      out = {loop::For{axes_.channels[g].variable, axes_.channels[g].begin, axes_.channels[g].end,
                       1, reverse_, std::move(out)}};
    }
    return out;
  }

  Block tile_block(const Tile& tile, const Expr& channel) {
    Block out;
    sums_.clear();
    if (num_split_ > 0) {
      for (int64_t k = 0; k < tile.channels; ++k) {
        for (int64_t p = 0; p < tile.columns; ++p) {
          out.emplace_back(loop::Let{sum_name(k, p), lit(0)});
        }
      }
    }
    append(out, sum_loops(tile, channel, 0, {}));
    for (int64_t k = 0; k < tile.channels; ++k) {
      for (int64_t p = 0; p < tile.columns; ++p) append(out, finish(tile, channel, k, p));
    }
    return out;
  }

  const std::string& sum_name(int64_t k, int64_t p) {
    std::string& name = sums_[{k, p}];
    if (name.empty()) name = loop::fresh_name(fmt::format("sum_{}_{}", k, p), names_);
    return name;
  }

  // The loops over the sums from `s` on.
  Block sum_loops(const Tile& tile, const Expr& channel, size_t s,
                  std::map<std::string, Expr> values) {
    if (s == num_split_) return split_sums(tile, channel, s, values);
    values[c_.sums[s].variable] = var(c_.sums[s].variable);
    return {loop_over(tile, s, 1, sum_loops(tile, channel, s + 1, values))};
  }

  loop::Stmt loop_over(const Tile& tile, size_t s, int64_t step, Block body) const {
    const LoopRange& sum = c_.sums[s];
    const bool full = tile.full || ranges_[s].variable.empty();
    return loop::For{sum.variable,
                     full ? lit(ranges_[s].full.begin) : sum.begin,
                     full ? lit(ranges_[s].full.end) : sum.end,
                     step,
                     false,
                     std::move(body)};
  }

  // The sums from `s` on in words, and these taken apart.
  Block split_sums(const Tile& tile, const Expr& channel, size_t s,
                   const std::map<std::string, Expr>& values) {
    Block out;
    words_.clear();
    const int64_t num_words = PackedWords::words_for(tile.channels);
    for (int64_t p = 0; p < tile.columns; ++p) {
      for (int64_t j = 0; j < num_words; ++j) {
        std::string name = loop::fresh_name(fmt::format("word_{}_{}", j, p), names_);
        const size_t number = words_.size();
        const bool kept = number < shape_.registers.size();
        out.emplace_back(loop::Let{name, lit(0, loop::Type{DType::kUInt32}),
                                   kept ? shape_.registers[number] : std::string()});
        words_.push_back(std::move(name));
      }
    }
    append(out, word_loops(tile, channel, s, values));
    for (int64_t p = 0; p < tile.columns; ++p) {
      std::vector<Expr> words;
      for (int64_t j = 0; j < num_words; ++j) {
        words.push_back(
            var(words_[static_cast<size_t>(p * num_words + j)], loop::Type{DType::kUInt32}));
      }
      const std::vector<Expr> parts = take_apart(words, tile.channels, names_, out);
      for (int64_t k = 0; k < tile.channels; ++k) {
        const std::string& sum = sum_name(k, p);
        const Expr& part = parts[static_cast<size_t>(k)];
        if (num_split_ > 0) {
          out.emplace_back(loop::Assign{sum, var(sum) + part});
        } else {
          out.emplace_back(loop::Let{sum, part});
        }
      }
    }
    return out;
  }

  Block word_loops(const Tile& tile, const Expr& channel, size_t s,
                   std::map<std::string, Expr> values) {
    if (s == c_.sums.size()) return term(tile, channel, values);
    const bool full = tile.full || ranges_[s].variable.empty();
    if (s + 2 == c_.sums.size() && is_like_one(s)) {
      // One loop over both, by the elements that lie in a row.
      const int64_t row = ranges_[s + 1].full.end;
      values[c_.sums[s].variable] = lit(0);
      const std::string& variable = c_.sums[s + 1].variable;
      if (full) return unrolled_loop(tile, channel, variable, row * ranges_[s].full.end, values);
      const int64_t step = step_for(row);
      return {loop::For{variable, c_.sums[s].begin * row, c_.sums[s].end * row, step, false,
                        terms(tile, channel, variable, step, var(variable), values)}};
    }
    const std::string& variable = c_.sums[s].variable;
    if (s + 1 < c_.sums.size() || !full) {
      values[variable] = var(variable);
      return {loop_over(tile, s, 1, word_loops(tile, channel, s + 1, values))};
    }
    return unrolled_loop(tile, channel, variable, ranges_[s].full.end, values);
  }

  // Steps of the sums `s` and `s` + 1 go through x like those of one.
  bool is_like_one(size_t s) const {
    const AffineIndex& x = c_.x.index;
    return ranges_[s + 1].variable.empty() &&
           x.factor(c_.sums[s].variable) ==
               ranges_[s + 1].full.end * x.factor(c_.sums[s + 1].variable);
  }

  int64_t step_for(int64_t length) const {
    int64_t step = std::min(shape_.unrolled, length);
    while (length % step != 0) --step;
    return step;
  }

  Block unrolled_loop(const Tile& tile, const Expr& channel, const std::string& variable,
                      int64_t length, const std::map<std::string, Expr>& values) {
    const int64_t step = step_for(length);
    if (step == length) return terms(tile, channel, variable, step, lit(0), values);
    return {loop::For{variable, lit(0), lit(length), step, false,
                      terms(tile, channel, variable, step, var(variable), values)}};
  }

  // `count` terms from `first` on.
  Block terms(const Tile& tile, const Expr& channel, const std::string& variable, int64_t count,
              const Expr& first, std::map<std::string, Expr> values) {
    Block out;
    for (int64_t u = 0; u < count; ++u) {
      values[variable] = first + u;
      append(out, term(tile, channel, values));
    }
    return out;
  }

  // One term of every word of the block.
  Block term(const Tile& tile, const Expr& channel, const std::map<std::string, Expr>& values) {
    Block out;
    const int64_t num_words = PackedWords::words_for(tile.channels);
    std::vector<Expr> x;
    for (int64_t p = 0; p < tile.columns; ++p) {
      const Expr element = loop::load(c_.x.buffer, index_of_x(p, values), loop::Type{c_.x.dtype});
      x.push_back(let(out, "x_value", loop::cast(loop::kInt32, element)));
    }
    for (int64_t j = 0; j < num_words; ++j) {
      Expr w = loop::load(packed_, index_of_word(channel, values) + j, loop::Type{DType::kUInt32});
      if (tile.columns > 1) w = let(out, "w_word", w);
      for (int64_t p = 0; p < tile.columns; ++p) {
        const std::string& word = words_[static_cast<size_t>(p * num_words + j)];
        out.emplace_back(loop::Assign{word, multiply_add(var(word, loop::Type{DType::kUInt32}),
                                                         x[static_cast<size_t>(p)], w)});
      }
    }
    return out;
  }

  Expr let(Block& out, const char* name, Expr value) {
    std::string unique = loop::fresh_name(name, names_);
    const loop::Type type = value->type;
    out.emplace_back(loop::Let{unique, std::move(value)});
    return var(std::move(unique), type);
  }

  // At column `p` of the block; constants stand last.
  Expr index_of_x(int64_t p, const std::map<std::string, Expr>& values) const {
    AffineIndex index = c_.x.index;
    int64_t rest = std::exchange(index.constant, 0);
    rest += p * index.factor(axes_.positions.back().variable);
    std::vector<std::pair<Expr, int64_t>> replaced;
    for (const auto& [name, value] : values) {
      const int64_t factor = index.factor(name);
      if (factor != 0) replaced.emplace_back(value, factor);
      index.factors.erase(name);
    }
    std::vector<std::string> order;
    for (const LoopRange& axis : c_.outer) order.push_back(axis.variable);
    Expr sum = index.expr(order);
    for (const auto& [value, factor] : replaced) sum = sum + value * factor;
    return sum + rest;
  }

  Expr index_of_word(const Expr& channel, const std::map<std::string, Expr>& values) const {
    constexpr int64_t kWords = PackedWords::kWords;
    const int64_t group_words = num_terms() * kWords;
    // Channels come in steps of kGroup.
    Expr index = axes_.outer_channel() * (num_groups() * group_words);
    if (const auto* literal = loop::as<loop::IntLit>(channel)) {
      index = index + literal->value / kGroup * group_words;
    } else {
      index = index + loop::shr(channel, 3) * group_words;
    }
    int64_t stride = kWords;
    for (size_t s = c_.sums.size(); s-- > 0;) {
      index = index + values.at(c_.sums[s].variable) * stride;
      stride *= ranges_[s].full.end;
    }
    return index;
  }

  Block finish(const Tile& tile, const Expr& channel, int64_t k, int64_t p) {
    std::map<std::string, Expr> values = {{axes_.channel.variable, channel + k}};
    if (tile.columns > 1) {
      const std::string& column = axes_.positions.back().variable;
      values[column] = var(column) + p;
    }
    Expr sum = var(sum_name(k, p));
    if (tile.window) {
      const Expr row = tile.window * axes_.num_outer_channels() + axes_.outer_channel();
      sum = sum + loop::load(zero_, row * *axes_.channel.extent() + channel + k, loop::kInt32);
    }
    return ending_of(c_, sum + loop::substitute(c_.first, values), c_.finish, values,
                     k + p * tile.channels, names_);
  }

  // ---- Constants.

  void replace_weights(Rescheduled& out) const {
    const PackedWords table = packed_words();
    const auto old = std::ranges::find(out.kernel.params, c_.w.buffer, &loop::Param::name);
    loop::Param& w = *old;
    loop::Param zero = w;
    w.name = packed_;
    w.dtype = DType::kUInt32;
    w.num_elements = axes_.num_outer_channels() * num_groups() * num_terms() * PackedWords::kWords;
    w.alignment = 4;
    out.sources = {c_.w.buffer};
    const int64_t offset = c_.x.offset;
    out.fits = [table, offset](const std::vector<Bytes>& all) {
      return table.fits(all.at(0), offset);
    };
    out.constants.push_back({packed_, {c_.w.buffer}, [table](const std::vector<Bytes>& all) {
                               return table.packed(all.at(0));
                             }});
    if (offset == 0) return;
    zero.name = zero_;
    zero.dtype = DType::kInt32;
    zero.num_elements = windows_.count() * axes_.num_outer_channels() * *axes_.channel.extent();
    zero.alignment = 4;
    out.kernel.params.insert(old + 1, zero);
    const std::vector<std::vector<bool>> inside = windows_.terms_inside();
    out.constants.push_back(
        {zero_, {c_.w.buffer}, [table, offset, inside](const std::vector<Bytes>& all) {
           return table.sums(all.at(0), offset, inside);
         }});
  }

  PackedWords packed_words() const {
    PackedWords table;
    table.num_channels = *axes_.channel.extent();
    table.offset = c_.w.offset;
    table.terms_per_part = num_terms();
    for (size_t s = 0; s < num_split_; ++s) table.terms_per_part /= ranges_[s].full.end;
    std::map<std::string, int64_t> at;
    for (const LoopRange& axis : c_.outer) at[axis.variable] = 0;
    for (int64_t o = 0; o < axes_.num_outer_channels(); ++o) {
      set_digits(at, axes_.channels, o, [&](size_t i) { return *axes_.channels[i].extent(); });
      for (int64_t k = 0; k < table.num_channels; ++k) {
        at[axes_.channel.variable] = k;
        std::vector<int64_t> row;
        for (int64_t t = 0; t < num_terms(); ++t) {
          set_digits(at, c_.sums, t, [&](size_t i) { return ranges_[i].full.end; });
          row.push_back(c_.w.index.at(at));
        }
        table.rows.push_back(std::move(row));
      }
    }
    return table;
  }

  const loop::Kernel& kernel_;
  Contraction c_;
  Axes axes_;
  std::vector<SumRange> ranges_;
  WindowClasses windows_;
  bool reverse_;
  PackedShape shape_;
  size_t num_split_;
  std::set<std::string> names_;
  std::map<std::pair<int64_t, int64_t>, std::string> sums_;  // by channel and column
  std::vector<std::string> words_;                           // by column and number
  std::string packed_;
  std::string zero_;
};

}  // namespace

std::optional<Rescheduled> schedule_packed_multiply(const loop::Kernel& kernel, bool reverse,
                                                    const PackedShape& shape, int64_t num_split) {
  std::optional<Contraction> found = find_contraction(kernel);
  if (!found) return std::nullopt;
  const Contraction c = with_collapsed_positions(*std::move(found));
  if (c.x.dtype != DType::kInt8 || c.w.dtype != DType::kInt8) return std::nullopt;
  // Weights that are used once are better read as bytes.
  std::string channel;
  bool has_positions = false;
  for (const LoopRange& axis : c.outer) {
    if (c.is_channel(axis)) {
      channel = axis.variable;
    } else {
      has_positions = true;
    }
  }
  if (channel.empty() || !has_positions || c.x.index.factor(channel) != 0) return std::nullopt;
  if (*c.find_outer(channel)->extent() < 3) return std::nullopt;
  if (num_split >= static_cast<int64_t>(c.sums.size())) return std::nullopt;
  std::vector<SumRange> ranges;
  for (const LoopRange& sum : c.sums) {
    std::optional<SumRange> range = range_of_sum(c, sum);
    if (!range || range->full.begin != 0 || range->full.end == 0) return std::nullopt;
    ranges.push_back(*std::move(range));
  }
  std::optional<WindowClasses> windows = WindowClasses::of(ranges);
  if (!windows) return std::nullopt;
  return PackedBuilder(kernel, c, std::move(ranges), *std::move(windows), reverse, shape, num_split)
      .build();
}

}  // namespace ingot
