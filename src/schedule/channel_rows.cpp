// SPDX-License-Identifier: Apache-2.0
#include "schedule/channel_rows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "loop/transform.h"
#include "schedule/block.h"
#include "schedule/columns.h"
#include "schedule/rearranged.h"
#include "schedule/window_classes.h"
#include "support/arithmetic.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;
using loop::Type;
using loop::var;

constexpr int64_t kBias = 128;  // makes a byte of x unsigned

// The innermost sums that step through neighbouring elements of x and of the weights, as one.
struct BothRuns {
  size_t num_outer = 0;  // sums outside of the run
  int64_t step = 1;      // of the outermost merged sum, in elements
  int64_t length = 1;    // where it is full
};

BothRuns runs_of(const Contraction& c, const std::vector<SumRange>& ranges) {
  BothRuns run{.num_outer = c.sums.size()};
  while (run.num_outer > 0) {
    const size_t s = run.num_outer - 1;
    const std::string& variable = c.sums[s].variable;
    if (c.x.index.factor(variable) != run.length || c.w.index.factor(variable) != run.length) break;
    run.num_outer = s;
    run.step = run.length;
    run.length *= ranges[s].full.end;
    if (!ranges[s].variable.empty() || ranges[s].full.begin != 0) break;
  }
  return run;
}

class RowBuilder {
 public:
  RowBuilder(const loop::Kernel& kernel, Contraction c, std::vector<SumRange> ranges, bool reverse,
             const RowShape& shape)
      : kernel_(kernel),
        c_(std::move(c)),
        axes_(axes_of(c_)),
        ranges_(std::move(ranges)),
        reverse_(reverse),
        shape_(shape),
        run_(runs_of(c_, ranges_)),
        windows_(WindowClasses::of(ranges_)) {
    type_ = Type{c_.x.dtype == DType::kFloat32 ? DType::kFloat32 : DType::kInt32};
    pass_ = is_float() ? shape.floats : shape.bytes;
    const int64_t num_rows = ceil_div(num_channels(), shape.most_channels);
    // Rows of whole vectors, as long as each other but for the last.
    width_ = num_rows == 1 ? num_channels()
                           : round_up(ceil_div(num_channels(), num_rows), kVectorChannels);
    names_ = names_in(kernel);
    row_ = loop::fresh_name("sums", names_);
    k_ = loop::fresh_name("k", names_);
    column_ = loop::fresh_name("column", names_);
    goes_along_ = can_go_along();
    if (!goes_along_ && !axes_.positions.empty()) {
      columns_ = is_flat() ? flat_columns()
                           : std::clamp(shape_.most_channels / width_, int64_t{1}, pass_.columns);
    }
    packs_ =
        !goes_along_ && (columns_in_table() > 1 || c_.w.index.factor(axes_.channel.variable) != 1);
    packed_ = packs_ ? loop::fresh_name(c_.w.buffer + "_packed", names_) : c_.w.buffer;
    starts_ = loop::fresh_name(c_.w.buffer + "_starts", names_);
    window_ = loop::fresh_name("window", names_);
  }

  Rescheduled build() {
    Rescheduled out;
    out.kernel = kernel_;
    out.kernel.body = loop::simplify(
        joined({loop::LocalArray{row_, type_.dtype, width_ * columns_}}, with_positions()));
    if (packs_) replace_weights(out);
    if (goes_along_) add_zero_points(out);
    return out;
  }

 private:
  static constexpr int64_t kVectorChannels = 16;

  int64_t num_channels() const { return *axes_.channel.extent(); }
  bool is_float() const { return type_.dtype == DType::kFloat32; }
  bool shares_x() const { return c_.x.index.factor(axes_.channel.variable) == 0; }
  int64_t num_terms() const {
    int64_t terms = 1;
    for (const SumRange& range : ranges_) terms *= range.full.end;
    return terms;
  }

  // Unsigned elements of x are kBias more than x, and x lacks its offset: both times the sum of the
  // weights, a constant for each channel and class of windows.
  bool can_go_along() const {
    constexpr int64_t kMostTerms = std::numeric_limits<int32_t>::max() / (255 * 128) / 2;
    const bool fits = !is_float() && shares_x() && c_.w.offset == 0 && windows_ &&
                      run_.length >= shape_.least_run && num_terms() <= kMostTerms;
    // No more bytes for these constants than for the weights.
    return fits && windows_->count() * size_in_bytes(DType::kInt32) <= num_terms();
  }

