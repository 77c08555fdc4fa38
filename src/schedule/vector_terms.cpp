// SPDX-License-Identifier: Apache-2.0
#include "schedule/vector_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "schedule/block.h"
#include "schedule/columns.h"
#include "schedule/lane_finish.h"
#include "schedule/vector_weights.h"
#include "support/check.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;
using loop::Type;
using loop::var;

constexpr int64_t kMostUnrolled = 4;  // steps of the innermost sum

struct Tile {
  Chunk chunk;
  int64_t columns = 1;
  bool full_columns = false;                // the sums that depend on the column are full
  bool full = false;                        // all sums are
  std::optional<Span> taps = std::nullopt;  // of the innermost sum, where they are known
};

class TermsBuilder {
 public:
  TermsBuilder(const loop::Program& program, const loop::Kernel& kernel, Contraction c,
               std::vector<SumRange> ranges, bool reverse, const TermShape& shape)
      : kernel_(kernel),
        c_(std::move(c)),
        ranges_(std::move(ranges)),
        reverse_(reverse),
        shape_(shape) {
    for (const LoopRange& axis : c_.outer) {
      (c_.w.index.factor(axis.variable) != 0 ? channels_ : positions_).push_back(axis);
    }
    channel_ = channels_.back();
    channels_.pop_back();
    dtype_ = c_.x.dtype == DType::kFloat32 ? DType::kFloat32 : DType::kInt32;
    chunks_ = chunks_of(*channel_.extent(), lanes(), shares_x() ? shape.most_vectors : 1);
    names_ = names_in(kernel);
    packs_ = c_.w.index.factor(channel_.variable) != 1 || !is_whole();
    packed_ = packs_ ? loop::fresh_name(c_.w.buffer + "_packed", names_) : c_.w.buffer;
    sums_ = loop::fresh_name(c_.w.buffer + "_sums", names_);
    finish_.emplace(c_, channel_.variable, program, shape.known, names_);
  }

  // Vectors may read weights of channels that do not exist, as these are packed, but not such
  // elements of x: there the last channels are scalars.
  std::vector<int64_t> lanes() const {
    std::vector<int64_t> lanes = shape_.lanes;
    if (!shares_x()) lanes.push_back(1);
    return lanes;
  }

  // Each lane of each vector is a channel.
  bool is_whole() const { return chunks_.back().valid == chunks_.back().lanes; }
  bool shares_x() const { return c_.x.index.factor(channel_.variable) == 0; }

  std::optional<Rescheduled> build() {
    Rescheduled out;
    out.kernel = kernel_;
    out.kernel.body = loop::simplify(with_positions());
    if (finish_->failed()) return std::nullopt;
    if (packs_) pack_weights(out);
    if (uses_sums_) add_sums(out);
    out.functions = shape_.functions;
    finish_->add_functions(out.functions);
    return out;
  }

 private:
  bool is_float() const { return dtype_ == DType::kFloat32; }
  Type type_of(const Tile& tile) const { return {dtype_, tile.chunk.lanes}; }

  Block with_positions() {
    const bool everywhere =
        std::ranges::all_of(ranges_, [](const SumRange& r) { return r.variable.empty(); });
    const std::optional<Span> all_taps =
        ranges_.back().variable.empty() ? std::optional(ranges_.back().full) : std::nullopt;
    if (positions_.empty()) return with_channels({{}, 1, everywhere, everywhere, all_taps});
    const int64_t width = *positions_.back().extent();
    const Span full = full_positions(ranges_, positions_.back().variable, width);
    // A third column that shares x would want 64 bytes more between x and y where they overlap.
    const int64_t most = by_x() ? 2 : shape_.most_columns;
    const int64_t step = columns_of(full.length(), chunks_.front().vectors, most, shape_.most_sums);
    // Sums of bytes are short, and full ones begin with what the zero point adds to them.
    const auto rows = is_float() ? Columns::Rows::kAll : Columns::Rows::kFull;
    Columns columns(positions_, ranges_, step, reverse_, names_, rows);
    const bool is_full = !is_float() || everywhere;
    const std::string& innermost = ranges_.back().variable;
    const std::optional<Span> block_taps =
        is_full || innermost.empty() || innermost == positions_.back().variable
            ? std::optional(ranges_.back().full)
            : std::nullopt;
    Block row;
    for (const auto& [span, taps] : classes(width)) {
      const Span inner = {std::max(span.begin, columns.full().begin),
                          std::min(span.end, columns.full().end)};
      const std::optional<Span> own = taps ? taps : all_taps;
      Block part = columns.segment(
          span, inner,
          [&] {
            return with_channels({{}, 1, everywhere, everywhere, own});
          },
          [&] {
            return with_channels({{}, step, true, is_full, block_taps});
          });
      row = columns.in_order(std::move(row), std::move(part));
    }
    return columns.rows(std::move(row));
  }

