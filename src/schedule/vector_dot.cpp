// SPDX-License-Identifier: Apache-2.0
#include "schedule/vector_dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "schedule/block.h"
#include "schedule/channel_table.h"
#include "schedule/columns.h"
#include "schedule/lane_finish.h"
#include "schedule/run.h"
#include "schedule/vector_weights.h"
#include "support/arithmetic.h"

namespace ingot {
namespace {

using loop::Block;
using loop::Expr;
using loop::lit;
using loop::Type;
using loop::var;

constexpr int64_t kLongestUnrolled = 4;  // words of a run that needs no loop

struct Tile {
  Chunk chunk;
  int64_t columns = 1;
  bool full = false;               // all sums are: the constant parts stand apart
  bool full_columns = false;       // those that depend on the column are
  const RunClass* part = nullptr;  // that the run is here; null: all share their words
};

class VectorDotBuilder {
 public:
  VectorDotBuilder(const loop::Program& program, const loop::Kernel& kernel, Contraction c, Run run,
                   std::vector<SumRange> ranges, bool reverse, const DotShape& shape)
      : kernel_(kernel),
        c_(std::move(c)),
        axes_(axes_of(c_)),
        run_(std::move(run)),
        ranges_(std::move(ranges)),
        reverse_(reverse),
        shape_(shape) {
    chunks_ = chunks_of(*axes_.channel.extent(), shape.lanes, shape.most_vectors);
    offset_ = c_.x.offset - shape.x_bias;
    names_ = names_in(kernel);
    packed_ = loop::fresh_name(c_.w.buffer + "_packed", names_);
    sums_ = loop::fresh_name(c_.w.buffer + "_sums", names_);
    finish_.emplace(c_, axes_.channel.variable, program, shape.known, names_);
    table_.emplace(c_, run_, ranges_, axes_.channels, axes_.channel, chunks_, shape_);
  }

  std::optional<Rescheduled> build() {
    Rescheduled out;
    out.kernel = kernel_;
    out.kernel.body = loop::simplify(with_positions());
    if (finish_->failed()) return std::nullopt;
    replace_params(out);
    out.functions = shape_.functions;
    finish_->add_functions(out.functions);
    if (shape_.joins_tables) join_channel_tables(out, packed_);
    if (shape_.least_weight > INT8_MIN) {
      out.sources = {c_.w.buffer};
      out.fits = [least = shape_.least_weight](const std::vector<Bytes>& weights) {
        return std::ranges::all_of(weights.front().as<int8_t>(),
                                   [least](int8_t w) { return w >= least; });
      };
    }
    return out;
  }

 private:
  // ---- The nest, from outside inwards.

  bool is_full_everywhere() const {
    return std::ranges::all_of(ranges_, [](const SumRange& r) { return r.variable.empty(); });
  }

  Block with_positions() {
    if (axes_.positions.empty()) {
      return with_channels({{}, 1, true, true, run_.shares_words ? nullptr : &run_.classes[0]});
    }
    const int64_t width = *axes_.positions.back().extent();
    const Span whole = full_positions(ranges_, axes_.positions.back().variable, width);
    const int64_t step =
        columns_of(whole.length(), chunks_.front().vectors, shape_.most_columns, shape_.most_sums);
    // Nothing stands apart where x has no offset: rows at borders are like others, but for their
    // bounds.
    const bool in_all_rows = offset_ == 0 && !shape_.across;
    Columns columns(axes_.positions, ranges_, step, reverse_, names_,
                    in_all_rows ? Columns::Rows::kAll : Columns::Rows::kFull);
    const bool everywhere = is_full_everywhere();
    const auto segment = [&](const Span& all, const Span& full, const RunClass* part) {
      return columns.segment(
          all, full,
          [&] {
            return with_channels({{}, 1, everywhere, everywhere, part});
          },
          [&] {
            return with_channels({{}, step, everywhere || !in_all_rows, true, part});
          });
    };
    if (run_.shares_words) {
      return columns.rows(segment({0, columns.width()}, columns.full(), nullptr));
    }
    Block row;
    for (const RunClass& k : run_.classes) {
      const Span full = k.elements.length() == run_.length ? columns.full() : Span{};
      const Span inner = {std::max(k.columns.begin, full.begin), std::min(k.columns.end, full.end)};
      row = in_order(std::move(row), segment(k.columns, inner, &k));
    }
    return columns.rows(std::move(row));
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
      out = in_order(std::move(out), std::move(block));
    }
    for (size_t g = axes_.channels.size(); g-- > 0;) out = {loop_over(axes_.channels[g], out)};
    return out;
  }