  // Channels of neighbouring columns have their elements of x side by side, so that all of them are
  // one row. The weights are there once for each column.
  bool is_flat() const {
    return !is_float() && !shares_x() && width_ == num_channels() && axes_.channels.empty() &&
           !axes_.positions.empty() &&
           c_.x.index.factor(axes_.positions.back().variable) ==
               num_channels() * c_.x.index.factor(axes_.channel.variable);
  }
  int64_t columns_in_table() const { return is_flat() ? columns_ : 1; }
  // As many as leave few of those whose sums are full alone, and make whole vectors.
  int64_t flat_columns() const {
    const LoopRange& column = axes_.positions.back();
    const int64_t full = full_positions(ranges_, column.variable, *column.extent()).length();
    int64_t best =
        std::clamp(shape_.most_channels / width_, int64_t{1}, std::max(full, int64_t{1}));
    for (int64_t n = best / 2; n > 1 && n * width_ >= 2 * kVectorChannels; n /= 2) {
      if (full % n < full % best) best = n;
    }
    return best;
  }

  // ---- The loops around a row.

  Block with_positions() {
    if (axes_.positions.empty()) return with_channels(true, 1);
    Columns columns(axes_.positions, ranges_, columns_, reverse_, names_, Columns::Rows::kAll);
    const bool splits = goes_along_ || columns_ > 1;
    return columns.rows(columns.segment(
        {0, columns.width()}, splits ? columns.full() : Span{},
        [&] { return with_channels(false, 1); }, [&] { return with_channels(true, columns_); }));
  }

  // `full`: at columns where no sum is cut.
  Block with_channels(bool full, int64_t columns) {
    const int64_t whole = num_channels() / width_ * width_;
    Block out = {loop::For{axes_.channel.variable, lit(0), lit(whole), width_, reverse_,
                           row({var(axes_.channel.variable), width_, columns, full})}};
    if (whole < num_channels()) {
      out = in_order(std::move(out), row({lit(whole), num_channels() - whole, columns, full}));
    }
    for (size_t g = axes_.channels.size(); g-- > 0;) {
      out = {loop::For{axes_.channels[g].variable, axes_.channels[g].begin, axes_.channels[g].end,
                       1, reverse_, std::move(out)}};
    }
    if (!goes_along_ || windows_->count() == 1) return out;
    return joined({loop::Let{window_, windows_->expr()}}, std::move(out));
  }

  bool is_cut(size_t s, bool full) const {
    const std::string& variable = ranges_[s].variable;
    return !variable.empty() && !(full && variable == axes_.positions.back().variable);
  }

  Expr begin_of(size_t s, bool full) const {
    return is_cut(s, full) ? c_.sums[s].begin : lit(ranges_[s].full.begin);
  }
  Expr end_of(size_t s, bool full) const {
    return is_cut(s, full) ? c_.sums[s].end : lit(ranges_[s].full.end);
  }

  // The outputs of one row: channels from `first` on, at one column or at some side by side.
  struct Tile {
    Expr first;
    int64_t width = 1;
    int64_t columns = 1;
    bool full = false;  // no sum is cut by the column
  };

  Block row(const Tile& tile) {
    Block out = goes_along_ ? sums_along_runs(tile) : sums_of_terms(tile);
    const Expr channel = tile.first + var(k_);
    const Expr sum = sum_at(tile, var(column_));
    append(out, over_tile(tile,
                          ending_of(c_, sum, c_.finish, values_of(tile, channel, var(column_)), 0,
                                    names_),
                          reverse_ && finish_loads_values()));
    return out;
  }

  // Of other tensors, whose bytes the outputs may take one by one. If not, compilers like loops
  // that go up better.
  bool finish_loads_values() const {
    bool loads = false;
    loop::for_each_expression(c_.finish, [&](const Expr& e) {
      loop::for_each_node(e, [&](const Expr& node) {
        const auto* load = loop::as<loop::Load>(node);
        loads = loads || (load && std::ranges::any_of(kernel_.params, [&](const loop::Param& p) {
                            return p.name == load->buffer && !p.constant;
                          }));
      });
    });
    return loads;
  }

