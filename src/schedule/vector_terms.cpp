// SPDX-License-Identifier: Apache-2.0
#include "schedule/vector_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "schedule/block.h"
#include "schedule/channel_table.h"
#include "schedule/columns.h"
#include "schedule/interleaved.h"
#include "schedule/lane_finish.h"
#include "schedule/terms_table.h"
#include "schedule/vector_weights.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;
using loop::Type;
using loop::var;

constexpr int64_t kMostUnrolled = 4;        // steps of the innermost sum
constexpr int64_t kMostUnrolledNarrow = 7;  // where products are summed in 16 bits
constexpr int64_t kMostNarrowSums = 4;      // in as many registers, as x, w and products need some

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
        axes_(axes_of(c_)),
        ranges_(std::move(ranges)),
        reverse_(reverse),
        shape_(shape) {
    dtype_ = c_.x.dtype == DType::kFloat32 ? DType::kFloat32 : DType::kInt32;
    names_ = names_in(kernel);
    chunks_ = chunks_of(*axes_.channel.extent(), lanes(), shares_x() ? shape.most_vectors : 1);
    if (shape.narrow_taps > 0) narrow();
    packs_ = c_.w.index.factor(axes_.channel.variable) != 1 || !is_whole();
    packed_ = packs_ ? loop::fresh_name(c_.w.buffer + "_packed", names_) : c_.w.buffer;
    sums_ = loop::fresh_name(c_.w.buffer + "_sums", names_);
    finish_.emplace(c_, axes_.channel.variable, program, shape.known, names_);
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
  bool shares_x() const { return c_.x.index.factor(axes_.channel.variable) == 0; }

  std::optional<Rescheduled> build() {
    Rescheduled out;
    out.kernel = kernel_;
    out.kernel.body = loop::simplify(with_positions());
    if (finish_->failed() || failed_) return std::nullopt;
    if (packs_) table().pack(out, packed_);
    if (is_narrow_) finish_narrow(out);
    if (uses_sums_) {
      const int64_t count = *axes_.channel.extent();
      table().add_sums(out, packed_, sums_,
                       is_narrow_ ? interleaved_order(count) : in_order(count));
    }
    out.functions = shape_.functions;
    finish_->add_functions(out.functions);
    if (shape_.joins_tables) join_channel_tables(out, packed_);
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
    if (axes_.positions.empty()) return with_channels({{}, 1, everywhere, everywhere, all_taps});
    const int64_t width = *axes_.positions.back().extent();
    const Span full = full_positions(ranges_, axes_.positions.back().variable, width);
    const int64_t step = columns_of(full.length(), chunks_.front().vectors, shape_.most_columns,
                                    is_narrow_ ? kMostNarrowSums : shape_.most_sums);
    // Sums of bytes are short, and full ones begin with what the zero point adds to them.
    const auto rows = is_float() || fills_ ? Columns::Rows::kAll : Columns::Rows::kFull;
    Columns columns(axes_.positions, ranges_, step, reverse_, names_, rows);
    const bool is_full = rows == Columns::Rows::kFull || everywhere;
    const std::string& innermost = ranges_.back().variable;
    const std::optional<Span> block_taps =
        is_full || innermost.empty() || innermost == axes_.positions.back().variable
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
    if (range.variable != axes_.positions.back().variable) return {{Span{0, width}, std::nullopt}};
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
        block = {loop::For{axes_.channel.variable, lit(chunk.first), lit(chunk.end()),
                           chunk.channels(), reverse_,
                           tile_block(tile, var(axes_.channel.variable))}};
      }
      out = reverse_ ? joined(std::move(block), std::move(out))
                     : joined(std::move(out), std::move(block));
    }
    for (size_t g = axes_.channels.size(); g-- > 0;) {
      out = {loop::For{axes_.channels[g].variable, axes_.channels[g].begin, axes_.channels[g].end,
                       1, reverse_, std::move(out)}};
    }
    return out;
  }

  std::map<std::string, Expr> values_at(const Tile& tile, int64_t p) const {
    if (tile.columns == 1) return {};
    const std::string& column = axes_.positions.back().variable;
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
    if (is_narrow(tile)) return joined(std::move(out), narrow_ending(tile, channel));
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
    return (tile.full || is_filled(tile)) && c_.x.offset != 0 && axes_.channels.empty() &&
           is_whole();
  }

  Block sum_loops(const Tile& tile, const Expr& channel, size_t s,
                  std::map<std::string, Expr> values) {
    if (s == c_.sums.size()) return term(tile, channel, values);
    const LoopRange& sum = c_.sums[s];
    const Span& full = ranges_[s].full;
    const std::string& depends_on = ranges_[s].variable;
    const bool is_full = tile.full || depends_on.empty() ||
                         (tile.full_columns && !axes_.positions.empty() &&
                          depends_on == axes_.positions.back().variable);
    if (is_narrow(tile) && s + 1 == c_.sums.size()) return narrow_row(tile, channel, values);
    if (is_filled(tile) && !is_full) return filled_loops(tile, channel, s, std::move(values));
    if (tile.taps && s + 1 == c_.sums.size() && tile.taps->length() <= kMostUnrolled) {
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
    const Expr index = table().packed_index(channel, tile.chunk.channels(), values);
    return loop::load(packed_, index + v * tile.chunk.lanes, type);
  }

  // At column `p` of the block.
  Expr index_at(AffineIndex index, int64_t p, const Expr& channel,
                const std::map<std::string, Expr>& values) const {
    if (!axes_.positions.empty())
      index.constant += p * index.factor(axes_.positions.back().variable);
    return index_of(c_, std::move(index), axes_.channel.variable, channel, values);
  }

  Expr let(Block& out, const char* name, Expr value) {
    std::string unique = loop::fresh_name(name, names_);
    const Type type = value->type;
    out.emplace_back(loop::Let{unique, std::move(value)});
    return var(std::move(unique), type);
  }

  // ---- Sums of products in 16 bits.

  bool is_narrow(const Tile& tile) const { return is_narrow_ && tile.chunk.vectors == 2; }
  bool is_filled(const Tile& tile) const { return fills_ && is_narrow(tile); }

  // Turns to them where the contraction allows it.
  void narrow() {
    const int64_t count = *axes_.channel.extent();
    const std::string& depends_on = ranges_.back().variable;
    const bool has_taps = depends_on.empty() || (!axes_.positions.empty() &&
                                                 depends_on == axes_.positions.back().variable);
    if (shares_x() || is_float() || !has_taps || !axes_.channels.empty() || count < kInterleaved ||
        c_.w.index.factor(axes_.channel.variable) != 1 ||
        ranges_.back().full.length() > kMostUnrolledNarrow) {
      return;
    }
    std::optional<Interleaved> interleaved =
        with_interleaved_tables(c_, kernel_, axes_.channel.variable, names_);
    if (!interleaved) return;
    is_narrow_ = true;
    c_ = std::move(interleaved->contraction);
    tables_ = std::move(interleaved->tables);
    const int64_t blocks = count / kInterleaved;
    chunks_ = {{0, blocks, kInterleaved / 2, 2, kInterleaved / 2}};
    for (Chunk rest : chunks_of(count % kInterleaved, lanes(), 1)) {
      rest.first += blocks * kInterleaved;
      chunks_.push_back(rest);
    }
    fills_ = is_whole() && !axes_.positions.empty() && c_.x.offset > -128 && c_.x.offset <= 128;
  }

  // The rows that lie within x, and those that do not, whose elements are x's zero point.
  Block filled_loops(const Tile& tile, const Expr& channel, size_t s,
                     std::map<std::string, Expr> values) {
    const LoopRange& sum = c_.sums[s];
    const Span& full = ranges_[s].full;
    values[sum.variable] = var(sum.variable);
    Block out;
    const auto add_rows = [&](const Expr& begin, const Expr& end, bool is_outside) {
      if (is_outside && c_.x.offset == 0) return;
      const bool was_outside = std::exchange(is_outside_, is_outside_ || is_outside);
      Block body = sum_loops(tile, channel, s + 1, values);
      is_outside_ = was_outside;
      out.emplace_back(loop::For{sum.variable, begin, end, 1, false, std::move(body)});
    };
    add_rows(lit(full.begin), sum.begin, true);
    add_rows(sum.begin, sum.end, false);
    add_rows(sum.end, lit(full.end), true);
    return out;
  }

  // The terms of one row of taps, eight channels at a time.
  Block narrow_row(const Tile& tile, const Expr& channel, std::map<std::string, Expr> values) {
    const bool has_offset = c_.x.offset != 0 && !adds_sums(tile);
    const Span taps = is_filled(tile) && c_.x.offset != 0 ? ranges_.back().full : *tile.taps;
    Block out;
    Expr weights = nullptr;  // their sum, which x's offset is multiplied with
    for (int64_t first = taps.begin; first < taps.end; first += shape_.narrow_taps) {
      const int64_t end = std::min(first + shape_.narrow_taps, taps.end);
      std::vector<Expr> products(static_cast<size_t>(tile.columns));
      for (int64_t t = first; t < end; ++t) {
        values[c_.sums.back().variable] = lit(t);
        const Expr w = let(out, "w_value", narrow_load(c_.w, 0, channel, values));
        const bool is_inside = !is_outside_ && tile.taps->begin <= t && t < tile.taps->end;
        for (int64_t p = 0; p < tile.columns; ++p) {
          Expr& sum = products[static_cast<size_t>(p)];
          const Expr product =
              is_inside ? narrow_load(c_.x, p, channel, values) * w
                        : loop::call("scaled_x8", w->type, {w, lit(-c_.x.offset, loop::kInt16)});
          sum = sum ? sum + product : product;
        }
        if (has_offset) weights = weights ? weights + w : w;
      }
      for (int64_t p = 0; p < tile.columns; ++p) {
        const Expr sum = let(out, "products", products[static_cast<size_t>(p)]);
        add_narrow(out, tile, p, [&](const std::string& half, const Expr& before) {
          return loop::call("add_" + half, type_of(tile), {before, sum});
        });
      }
    }
    if (!has_offset) return out;
    const Expr sum = let(out, "w_sum", std::move(weights));
    for (int64_t p = 0; p < tile.columns; ++p) {
      add_narrow(out, tile, p, [&](const std::string& half, const Expr& before) {
        const Expr all = loop::cast(type_of(tile), lit(c_.x.offset));
        return before + loop::call(half, type_of(tile), {sum}) * all;
      });
    }
    return out;
  }

  template <class Added>
  void add_narrow(Block& out, const Tile& tile, int64_t p, Added added) const {
    for (const int64_t v : {0, 1}) {
      const std::string& sum = sums_of_.at({v, p});
      out.emplace_back(
          loop::Assign{sum, added(v == 0 ? "even_x8" : "odd_x8", var(sum, type_of(tile)))});
    }
  }

  Expr narrow_load(const Factor& factor, int64_t p, const Expr& channel,
                   const std::map<std::string, Expr>& values) const {
    const Expr index = index_at(factor.index, p, channel, values);
    return loop::cast(Type{DType::kInt16, kInterleaved},
                      loop::load(factor.buffer, index, {DType::kInt8, kInterleaved}));
  }

  Block narrow_ending(const Tile& tile, const Expr& channel) {
    std::vector<Block> columns;
    for (int64_t p = 0; p < tile.columns; ++p) {
      std::vector<Block> halves;
      for (const int64_t v : {0, 1}) {
        const Expr sum = var(sums_of_.at({v, p}), type_of(tile));
        halves.push_back(finish_->finish(channel + v * tile.chunk.lanes, tile.chunk.valid, sum,
                                         values_at(tile, p)));
      }
      if (finish_->failed()) return {};
      std::optional<Block> both = stored_together(std::move(halves[0]), std::move(halves[1]));
      failed_ = failed_ || !both;
      columns.push_back(both ? *std::move(both) : Block());
    }
    return with_stores_last(columns);
  }

  // Tables, and for which weights this is right.
  void finish_narrow(Rescheduled& out) const {
    add_interleaved(out, tables_);
    const int64_t taps = shape_.narrow_taps;
    const std::vector<std::vector<int64_t>> rows = table().rows(in_order(*axes_.channel.extent()));
    const int64_t width = ranges_.back().full.end;
    out.sources = {c_.w.buffer};
    out.fits = [rows, width, taps](const std::vector<Bytes>& weights) {
      return fit_16_bits(weights.front(), rows, width, taps);
    };
  }

  // ---- Constants.

  TermsTable table() const { return {c_, ranges_, axes_.channels, axes_.channel, chunks_}; }

  const loop::Kernel& kernel_;
  Contraction c_;
  Axes axes_;
  std::vector<SumRange> ranges_;
  bool reverse_;
  const TermShape& shape_;
  DType dtype_ = DType::kInt32;  // of the sums
  std::vector<Chunk> chunks_;
  bool packs_ = false;
  bool uses_sums_ = false;
  bool is_narrow_ = false;
  bool fills_ = false;       // taps outside of x count with its zero point, so that sums are full
  bool is_outside_ = false;  // while a row of such taps is built
  std::vector<std::pair<std::string, std::string>> tables_;  // interleaved
  bool failed_ = false;
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
    if (c.is_channel(axis)) channel = axis.variable;
  }
  if (channel.empty() || *c.find_outer(channel)->extent() < shape.lanes.back()) return std::nullopt;
  const int64_t step = c.x.index.factor(channel);
  if (step != 0 && step != 1) return std::nullopt;
  std::optional<std::vector<SumRange>> ranges = ranges_of_sums(c);
  if (!ranges) return std::nullopt;
  return TermsBuilder(program, kernel, std::move(c), *std::move(ranges), reverse, shape).build();
}

}  // namespace ingot