  // ---- One block of outputs.

  // Sums that one pass makes for one column: vectors, or every second channel of a vector.
  int64_t units_of(const Tile& tile) const {
    return shape_.across ? tile.chunk.lanes / passes_of(tile) : tile.chunk.vectors;
  }
  // Over the sums of the block. Scalar sums are twice as many where weights are summed beside.
  int64_t passes_of(const Tile& tile) const { return shape_.across && sums_weights(tile) ? 2 : 1; }
  Type sum_type(const Tile& tile) const {
    return shape_.across ? loop::kInt32 : Type{DType::kInt32, tile.chunk.lanes};
  }
  bool sums_weights(const Tile& tile) const { return offset_ != 0 && !tile.full; }

  using Sums = std::map<std::pair<int64_t, int64_t>, std::string>;  // by unit and column

  Block tile_block(const Tile& tile, const Expr& channel) {
    Block out;
    std::vector<Sums> products;
    std::vector<Sums> weights;
    for (int64_t pass = 0; pass < passes_of(tile); ++pass) {
      products_ = declared(out, tile, "sum");
      weights_.clear();
      if (sums_weights(tile)) weights_ = declared(out, tile, "weights");
      pass_ = pass;
      append(out, sum_loops(tile, channel, 0));
      products.push_back(products_);
      weights.push_back(weights_);
      if (shape_.across) gather(out, tile, products, weights);
    }
    for (int64_t v = 0; v < tile.chunk.vectors; ++v) {
      std::vector<Block> columns;
      for (int64_t p = 0; p < tile.columns; ++p) columns.push_back(finish(tile, channel, v, p));
      append(out, with_stores_last(columns));
    }
    return shape_.first_dot.empty() ? out : with_first_products(std::move(out));
  }

  // Sums whose first product stands beside their declaration begin with that.
  Block with_first_products(Block block) const {
    std::set<std::string> zero;
    for (const loop::Stmt& s : block) {
      const auto* let = std::get_if<loop::Let>(&s.kind);
      const auto* literal = let != nullptr ? loop::as<loop::IntLit>(let->value) : nullptr;
      if (literal != nullptr && literal->value == 0) zero.insert(let->name);
      if (std::holds_alternative<loop::For>(s.kind)) return block;
    }
    Block out;
    for (loop::Stmt& s : block) {
      const auto* let = std::get_if<loop::Let>(&s.kind);
      if (let != nullptr && zero.contains(let->name)) continue;
      const auto* assign = std::get_if<loop::Assign>(&s.kind);
      const auto* dot = assign ? loop::as<loop::CallExpr>(assign->value) : nullptr;
      if (dot != nullptr && zero.erase(assign->name) > 0) {
        const Expr product =
            loop::call(shape_.first_dot, assign->value->type, {dot->args[1], dot->args[2]});
        out.emplace_back(loop::Let{assign->name, product});
        continue;
      }
      out.push_back(std::move(s));
    }
    return out;
  }

  Sums declared(Block& out, const Tile& tile, const char* stem) {
    Sums sums;
    const Type type = sum_type(tile);
    const Expr zero = type.is_scalar() ? lit(0) : loop::cast(type, lit(0));
    for (int64_t u = 0; u < units_of(tile); ++u) {
      for (int64_t p = 0; p < tile.columns; ++p) {
        sums[{u, p}] = loop::fresh_name(fmt::format("{}_{}_{}", stem, u, p), names_);
        out.emplace_back(loop::Let{sums[{u, p}], zero});
      }
    }
    return sums;
  }