  // The columns by the taps of the innermost sum.
  std::vector<std::pair<Span, std::optional<Span>>> classes(int64_t width) const {
    const SumRange& range = ranges_.back();
    std::vector<std::pair<Span, std::optional<Span>>> classes;
    if (range.variable != positions_.back().variable) return {{Span{0, width}, std::nullopt}};
    for (int64_t v = 0; v < width; ++v) {
      const Span& taps = range.spans[static_cast<size_t>(v)];
      if (classes.empty() || *classes.back().second != taps) classes.push_back({{v, v}, taps});
      classes.back().first.end = v + 1;
    }
    return classes;
  }

  Block with_channels(Tile tile) {
    Block out;
    for (const Chunk& chunk : chunks_) {
      tile.chunk = chunk;
      Block block;
      if (chunk.num_blocks == 1) {
        block = tile_block(tile, lit(chunk.first));
      } else {
        block = {loop::For{channel_.variable, lit(chunk.first), lit(chunk.end()), chunk.channels(),
                           reverse_, tile_block(tile, var(channel_.variable))}};
      }
      out = reverse_ ? joined(std::move(block), std::move(out))
                     : joined(std::move(out), std::move(block));
    }
    for (size_t g = channels_.size(); g-- > 0;) {
      out = {loop::For{channels_[g].variable, channels_[g].begin, channels_[g].end, 1, reverse_,
                       std::move(out)}};
    }
    return out;
  }

  std::map<std::string, Expr> values_at(const Tile& tile, int64_t p) const {
    if (tile.columns == 1) return {};
    const std::string& column = positions_.back().variable;
    return {{column, var(column) + p}};
  }

  Block tile_block(const Tile& tile, const Expr& channel) {
    sums_of_.clear();
    Block out;
    for (int64_t v = 0; v < tile.chunk.vectors; ++v) {
      for (int64_t p = 0; p < tile.columns; ++p) {
        const std::string name = loop::fresh_name(fmt::format("sum_{}_{}", v, p), names_);
        sums_of_[{v, p}] = name;
        out.emplace_back(loop::Let{name, first_of(tile, channel, v, p)});
      }
    }
    append(out, sum_loops(tile, channel, 0, {}));
    for (int64_t v = 0; v < tile.chunk.vectors; ++v) {
      std::vector<Block> columns;
      for (int64_t p = 0; p < tile.columns; ++p) {
        const Expr sum = var(sums_of_.at({v, p}), type_of(tile));
        columns.push_back(finish_->finish(channel + v * tile.chunk.lanes, tile.chunk.valid, sum,
                                          values_at(tile, p)));
      }
      append(out, with_stores_last(columns));
    }
    return out;
  }

  // The first value, and where all sums are full what the zero point of x adds to them.
  Expr first_of(const Tile& tile, const Expr& channel, int64_t v, int64_t p) {
    const Expr own = channel + v * tile.chunk.lanes;
    const std::map<std::string, Expr> values = values_at(tile, p);
    const Expr first = finish_->first(own, tile.chunk, values);
    if (!adds_sums(tile)) return first;
    uses_sums_ = true;
    return first + loop::load(sums_, own, type_of(tile), 4);
  }
  bool adds_sums(const Tile& tile) const {
    return tile.full && c_.x.offset != 0 && channels_.empty() && is_whole();
  }