  Block over_row(const Tile& tile, Block body, bool reverse = false) const {
    return {loop::For{k_, lit(0), lit(tile.width), 1, reverse, std::move(body)}};
  }
  Block over_tile(const Tile& tile, Block body, bool reverse = false) const {
    return {loop::For{column_, lit(0), lit(tile.columns), 1, reverse,
                      over_row(tile, std::move(body), reverse)}};
  }
  // Of the channel k_.
  Expr sum_at(const Tile& tile, const Expr& column) const {
    return loop::load(row_, column * tile.width + var(k_), type_, size_in_bytes(type_.dtype));
  }
  loop::Stmt to_row(const Tile& tile, const Expr& column, Expr value) const {
    return loop::Store{row_, column * tile.width + var(k_), std::move(value),
                       size_in_bytes(type_.dtype)};
  }
  std::map<std::string, Expr> values_of(const Tile& tile, const Expr& channel,
                                        const Expr& column) const {
    std::map<std::string, Expr> values = {{axes_.channel.variable, channel}};
    if (tile.columns > 1) {
      const std::string& variable = axes_.positions.back().variable;
      values[variable] = var(variable) + column;
    }
    return values;
  }
  Expr first_value(const Tile& tile, const Expr& channel, const Expr& column) const {
    return loop::substitute(c_.first, values_of(tile, channel, column));
  }

  // ---- Term by term, for all channels of the row.

  Block sums_of_terms(const Tile& tile) {
    const Expr start = first_value(tile, tile.first + var(k_), var(column_));
    Block out = over_tile(tile, {to_row(tile, var(column_), start)});
    append(out, terms_from(0, tile));
    return out;
  }

  Block terms_from(size_t s, const Tile& tile) {
    const std::string& variable = c_.sums[s].variable;
    const Expr begin = begin_of(s, tile.full);
    const Expr end = end_of(s, tile.full);
    if (s + 1 < c_.sums.size()) {
      return {loop::For{variable, begin, end, 1, false, terms_from(s + 1, tile)}};
    }
    if (is_cut(s, tile.full)) {
      return {loop::For{variable, begin, end, 1, false, terms(tile, var(variable), 1)}};
    }
    const int64_t extent = ranges_[s].full.end;
    const int64_t together = std::min(pass_.terms, extent);
    const int64_t whole = extent / together * together;
    Block out = {loop::For{variable, begin, lit(whole), together, false,
                           terms(tile, var(variable), together)}};
    if (whole < extent) append(out, terms(tile, lit(whole), extent - whole));
    return out;
  }

  // `count` terms from `innermost` on, of the innermost sum. A sum is loaded and stored once for
  // them, and they are added one after the other.
  Block terms(const Tile& tile, const Expr& innermost, int64_t count) {
    if (is_flat() && tile.columns > 1) {
      return terms({tile.first, tile.width * tile.columns, 1, tile.full}, innermost, count);
    }
    const std::string& variable = c_.sums.back().variable;
    Block out;
    Block sums;
    for (int64_t p = 0; p < tile.columns; ++p) {
      Expr sum = sum_at(tile, lit(p));
      for (int64_t t = 0; t < count; ++t) {
        std::map<std::string, Expr> values = values_of(tile, tile.first + var(k_), lit(p));
        values[variable] = innermost + t;
        Expr x = element(c_.x, index_at(c_.x.index, values));
        if (shares_x()) x = let(out, "x_value", std::move(x));
        const Expr w = packs_ ? packed_weight(tile, {{variable, values.at(variable)}})
                              : element(c_.w, index_at(c_.w.index, values));
        sum = sum + (c_.x_stands_left ? x * w : w * x);
      }
      sums.push_back(to_row(tile, lit(p), std::move(sum)));
    }
    append(out, over_row(tile, std::move(sums)));
    return out;
  }

  Expr let(Block& out, const char* stem, Expr value) {
    const std::string name = loop::fresh_name(stem, names_);
    const Type type = value->type;
    out.emplace_back(loop::Let{name, std::move(value)});
    return var(name, type);
  }

  // ---- Along runs, channel by channel.