  // Scalars into lanes: channels 0 and 2 after the first of two passes, 1 and 3 after the second.
  void gather(Block& out, const Tile& tile, const std::vector<Sums>& products,
              const std::vector<Sums>& weights) {
    for (int64_t p = 0; p < tile.columns; ++p) {
      gather(out, tile, products, gathered_, p, "sums");
      if (sums_weights(tile)) {
        gather(out, tile, weights, gathered_weights_, p, "weight_sums");
      }
    }
  }
  void gather(Block& out, const Tile& tile, const std::vector<Sums>& sums,
              std::map<int64_t, std::string>& names, int64_t p, const char* stem) {
    const Type type{DType::kInt32, 4};
    const auto sum = [&](int64_t unit) { return var(sums.back().at({unit, p})); };
    const auto name = [&](const Expr& value) {
      names[p] = loop::fresh_name(fmt::format("{}_{}", stem, p), names_);
      out.emplace_back(loop::Let{names[p], value});
    };
    const auto with_1_3 = [&](const Expr& a, const Expr& b) {
      // As many sums as that leave loops no register of their own.
      const char* function = tile.columns > 1 ? "with_lanes_1_3_and_lr" : "with_lanes_1_3";
      return loop::call(function, type, {var(names.at(p), type), a, b});
    };
    if (passes_of(tile) == 2) {
      const bool is_first = sums.size() == 1;
      name(is_first ? loop::call("lanes_0_2", type, {sum(0), sum(1)}) : with_1_3(sum(0), sum(1)));
      return;
    }
    name(loop::call("lanes_0_2", type, {sum(0), sum(2)}));
    name(with_1_3(sum(1), sum(3)));
  }

  Block sum_loops(const Tile& tile, const Expr& channel, size_t s) {
    if (s == run_.num_outer) return words(tile, channel);
    const LoopRange& sum = c_.sums[s];
    const bool is_full = tile.full || (tile.full_columns && depends_on_column(s));
    return {loop::For{sum.variable, is_full ? lit(ranges_[s].full.begin) : sum.begin,
                      is_full ? lit(ranges_[s].full.end) : sum.end, 1, false,
                      sum_loops(tile, channel, s + 1)}};
  }

  bool depends_on_column(size_t s) const {
    return !axes_.positions.empty() && ranges_[s].variable == axes_.positions.back().variable;
  }

  Block words(const Tile& tile, const Expr& channel) {
    const int64_t word = shape_.word;
    if (const RunClass* k = tile.part) {
      const int64_t table = word * k->first_word;
      const int64_t last = word * (k->num_words - 1);
      Block out = over_words(lit(0), lit(last), [&](const Expr& i) {
        return one_word(tile, channel, i + k->elements.begin, i + table);
      });
      append(out, one_word(tile, channel, lit(k->last_offset), lit(last + table)));
      return out;
    }
    const auto body = [&](const Expr& i) { return one_word(tile, channel, i, i); };
    if (run_.varying_sum < 0 || tile.full_columns)
      return over_words(lit(0), lit(run_.length), body);
    const LoopRange& sum = c_.sums[static_cast<size_t>(run_.varying_sum)];
    return over_words(sum.begin * run_.varying_step, sum.end * run_.varying_step, body);
  }

  template <class Body>
  Block over_words(const Expr& begin, const Expr& end, const Body& body) {
    const auto* first = loop::as<loop::IntLit>(begin);
    const auto* last = loop::as<loop::IntLit>(end);
    Block out;
    if (first && last && (last->value - first->value) / shape_.word <= kLongestUnrolled) {
      for (int64_t i = first->value; i < last->value; i += shape_.word) append(out, body(lit(i)));
      return out;
    }
    const std::string i = loop::fresh_name("i", names_);
    return {loop::For{i, begin, end, shape_.word, false, body(var(i))}};
  }

