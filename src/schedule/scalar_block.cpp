// SPDX-License-Identifier: Apache-2.0
#include "schedule/scalar_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "schedule/block.h"
#include "schedule/columns.h"
#include "schedule/rearranged.h"
#include "support/arithmetic.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;
using loop::var;

class ScalarBuilder {
 public:
  ScalarBuilder(const loop::Kernel& kernel, Contraction c, std::vector<SumRange> ranges,
                bool reverse, const BlockShape& shape)
      : kernel_(kernel),
        c_(std::move(c)),
        axes_(axes_of(c_)),
        ranges_(std::move(ranges)),
        reverse_(reverse),
        shape_(shape) {
    type_ = loop::Type{c_.x.dtype == DType::kFloat32 ? DType::kFloat32 : DType::kInt32};
    names_ = names_in(kernel);
    packs_ = c_.w.index.factor(axes_.channel.variable) != 1;
    packed_ = packs_ ? loop::fresh_name(c_.w.buffer + "_packed", names_) : c_.w.buffer;
    const bool alone = axes_.positions.empty();
    group_ = std::min(alone ? shape.channels_alone : shape.channels, *axes_.channel.extent());
  }

  Rescheduled build() {
    Rescheduled out;
    out.kernel = kernel_;
    out.kernel.body = loop::simplify(with_positions());
    if (packs_) replace_weights(out);
    if (shape_.multiply_add) out.functions = {*shape_.multiply_add};
    return out;
  }

 private:
  struct Tile {
    int64_t channels = 1;
    int64_t columns = 1;
  };

  bool shares_x() const { return c_.x.index.factor(axes_.channel.variable) == 0; }
  int64_t num_groups() const { return ceil_div(*axes_.channel.extent(), group_); }
  int64_t num_terms() const {
    int64_t terms = 1;
    for (const SumRange& range : ranges_) terms *= range.full.end;
    return terms;
  }

  Block with_positions() {
    if (axes_.positions.empty()) return with_channels(1);
    Columns columns(axes_.positions, ranges_, shape_.columns, reverse_, names_);
    return columns.rows(columns.segment(
        {0, columns.width()}, columns.full(), [&] { return with_channels(1); },
        [&] { return with_channels(shape_.columns); }));
  }