  Block sum_loops(const Tile& tile, const Expr& channel, size_t s,
                  std::map<std::string, Expr> values) {
    if (s == c_.sums.size()) return term(tile, channel, values);
    const LoopRange& sum = c_.sums[s];
    const Span& full = ranges_[s].full;
    const std::string& depends_on = ranges_[s].variable;
    const bool is_full =
        tile.full || depends_on.empty() ||
        (tile.full_columns && !positions_.empty() && depends_on == positions_.back().variable);
    if (tile.taps && s + 1 == c_.sums.size() && tile.taps->length() <= kMostUnrolled) {
      if (by_x() && tile.chunk.lanes > 1) return row_by_x(tile, channel, values);
      Block out;
      for (int64_t i = tile.taps->begin; i < tile.taps->end; ++i) {
        values[sum.variable] = lit(i);
        append(out, sum_loops(tile, channel, s + 1, values));
      }
      return out;
    }
    values[sum.variable] = var(sum.variable);
    return {loop::For{sum.variable, is_full ? lit(full.begin) : sum.begin,
                      is_full ? lit(full.end) : sum.end, 1, false,
                      sum_loops(tile, channel, s + 1, values)}};
  }

  // One term of every sum of the block.
  Block term(const Tile& tile, const Expr& channel, const std::map<std::string, Expr>& values) {
    Block out;
    std::map<int64_t, Expr> shared;
    const Type type = type_of(tile);
    if (shares_x()) {
      for (int64_t p = 0; p < tile.columns; ++p) {
        const Expr index = index_at(c_.x.index, p, nullptr, values);
        const Expr x = loop::load(c_.x.buffer, index, Type{c_.x.dtype});
        const Expr value = with_offset(tile, loop::cast(Type{dtype_}, x));
        shared[p] = let(out, "x_value", scales() ? value : loop::cast(type, value));
      }
    }
    for (int64_t v = 0; v < tile.chunk.vectors; ++v) {
      const Expr own = channel + v * tile.chunk.lanes;
      const Expr loaded = weights_at(tile, channel, v, values);
      const Expr w = let(out, "w_value", loop::cast(type, loaded));
      for (int64_t p = 0; p < tile.columns; ++p) {
        Expr x = shares_x() ? shared.at(p) : nullptr;
        if (!x) {
          const Expr elements = loop::load(c_.x.buffer, index_at(c_.x.index, p, own, values),
                                           {c_.x.dtype, tile.chunk.lanes});
          x = with_offset(tile, loop::cast(type, elements));
        }
        const std::string& sum = sums_of_.at({v, p});
        out.emplace_back(loop::Assign{sum, added(var(sum, type), x, w)});
      }
    }
    return out;
  }

  // Whether rows of taps are summed element by element of x.
  bool by_x() const { return !shares_x() && !is_float() && !shape_.add_product.empty(); }

  // The terms of a row of taps: the weights, then each element of x for all sums that it is in.
  Block row_by_x(const Tile& tile, const Expr& channel, std::map<std::string, Expr> values) {
    CHECK(tile.chunk.vectors == 1);
    const std::string& tap = c_.sums.back().variable;
    const int64_t tap_step = c_.x.index.factor(tap);
    const int64_t column_step =
        positions_.empty() ? 0 : c_.x.index.factor(positions_.back().variable);
    const Type type = type_of(tile);
    Block out;
    std::map<int64_t, Expr> weights;
    // By the place of x: the tap and the column.
    std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> uses;
    for (int64_t i = tile.taps->begin; i < tile.taps->end; ++i) {
      values[tap] = lit(i);
      weights[i] = let(out, "w_value", loop::cast(type, weights_at(tile, channel, 0, values)));
      for (int64_t p = 0; p < tile.columns; ++p) {
        uses[i * tap_step + p * column_step].emplace_back(i, p);
      }
    }
    for (const auto& [place, terms] : uses) {
      values[tap] = lit(terms.front().first);
      const Expr elements =
          loop::load(c_.x.buffer, index_at(c_.x.index, terms.front().second, channel, values),
                     {c_.x.dtype, tile.chunk.lanes});
      const Expr x = let(out, "x_value", with_offset(tile, loop::cast(type, elements)));
      for (const auto& [i, p] : terms) {
        const std::string& sum = sums_of_.at({0, p});
        out.emplace_back(
            loop::Assign{sum, loop::call(fmt::format("{}_x{}", shape_.add_product, type.lanes),
                                         type, {var(sum, type), x, weights.at(i)})});
      }
    }
    return out;
  }