  // The products of the word that begins at element i of the run with the weights at `table`.
  Block one_word(const Tile& tile, const Expr& channel, const Expr& i, const Expr& table) {
    Block out;
    std::vector<std::string> words;
    const Type word_type =
        shape_.across ? Type{DType::kInt8, shape_.word} : Type{DType::kInt8, shape_.word, true};
    for (int64_t p = 0; p < tile.columns; ++p) {
      words.push_back(loop::fresh_name("x_word", names_));
      out.emplace_back(loop::Let{words.back(), load_x(tile, i, p, word_type)});
    }
    int64_t at = 0;
    for (const DotShape::Part& part : shape_.parts) {
      std::vector<Expr> x;
      for (const std::string& name : words) {
        const Expr loaded = var(name, word_type);
        if (part.prepare.empty()) {
          x.push_back(loaded);
          continue;
        }
        const std::string prepared = loop::fresh_name("x_part", names_);
        Type type = part.prepared;
        if (!type.packed) type.lanes = tile.chunk.lanes * part.count();
        const std::string function =
            type.packed ? part.prepare : fmt::format("{}_x{}", part.prepare, tile.chunk.lanes);
        out.emplace_back(loop::Let{prepared, loop::call(function, type, {loaded})});
        x.push_back(var(prepared, type));
      }
      add_products(out, tile, part, x, weight_index(tile, channel, table) + at);
      at += tile.chunk.lanes * part.count();
    }
    return out;
  }

  void add_products(Block& out, const Tile& tile, const DotShape::Part& part,
                    const std::vector<Expr>& x, const Expr& index) {
    const int64_t length = shape_.across ? part.count() : part.count() * tile.chunk.lanes;
    const Type weight_type{shape_.weight, length};
    const std::string function =
        shape_.across ? part.dot : fmt::format("{}_x{}", part.dot, tile.chunk.lanes);
    const Type type = sum_type(tile);
    for (int64_t u = 0; u < units_of(tile); ++u) {
      const std::string w = loop::fresh_name("w_part", names_);
      const int64_t at = shape_.across ? (pass_ + u * passes_of(tile)) * shape_.word
                                       : u * shape_.word * tile.chunk.lanes;
      const Expr loaded = loop::load(packed_, index + at, weight_type, 4);
      out.emplace_back(loop::Let{w, loaded});
      const auto add = [&](const std::string& sum, const Expr& factor) {
        out.emplace_back(loop::Assign{
            sum, loop::call(function, type, {var(sum, type), factor, var(w, weight_type)})});
      };
      for (int64_t p = 0; p < tile.columns; ++p) {
        add(products_.at({u, p}), x[static_cast<size_t>(p)]);
        if (sums_weights(tile)) add(weights_.at({u, p}), ones(x[static_cast<size_t>(p)]->type));
      }
    }
  }

  static Expr ones(Type type) {
    if (!type.packed) return loop::cast(type, lit(1, Type{type.dtype}));
    return loop::pack(type,
                      std::vector<Expr>(static_cast<size_t>(type.lanes), lit(1, Type{type.dtype})));
  }

  Expr load_x(const Tile& tile, const Expr& i, int64_t position, Type type) const {
    AffineIndex index = c_.x.index;
    for (size_t s = run_.num_outer; s < c_.sums.size(); ++s) {
      index.factors.erase(c_.sums[s].variable);
    }
    if (tile.columns > 1) {
      index.constant += position * index.factor(axes_.positions.back().variable);
    }
    std::vector<std::string> order;
    for (const LoopRange& p : c_.outer) order.push_back(p.variable);
    const int64_t rest = std::exchange(index.constant, 0);
    return loop::load(c_.x.buffer, (index.expr(order) + i) + rest, type, 1);
  }

  // ---- The weights.

  Expr weight_index(const Tile& tile, const Expr& channel, const Expr& table) const {
    const int64_t together = tile.chunk.channels();
    Expr index = axes_.outer_channel();
    index = index * (table_->padded_channels() * table_->channel_elements()) +
            channel * table_->channel_elements();
    int64_t stride = run_.num_words * shape_.word * together;
    for (size_t s = run_.num_outer; s-- > 0;) {
      index = index + var(c_.sums[s].variable) * stride;
      stride *= ranges_[s].full.end;
    }
    return index + table * together;
  }

  // ---- First value and finishing code.