  Block with_channels(int64_t columns) {
    const int64_t count = *axes_.channel.extent();
    const int64_t whole = count / group_ * group_;
    Block out = {loop::For{axes_.channel.variable, lit(0), lit(whole), group_, reverse_,
                           tile_block({group_, columns}, var(axes_.channel.variable))}};
    if (whole < count) {
      Block rest = tile_block({count - whole, columns}, lit(whole));
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
    sums_.clear();
    Block out;
    const Expr zero = is_float() ? loop::float_lit(0) : lit(0);
    for (int64_t k = 0; k < tile.channels; ++k) {
      for (int64_t p = 0; p < tile.columns; ++p) {
        const std::string name = loop::fresh_name(fmt::format("sum_{}_{}", k, p), names_);
        sums_[{k, p}] = name;
        // A float's sum starts from its first value; adding that at the end would round otherwise.
        out.emplace_back(loop::Let{name, is_float() ? first(tile, channel, k, p) : zero});
      }
    }
    append(out, sum_loops(tile, channel, 0, {}));
    for (int64_t k = 0; k < tile.channels; ++k) {
      for (int64_t p = 0; p < tile.columns; ++p) append(out, finish(tile, channel, k, p));
    }
    return out;
  }

  bool is_float() const { return type_.dtype == DType::kFloat32; }

  Block sum_loops(const Tile& tile, const Expr& channel, size_t s,
                  std::map<std::string, Expr> values) {
    if (s == c_.sums.size()) return term(tile, channel, values);
    const LoopRange& sum = c_.sums[s];
    const bool full = tile.columns > 1 || ranges_[s].variable.empty();
    const Expr begin = full ? lit(ranges_[s].full.begin) : sum.begin;
    const Expr end = full ? lit(ranges_[s].full.end) : sum.end;
    const bool twice = full && s + 1 == c_.sums.size() && ranges_[s].full.length() % 2 == 0;
    values[sum.variable] = var(sum.variable);
    Block body = sum_loops(tile, channel, s + 1, values);
    if (twice) {
      values[sum.variable] = var(sum.variable) + 1;
      append(body, sum_loops(tile, channel, s + 1, values));
    }
    return {loop::For{sum.variable, begin, end, twice ? 2 : 1, false, std::move(body)}};
  }

  // One term of every sum of the block.
  Block term(const Tile& tile, const Expr& channel, const std::map<std::string, Expr>& values) {
    Block out;
    std::map<std::pair<int64_t, int64_t>, Expr> x;
    for (int64_t k = 0; k < (shares_x() ? 1 : tile.channels); ++k) {
      for (int64_t p = 0; p < tile.columns; ++p) {
        x[{k, p}] = let(out, "x_value", element(c_.x, index_of_x(channel + k, p, values)));
      }
    }
    for (int64_t k = 0; k < tile.channels; ++k) {
      const Expr w = let(out, "w_value", element_of_w(channel, k, values));
      for (int64_t p = 0; p < tile.columns; ++p) {
        const std::string& sum = sums_.at({k, p});
        out.emplace_back(
            loop::Assign{sum, multiply_add(var(sum, type_), x.at({shares_x() ? 0 : k, p}), w)});
      }
    }
    return out;
  }

  Expr multiply_add(const Expr& sum, const Expr& a, const Expr& b) const {
    if (shape_.multiply_add && is_float()) {
      return loop::call(shape_.multiply_add->name, type_, {sum, a, b});
    }
    return sum + a * b;
  }

  Expr let(Block& out, const char* name, Expr value) {
    std::string unique = loop::fresh_name(name, names_);
    const loop::Type type = value->type;
    out.emplace_back(loop::Let{unique, std::move(value)});
    return var(std::move(unique), type);
  }

  Expr element(const Factor& factor, const Expr& index) const {
    return with_offset(factor, loop::load(factor.buffer, index, loop::Type{factor.dtype}));
  }
  Expr with_offset(const Factor& factor, const Expr& loaded) const {
    if (is_float()) return loaded;
    return loop::cast(type_, loaded) + factor.offset;
  }

  Expr index_of_x(const Expr& channel, int64_t p, const std::map<std::string, Expr>& values) const {
    std::map<std::string, Expr> at = values;
    at[axes_.channel.variable] = channel;
    return index_at(c_.x.index, p, at);
  }

  // The index with some variables replaced, at the column `p` of the block; constants stand last.
  Expr index_at(AffineIndex index, int64_t p, const std::map<std::string, Expr>& values) const {
    int64_t rest = std::exchange(index.constant, 0);
    if (!axes_.positions.empty()) rest += p * index.factor(axes_.positions.back().variable);
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

  Expr element_of_w(const Expr& channel, int64_t k,
                    const std::map<std::string, Expr>& values) const {
    if (!packs_) {
      std::map<std::string, Expr> at = values;
      at[axes_.channel.variable] = channel + k;
      return element(c_.w, index_at(c_.w.index, 0, at));
    }
    Expr group = axes_.outer_channel();
    Expr index = group * (num_groups() * group_ * num_terms()) + channel * num_terms();
    int64_t stride = group_;
    for (size_t s = c_.sums.size(); s-- > 0;) {
      index = index + values.at(c_.sums[s].variable) * stride;
      stride *= ranges_[s].full.end;
    }
    return with_offset(c_.w, loop::load(packed_, index + k, loop::Type{c_.w.dtype}));
  }

  std::map<std::string, Expr> values_of(const Tile& tile, const Expr& channel, int64_t k,
                                        int64_t p) const {
    std::map<std::string, Expr> values = {{axes_.channel.variable, channel + k}};
    if (tile.columns > 1) {
      const std::string& column = axes_.positions.back().variable;
      values[column] = var(column) + p;
    }
    return values;
  }

  Expr first(const Tile& tile, const Expr& channel, int64_t k, int64_t p) const {
    return loop::substitute(c_.first, values_of(tile, channel, k, p));
  }

  Block finish(const Tile& tile, const Expr& channel, int64_t k, int64_t p) {
    const Expr sum = var(sums_.at({k, p}), type_);
    return ending_of(c_, is_float() ? sum : sum + first(tile, channel, k, p), c_.finish,
                     values_of(tile, channel, k, p), k + p * tile.channels, names_);
  }

  // The weights by group of channels, term and channel of the group.
  void replace_weights(Rescheduled& out) const {
    const auto w = std::ranges::find(out.kernel.params, c_.w.buffer, &loop::Param::name);
    std::vector<int64_t> source = packed_order();
    w->name = packed_;
    w->num_elements = static_cast<int64_t>(source.size());
    const int64_t size = size_in_bytes(c_.w.dtype);
    out.constants.push_back(derived(packed_, c_.w.buffer, [source, size](const Bytes& weights) {
      return rearranged(weights, source, size);
    }));
  }

  std::vector<int64_t> packed_order() const {
    std::map<std::string, int64_t> at;
    for (const LoopRange& axis : c_.outer) at[axis.variable] = 0;
    std::vector<int64_t> order;
    for (int64_t o = 0; o < axes_.num_outer_channels(); ++o) {
      set_digits(at, axes_.channels, o, [&](size_t i) { return *axes_.channels[i].extent(); });
      for (int64_t first = 0; first < num_groups() * group_; first += group_) {
        for (int64_t t = 0; t < num_terms(); ++t) {
          set_digits(at, c_.sums, t, [&](size_t i) { return ranges_[i].full.end; });
          for (int64_t k = first; k < first + group_; ++k) {
            at[axes_.channel.variable] = k;
            order.push_back(k < *axes_.channel.extent() ? c_.w.index.at(at) : -1);
          }
        }
      }
    }
    return order;
  }

  const loop::Kernel& kernel_;
  Contraction c_;
  Axes axes_;
  std::vector<SumRange> ranges_;
  bool reverse_;
  BlockShape shape_;
  loop::Type type_;  // of the sums
  int64_t group_ = 1;
  bool packs_ = false;
  std::set<std::string> names_;
  std::map<std::pair<int64_t, int64_t>, std::string> sums_;  // by channel and column
  std::string packed_;
};

}  // namespace

std::optional<Rescheduled> schedule_scalar_block(const loop::Kernel& kernel, bool reverse,
                                                 const BlockShape& shape) {
  std::optional<Contraction> found = find_contraction(kernel);
  if (!found) return std::nullopt;
  const Contraction c = with_collapsed_positions(*std::move(found));
  const bool floats = c.x.dtype == DType::kFloat32 && c.w.dtype == DType::kFloat32;
  const bool bytes = c.x.dtype == DType::kInt8 && c.w.dtype == DType::kInt8;
  const bool has_channels =
      std::ranges::any_of(c.outer, [&](const LoopRange& axis) { return c.is_channel(axis); });
  if ((!floats && !bytes) || !has_channels) return std::nullopt;
  std::optional<std::vector<SumRange>> ranges = ranges_of_sums(c);
  if (!ranges) return std::nullopt;
  return ScalarBuilder(kernel, c, *std::move(ranges), reverse, shape).build();
}

}  // namespace ingot