  // Sums are made from a scalar x.
  bool scales() const { return shares_x() && !is_float() && !shape_.add_scaled.empty(); }

  Expr added(const Expr& sum, const Expr& x, const Expr& w) const {
    if (scales()) {
      return loop::call(fmt::format("{}_x{}", shape_.add_scaled, sum->type.lanes), sum->type,
                        {sum, w, x});
    }
    return sum + (c_.x_stands_left ? x * w : w * x);
  }

  Expr with_offset(const Tile& tile, const Expr& x) const {
    if (is_float() || c_.x.offset == 0 || adds_sums(tile)) return x;
    const Expr offset = lit(c_.x.offset);
    return x + (x->type.is_scalar() ? offset : loop::cast(x->type, offset));
  }

  Expr weights_at(const Tile& tile, const Expr& channel, int64_t v,
                  const std::map<std::string, Expr>& values) const {
    const Type type{c_.w.dtype, tile.chunk.lanes};
    const Expr own = channel + v * tile.chunk.lanes;
    if (!packs_) return loop::load(packed_, index_at(c_.w.index, 0, own, values), type);
    Expr index = lit(0);
    for (const LoopRange& g : channels_) index = index * *g.extent() + var(g.variable);
    index = index * (chunks_.back().end() * num_terms()) + channel * num_terms();
    int64_t stride = tile.chunk.channels();
    for (size_t s = c_.sums.size(); s-- > 0;) {
      index = index + values.at(c_.sums[s].variable) * stride;
      stride *= ranges_[s].full.end;
    }
    return loop::load(packed_, index + v * tile.chunk.lanes, type);
  }

  Expr let(Block& out, const char* name, Expr value) {
    std::string unique = loop::fresh_name(name, names_);
    const Type type = value->type;
    out.emplace_back(loop::Let{unique, std::move(value)});
    return var(std::move(unique), type);
  }

  // At column `p` of the block, at the channel (null: it does not count) and the sums of `values`.
  Expr index_at(AffineIndex index, int64_t p, const Expr& channel,
                const std::map<std::string, Expr>& values) const {
    int64_t rest = std::exchange(index.constant, 0);
    if (!positions_.empty()) rest += p * index.factor(positions_.back().variable);
    std::vector<std::pair<Expr, int64_t>> replaced;
    for (const LoopRange& sum : c_.sums) {
      replaced.emplace_back(values.at(sum.variable), index.factor(sum.variable));
      index.factors.erase(sum.variable);
    }
    if (channel) replaced.emplace_back(channel, index.factor(channel_.variable));
    index.factors.erase(channel_.variable);
    std::vector<std::string> order;
    for (const LoopRange& axis : c_.outer) order.push_back(axis.variable);
    Expr sum = index.expr(order);
    for (const auto& [value, factor] : replaced) sum = sum + value * factor;
    return sum + rest;
  }

  // ---- Constants.

  int64_t num_terms() const {
    int64_t terms = 1;
    for (const SumRange& range : ranges_) terms *= range.full.end;
    return terms;
  }

  // The variables of the sums at their n-th combination.
  void set_sums(std::map<std::string, int64_t>& at, int64_t n) const {
    for (size_t s = c_.sums.size(); s-- > 0;) {
      at[c_.sums[s].variable] = n % ranges_[s].full.end;
      n /= ranges_[s].full.end;
    }
  }
  void set_outer(std::map<std::string, int64_t>& at, int64_t n) const {
    for (const LoopRange& axis : c_.outer) at[axis.variable] = 0;
    for (size_t g = channels_.size(); g-- > 0;) {
      at[channels_[g].variable] = n % *channels_[g].extent();
      n /= *channels_[g].extent();
    }
  }