  // The sum of a vector of channels with its first value.
  Expr sum_vector(const Tile& tile, const Expr& channel, int64_t v, int64_t p, const Expr& first) {
    const Type type{DType::kInt32, tile.chunk.lanes};
    Expr sum = var(shape_.across ? gathered_.at(p) : products_.at({v, p}), type);
    if (sums_weights(tile)) {
      const Expr weights = var(shape_.across ? gathered_weights_.at(p) : weights_.at({v, p}), type);
      return sum + weights * loop::cast(type, lit(offset_)) + first;
    }
    if (offset_ == 0) return sum + first;
    uses_sums_ = true;
    Expr index = axes_.outer_channel();
    index = index * table_->padded_channels() + channel + v * tile.chunk.lanes;
    const Expr constant = loop::load(sums_, index, type, 4);
    return shape_.joins_tables ? sum + (first + constant) : sum + constant + first;
  }

  Block finish(const Tile& tile, const Expr& channel, int64_t v, int64_t p) {
    std::map<std::string, Expr> values;
    if (tile.columns > 1) {
      const std::string& column = axes_.positions.back().variable;
      values[column] = var(column) + p;
    }
    const Expr own = channel + v * tile.chunk.lanes;
    const Expr first = finish_->first(own, tile.chunk, values);
    const Expr sum = sum_vector(tile, channel, v, p, first);
    return finish_->finish(own, tile.chunk.valid, sum, values);
  }

  // ---- Parameters.

  void replace_params(Rescheduled& out) const {
    const auto w = std::ranges::find(out.kernel.params, c_.w.buffer, &loop::Param::name);
    const std::vector<int64_t> order = table_->packed_order();
    loop::Param sums = *w;
    w->name = packed_;
    w->dtype = shape_.weight;
    w->num_elements = static_cast<int64_t>(order.size());
    w->alignment = shape_.weight_alignment;
    const DType dtype = shape_.weight;
    out.constants.push_back(derived(packed_, c_.w.buffer, [order, dtype](const Bytes& weights) {
      return packed_weights(weights, order, dtype);
    }));
    if (!uses_sums_) return;
    sums.name = sums_;
    sums.dtype = DType::kInt32;
    sums.num_elements = table_->num_outer_channels() * table_->padded_channels();
    sums.alignment = 4;
    out.kernel.params.insert(w + 1, sums);
    const std::vector<std::vector<int64_t>> rows = table_->terms();
    const int64_t factor = offset_;
    out.constants.push_back(derived(sums_, c_.w.buffer, [rows, factor](const Bytes& weights) {
      return sums_of_weights(weights, rows, factor);
    }));
  }

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
  const DotShape& shape_;
  std::vector<Chunk> chunks_;
  int64_t offset_ = 0;  // of x, beside what the instructions add
  std::set<std::string> names_;
  std::string packed_;
  std::string sums_;
  bool uses_sums_ = false;
  std::optional<LaneFinish> finish_;
  std::optional<DotTable> table_;
  // Of the block that is being built.
  int64_t pass_ = 0;
  Sums products_;
  Sums weights_;
  std::map<int64_t, std::string> gathered_;  // by column
  std::map<int64_t, std::string> gathered_weights_;
};

}  // namespace

std::optional<Rescheduled> schedule_vector_dot(const loop::Program& program,
                                               const loop::Kernel& kernel, bool reverse,
                                               const DotShape& shape) {
  std::optional<Contraction> found = find_contraction(kernel);
  if (!found) return std::nullopt;
  Contraction c = with_collapsed_positions(*std::move(found));
  if (c.x.dtype != DType::kInt8 || c.w.dtype != DType::kInt8 || c.w.offset != 0) {
    return std::nullopt;
  }
  std::optional<std::vector<SumRange>> ranges = ranges_of_sums(c);
  if (!ranges) return std::nullopt;
  std::string column;
  std::string channel;
  for (const LoopRange& axis : c.outer) {
    (c.is_channel(axis) ? channel : column) = axis.variable;
  }
  // The channels of a block share the words of x.
  if (channel.empty() || c.x.index.factor(channel) != 0) return std::nullopt;
  if (shape.without_positions && !column.empty()) return std::nullopt;
  const auto x = std::ranges::find(kernel.params, c.x.buffer, &loop::Param::name);
  std::optional<Run> run = find_run(c, *ranges, column, x->num_elements, shape.word);
  if (!run) return std::nullopt;
  return VectorDotBuilder(program, kernel, std::move(c), *std::move(run), *std::move(ranges),
                          reverse, shape)
      .build();
}

}  // namespace ingot