  Block sums_along_runs(const Tile& tile) {
    const Expr channel = tile.first + var(k_);
    const std::string acc = loop::fresh_name("acc", names_);
    Expr index = number_of(channel);
    if (windows_->count() > 1) {
      index = var(window_) * (axes_.num_outer_channels() * num_channels()) + index;
    }
    // The first value is added at the end: before that, sums would leave int32 where it is large.
    Block body = {loop::Let{acc, loop::load(starts_, index, loop::kInt32, 4)}};
    append(body, runs_from(0, tile, acc));
    body.push_back(to_row(tile, lit(0), var(acc, type_) + first_value(tile, channel, lit(0))));
    Block out = over_row(tile, std::move(body));
    std::optional<Block> jammed = loop::unroll_and_jam(out, k_, shape_.jammed);
    return jammed ? *std::move(jammed) : out;
  }

  Block runs_from(size_t s, const Tile& tile, const std::string& acc) {
    const Expr begin = begin_of(s, tile.full);
    const Expr end = end_of(s, tile.full);
    if (s < run_.num_outer) {
      return {loop::For{c_.sums[s].variable, begin, end, 1, false, runs_from(s + 1, tile, acc)}};
    }
    const Expr channel = tile.first + var(k_);
    const std::string i = loop::fresh_name("i", names_);
    const Expr x = loop::load(c_.x.buffer, run_index(c_.x.index, channel, i), Type{c_.x.dtype});
    const Expr w = loop::load(c_.w.buffer, run_index(c_.w.index, channel, i), Type{c_.w.dtype});
    const Expr biased = loop::cast(Type{DType::kUInt8}, loop::cast(loop::kInt32, x) + kBias);
    const Expr product = loop::cast(loop::kInt32, biased) * loop::cast(loop::kInt32, w);
    const Expr from = begin * run_.step;
    const Expr to = end * run_.step;
    return {loop::For{i, from, to, 1, false, {loop::Assign{acc, var(acc, type_) + product}}}};
  }

  Expr run_index(AffineIndex index, const Expr& channel, const std::string& i) const {
    for (size_t s = run_.num_outer; s < c_.sums.size(); ++s) {
      index.factors.erase(c_.sums[s].variable);
    }
    return index_at(index, {{axes_.channel.variable, channel}}) + var(i);
  }

  // ---- Elements.

  Expr element(const Factor& factor, const Expr& index) const {
    return with_offset(factor, loop::load(factor.buffer, index, Type{factor.dtype}));
  }
  Expr with_offset(const Factor& factor, const Expr& loaded) const {
    return is_float() ? loaded : loop::cast(type_, loaded) + factor.offset;
  }

  Expr index_at(const AffineIndex& index, const std::map<std::string, Expr>& values) const {
    std::vector<std::string> order;
    for (const LoopRange& axis : c_.outer) order.push_back(axis.variable);
    return loop::substitute(index.expr(order), values);
  }

  // The channel's number among all.
  Expr number_of(const Expr& channel) const {
    Expr index = axes_.outer_channel();
    return index * num_channels() + channel;
  }

  // ---- Weights by row, term and channel of the row.

  Expr packed_weight(const Tile& tile, const std::map<std::string, Expr>& values) const {
    Expr index = number_of(tile.first) * num_terms();
    int64_t stride = is_flat() ? width_ * columns_ : tile.width;
    for (size_t s = c_.sums.size(); s-- > 0;) {
      index = index + loop::substitute(var(c_.sums[s].variable), values) * stride;
      stride *= ranges_[s].full.end;
    }
    return with_offset(c_.w, loop::load(packed_, index + var(k_), Type{c_.w.dtype}));
  }

  void replace_weights(Rescheduled& out) const {
    const auto w = std::ranges::find(out.kernel.params, c_.w.buffer, &loop::Param::name);
    w->name = packed_;
    w->num_elements =
        axes_.num_outer_channels() * num_channels() * num_terms() * columns_in_table();
    const auto packed = [places = weight_places(), row = width_, in_row = num_channels(),
                         copies = columns_in_table(),
                         size = size_in_bytes(c_.w.dtype)](const Bytes& weights) {
      std::vector<int64_t> order;
      const auto count = static_cast<int64_t>(places.channels.size());
      for (int64_t first = 0; first < count;) {
        const int64_t end = std::min(first + row, (first / in_row + 1) * in_row);
        for (const int64_t term : places.terms) {
          for (int64_t copy = 0; copy < copies; ++copy) {
            for (int64_t k = first; k < end; ++k) {
              order.push_back(places.channels[static_cast<size_t>(k)] + term);
            }
          }
        }
        first = end;
      }
      return rearranged(weights, order, size);
    };
    out.constants.push_back(derived(packed_, c_.w.buffer, packed));
  }