  // The weights by outer channel, block of channels, term, channel.
  void pack_weights(Rescheduled& out) const {
    int64_t outer = 1;
    for (const LoopRange& g : channels_) outer *= *g.extent();
    std::vector<int64_t> source;
    std::map<std::string, int64_t> at;
    for (int64_t o = 0; o < outer; ++o) {
      set_outer(at, o);
      for (const Chunk& chunk : chunks_) {
        for (int64_t first = chunk.first; first < chunk.end(); first += chunk.channels()) {
          for (int64_t t = 0; t < num_terms(); ++t) {
            set_sums(at, t);
            for (int64_t k = first; k < first + chunk.channels(); ++k) {
              at[channel_.variable] = k;
              source.push_back(k < *channel_.extent() ? c_.w.index.at(at) : -1);
            }
          }
        }
      }
    }
    const auto w = std::ranges::find(out.kernel.params, c_.w.buffer, &loop::Param::name);
    w->name = packed_;
    w->num_elements = static_cast<int64_t>(source.size());
    const auto size = static_cast<size_t>(size_in_bytes(c_.w.dtype));
    out.constants.push_back(derived(packed_, c_.w.buffer, [source, size](const Bytes& weights) {
      std::vector<uint8_t> bytes(source.size() * size, 0);
      for (size_t i = 0; i < source.size(); ++i) {
        if (source[i] < 0) continue;
        const auto from = static_cast<size_t>(source[i]) * size;
        std::copy_n(weights.view().begin() + static_cast<int64_t>(from), size,
                    bytes.begin() + static_cast<int64_t>(i * size));
      }
      return Bytes(std::move(bytes));
    }));
  }

  // The offset of x times the sum of each channel's weights, as a parameter behind the weights.
  void add_sums(Rescheduled& out) const {
    const auto w = std::ranges::find(out.kernel.params, packed_, &loop::Param::name);
    loop::Param sums = *w;
    sums.name = sums_;
    sums.dtype = DType::kInt32;
    sums.num_elements = *channel_.extent();
    sums.alignment = 4;
    out.kernel.params.insert(w + 1, sums);
    std::vector<std::vector<int64_t>> terms(static_cast<size_t>(*channel_.extent()));
    std::map<std::string, int64_t> at;
    set_outer(at, 0);
    for (int64_t t = 0; t < num_terms(); ++t) {
      set_sums(at, t);
      for (size_t k = 0; k < terms.size(); ++k) {
        at[channel_.variable] = static_cast<int64_t>(k);
        terms[k].push_back(c_.w.index.at(at));
      }
    }
    const int64_t factor = c_.x.offset;
    out.constants.push_back(derived(sums_, c_.w.buffer, [terms, factor](const Bytes& weights) {
      return sums_of_weights(weights, terms, factor);
    }));
  }

  const loop::Kernel& kernel_;
  Contraction c_;
  std::vector<SumRange> ranges_;
  bool reverse_;
  const TermShape& shape_;
  std::vector<LoopRange> channels_;  // outside of `channel_`
  LoopRange channel_;
  std::vector<LoopRange> positions_;
  DType dtype_ = DType::kInt32;  // of the sums
  std::vector<Chunk> chunks_;
  bool packs_ = false;
  bool uses_sums_ = false;
  std::set<std::string> names_;
  std::string packed_;
  std::string sums_;
  std::map<std::pair<int64_t, int64_t>, std::string> sums_of_;  // by vector and column
  std::optional<LaneFinish> finish_;
};

}  // namespace

std::optional<Rescheduled> schedule_vector_terms(const loop::Program& program,
                                                 const loop::Kernel& kernel, bool reverse,
                                                 const TermShape& shape) {
  std::optional<Contraction> found = find_contraction(kernel);
  if (!found) return std::nullopt;
  Contraction c = with_collapsed_positions(*std::move(found));
  const bool floats = c.x.dtype == DType::kFloat32 && c.w.dtype == DType::kFloat32;
  const bool bytes = c.x.dtype == DType::kInt8 && c.w.dtype == DType::kInt8;
  if (c.w.offset != 0 || (!bytes && !(floats && shape.floats))) return std::nullopt;
  std::string channel;
  for (const LoopRange& axis : c.outer) {
    if (c.w.index.factor(axis.variable) != 0) channel = axis.variable;
  }
  if (channel.empty() || *c.find_outer(channel)->extent() < shape.lanes.back()) return std::nullopt;
  const int64_t step = c.x.index.factor(channel);
  if (step != 0 && step != 1) return std::nullopt;
  std::optional<std::vector<SumRange>> ranges = ranges_of_sums(c);
  if (!ranges) return std::nullopt;
  return TermsBuilder(program, kernel, std::move(c), *std::move(ranges), reverse, shape).build();
}

}  // namespace ingot