  // The weight of a term of a channel's sum is at the sum of both places.
  struct WeightPlaces {
    std::vector<int64_t> channels;
    std::vector<int64_t> terms;
  };
  WeightPlaces weight_places() const {
    WeightPlaces places;
    std::map<std::string, int64_t> at;
    for (const LoopRange& axis : c_.outer) at[axis.variable] = 0;
    for (const LoopRange& axis : c_.sums) at[axis.variable] = 0;
    for (int64_t outer = 0; outer < axes_.num_outer_channels(); ++outer) {
      set_digits(at, axes_.channels, outer, [&](size_t g) { return *axes_.channels[g].extent(); });
      for (int64_t k = 0; k < num_channels(); ++k) {
        at[axes_.channel.variable] = k;
        places.channels.push_back(c_.w.index.at(at));
      }
    }
    const int64_t last = places.channels.back();
    for (int64_t t = 0; t < num_terms(); ++t) {
      set_digits(at, c_.sums, t, [&](size_t s) { return ranges_[s].full.end; });
      places.terms.push_back(c_.w.index.at(at) - last);
    }
    return places;
  }

  // ---- Zero points, where sums go along runs.

  void add_zero_points(Rescheduled& out) const {
    const auto starts = [places = weight_places(), inside = windows_->terms_inside(),
                         factor = c_.x.offset - kBias](const Bytes& weights) {
      const std::vector<int8_t> w = weights.as<int8_t>();
      std::vector<int32_t> sums;
      for (const std::vector<bool>& of_class : inside) {
        for (const int64_t channel : places.channels) {
          int64_t sum = 0;
          for (size_t t = 0; t < places.terms.size(); ++t) {
            if (of_class[t]) sum += w[static_cast<size_t>(channel + places.terms[t])];
          }
          sums.push_back(static_cast<int32_t>(sum * factor));
        }
      }
      return Bytes::of(sums);
    };
    const auto w = std::ranges::find(out.kernel.params, c_.w.buffer, &loop::Param::name);
    loop::Param table = *w;
    table.name = starts_;
    table.dtype = DType::kInt32;
    table.num_elements = windows_->count() * axes_.num_outer_channels() * num_channels();
    table.alignment = 4;
    out.kernel.params.insert(w + 1, table);
    out.constants.push_back(derived(starts_, c_.w.buffer, starts));
  }

  Block in_order(Block a, Block b) const { return reverse_ ? joined(b, a) : joined(a, b); }

  const loop::Kernel& kernel_;
  Contraction c_;
  Axes axes_;
  std::vector<SumRange> ranges_;
  bool reverse_;
  const RowShape& shape_;
  BothRuns run_;
  std::optional<WindowClasses> windows_;
  Type type_;  // of the sums
  RowShape::Pass pass_;
  int64_t width_ = 1;    // of rows, in channels
  int64_t columns_ = 1;  // of a tile, where the borders do not cut its sums
  bool goes_along_ = false;
  bool packs_ = false;
  std::set<std::string> names_;
  std::string row_;
  std::string k_;       // a row's channels
  std::string column_;  // a tile's columns
  std::string packed_;
  std::string starts_;
  std::string window_;
};

}  // namespace

std::optional<Rescheduled> schedule_channel_rows(const loop::Kernel& kernel, bool reverse,
                                                 const RowShape& shape) {
  std::optional<Contraction> found = find_contraction(kernel);
  if (!found) return std::nullopt;
  Contraction c = with_collapsed_positions(*std::move(found));
  const bool floats = c.x.dtype == DType::kFloat32 && c.w.dtype == DType::kFloat32;
  const bool bytes = c.x.dtype == DType::kInt8 && c.w.dtype == DType::kInt8;
  if (!floats && !bytes) return std::nullopt;
  const auto is_channel = [&](const LoopRange& axis) { return c.is_channel(axis); };
  const auto channel = std::find_if(c.outer.rbegin(), c.outer.rend(), is_channel);
  if (channel == c.outer.rend() || *channel->extent() < shape.least_channels) return std::nullopt;
  std::optional<std::vector<SumRange>> ranges = ranges_of_sums(c);
  if (!ranges) return std::nullopt;
  return RowBuilder(kernel, std::move(c), *std::move(ranges), reverse, shape).build();
}

}  // namespace ingot
