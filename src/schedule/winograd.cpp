// SPDX-License-Identifier: Apache-2.0
#include "schedule/winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "schedule/block.h"
#include "schedule/winograd_window.h"
#include "support/arithmetic.h"
#include "target/intrinsics.h"

namespace ingot {
namespace {

using loop::BinaryOp;
using loop::Block;
using loop::Expr;
using loop::lit;
using loop::var;

constexpr int64_t kTile = 2;       // rows and columns of outputs
constexpr int64_t kTiles = 2;      // side by side
constexpr int64_t kPatchRows = 4;  // inputs
constexpr int64_t kPatchColumns = 6;
constexpr int64_t kSums = kTiles * kChannelsPerBlock;
constexpr int64_t kMostUnrolled = 4;  // words of input channels

Expr both(const Expr& a, const Expr& b) {
  if (!a) return b;
  return b ? loop::binary(BinaryOp::kAnd, a, b) : a;
}

Expr at_most(const Expr& a, int64_t b) { return loop::less(a, lit(b + 1)); }

class WinogradBuilder {
 public:
  WinogradBuilder(const loop::Kernel& kernel, Contraction c, WinogradWindow window, bool reverse)
      : kernel_(kernel), c_(std::move(c)), w_(std::move(window)), reverse_(reverse) {
    num_words_ = ceil_div(w_.num_terms, kTermsPerWord);
    names_ = names_in(kernel);
    weights_ = loop::fresh_name(c_.w.buffer + "_transformed", names_);
    patch_ = loop::fresh_name("patch", names_);
    sums_ = loop::fresh_name("sums", names_);
    zero_point_ = loop::fresh_name("minus_zero_point", names_);
  }

  Rescheduled build() {
    Rescheduled out;
    out.kernel = kernel_;
    out.kernel.comment +=
        ". Winograd's F(2x2, 3x3): patch holds two tiles of 4 x 4 inputs, transformed, sums their "
        "products with transformed weights.";
    out.kernel.body = loop::simplify(with_positions());
    replace_params(out);
    out.functions = winograd_functions();
    return out;
  }

 private:
  // ---- The nest, from outside inwards.

  Block with_positions() {
    Block tile = inputs();
    append(tile, {loop_over(w_.channel.variable, lit(0), lit(num_channels()), kChannelsPerBlock,
                            joined(products(), outputs()))});
    Block body = {loop_over(w_.column.variable, lit(0), lit(w_.column.extent), kTiles * kTile,
                            std::move(tile))};
    body = {loop_over(w_.row.variable, lit(0), lit(w_.row.extent), kTile, std::move(body))};
    for (size_t a = w_.outer.size(); a-- > 0;) {
      const LoopRange& axis = w_.outer[a];
      body = {loop_over(axis.variable, axis.begin, axis.end, 1, std::move(body))};
    }
    if (c_.x.offset != 0) {
      const Expr half = lit(c_.x.offset, loop::kInt16);
      body.insert(body.begin(), loop::Let{zero_point_, loop::pack(loop::kInt16x2, {half, half})});
    }
    return body;
  }

  // ---- Inputs.

  // Input `n` of the patch along `axis` is there at every output, or under this condition.
  static bool is_always_inside(const WindowAxis& axis, int64_t n, int64_t step) {
    const int64_t last = (axis.extent - 1) / step * step;
    return axis.inside.begin <= n && last + n < axis.inside.end;
  }
  static Expr is_inside(const WindowAxis& axis, int64_t n) {
    const Expr number = var(axis.variable) + n;
    return loop::binary(BinaryOp::kAnd, loop::less(lit(axis.inside.begin - 1), number),
                        loop::less(number, lit(axis.inside.end)));
  }
  // The whole patch is: never, or under this condition; null: always.
  struct Whole {
    bool never = false;
    Expr condition = nullptr;
  };
  static Whole is_whole_inside(const WindowAxis& axis, int64_t count, int64_t step) {
    const int64_t last = (axis.extent - 1) / step * step;
    const int64_t first_inside = ceil_div(axis.inside.begin, step) * step;
    Whole whole;
    whole.never = first_inside > last || first_inside + count > axis.inside.end;
    if (axis.inside.begin > 0) {
      whole.condition = loop::less(lit(axis.inside.begin - 1), var(axis.variable));
    }
    if (last + count > axis.inside.end) {
      whole.condition = both(whole.condition, at_most(var(axis.variable), axis.inside.end - count));
    }
    return whole;
  }

  Block inputs() {
    const Whole rows = is_whole_inside(w_.row, kPatchRows, kTile);
    const Whole columns = is_whole_inside(w_.column, kPatchColumns, kTiles * kTile);
    const Expr inside = both(rows.condition, columns.condition);
    if (!inside) return over_words(false);
    Block border = masks();
    append(border, over_words(true));
    if (rows.never || columns.never) return border;
    return {loop::If{inside, over_words(false), std::move(border)}};
  }

  // For the rows and columns of a patch that need not be there: others that are, in their place,
  // and masks that make zeros of them.
  Block masks() {
    Block out;
    const auto add = [&](const WindowAxis& axis, int64_t count, int64_t step, const char* what,
                         std::vector<Expr>& numbers, std::vector<Expr>& masks) {
      for (int64_t n = 0; n < count; ++n) {
        const Expr number = var(axis.variable) + n;
        if (is_always_inside(axis, n, step)) {
          numbers.push_back(number);
          masks.push_back(nullptr);
          continue;
        }
        const std::string name = loop::fresh_name(fmt::format("{}_{}", what, n), names_);
        const std::string mask = loop::fresh_name(fmt::format("{}_{}_mask", what, n), names_);
        out.emplace_back(loop::Let{
            name, loop::min(loop::max(number, lit(axis.inside.begin)), lit(axis.inside.end - 1))});
        out.emplace_back(loop::Let{mask, loop::select(is_inside(axis, n), lit(-1), lit(0))});
        numbers.push_back(var(name));
        masks.push_back(var(mask));
      }
    };
    rows_.clear();
    row_masks_.clear();
    columns_.clear();
    column_masks_.clear();
    add(w_.row, kPatchRows, kTile, "row", rows_, row_masks_);
    add(w_.column, kPatchColumns, kTiles * kTile, "column", columns_, column_masks_);
    return out;
  }

  Block over_words(bool masked) {
    const std::string word = loop::fresh_name("terms", names_);
    const Expr first = var(word) * kTermsPerWord;
    const bool whole = w_.num_terms % kTermsPerWord == 0;
    const Expr term = whole ? first : loop::min(first, lit(w_.num_terms - kTermsPerWord));
    Block body;
    for (const int64_t half : {0, 1}) append(body, transformed(var(word), term, half, masked));
    return {loop::For{word, lit(0), lit(num_words_), 1, false, std::move(body)}};
  }

  using Column = std::array<Expr, kPatchRows>;

  // Elements 0 and 2, or 1 and 3, of a word, for both tiles.
  Block transformed(const Expr& word, const Expr& term, int64_t half, bool masked) {
    Block out;
    std::vector<Column> columns;
    for (int64_t n = 0; n < kPatchColumns; ++n) {
      columns.push_back(column(out, n, term, half, masked));
      for (int64_t tile = 0; tile < kTiles; ++tile) {
        const int64_t last = n - kTile * tile;
        if (last != 2 && last != 3) continue;
        const auto at = [&](int64_t i) -> const Column& {
          return columns[static_cast<size_t>(kTile * tile + i)];
        };
        for (int64_t i = 0; i < kPatchRows; ++i) {
          const auto row = static_cast<size_t>(i);
          const auto store = [&](int64_t j, const char* function, int64_t a, int64_t b) {
            const Expr value = sum(out, function, at(a)[row], at(b)[row]);
            const Expr position = word + (i * 4 + j) * num_words_;
            out.emplace_back(
                loop::Store{patch_, ((position * 2 + half) * kTiles + tile) * 2, value, 4});
          };
          if (last == 2) {
            store(0, "ssub16", 0, 2);
            store(1, "sadd16", 1, 2);
            store(2, "ssub16", 2, 1);
          } else {
            store(3, "ssub16", 1, 3);
          }
        }
      }
    }
    return out;
  }

  // A column of the patch, its rows transformed.
  Column column(Block& out, int64_t n, const Expr& term, int64_t half, bool masked) {
    Column d;
    for (int64_t r = 0; r < kPatchRows; ++r) {
      Expr value = let(out, "d", extended(load(r, n, term, masked), half));
      const Expr mask = masked ? row_masks_[static_cast<size_t>(r)] : nullptr;
      if (mask) value = let(out, "d", loop::call("masked_halves", loop::kInt16x2, {value, mask}));
      d[static_cast<size_t>(r)] = value;
    }
    Column t = {sum(out, "ssub16", d[0], d[2]), sum(out, "sadd16", d[1], d[2]),
                sum(out, "ssub16", d[2], d[1]), sum(out, "ssub16", d[1], d[3])};
    const Expr mask = masked ? column_masks_[static_cast<size_t>(n)] : nullptr;
    for (Expr& value : t) {
      if (mask) value = let(out, "t", loop::call("masked_halves", loop::kInt16x2, {value, mask}));
    }
    return t;
  }

  Expr load(int64_t r, int64_t n, const Expr& term, bool masked) const {
    AffineIndex index = c_.x.index;
    for (const std::string& sum : {w_.row_tap, w_.column_tap, w_.term}) index.factors.erase(sum);
    std::vector<std::string> order;
    for (const LoopRange& axis : c_.outer) order.push_back(axis.variable);
    if (!masked) index.constant += r * w_.row.pitch + n * w_.column.pitch;
    const int64_t rest = std::exchange(index.constant, 0);
    Expr at = index.expr(order);
    if (masked) {
      at = loop::substitute(at, {{w_.row.variable, rows_[static_cast<size_t>(r)]},
                                 {w_.column.variable, columns_[static_cast<size_t>(n)]}});
    }
    return loop::load(c_.x.buffer, (at + term) + rest, loop::kInt8x4, 1);
  }

  Expr extended(const Expr& word, int64_t half) const {
    const bool adds = c_.x.offset != 0;
    const std::string name = std::string(adds ? "sxtab16" : "sxtb16") + (half == 1 ? "_ror8" : "");
    if (!adds) return loop::call(name, loop::kInt16x2, {word});
    return loop::call(name, loop::kInt16x2, {var(zero_point_, loop::kInt16x2), word});
  }

  Expr sum(Block& out, const char* function, const Expr& a, const Expr& b) {
    return let(out, "t", loop::call(function, loop::kInt16x2, {a, b}));
  }

  // ---- Products: by position, the sums over the input channels.

  Block products() {
    const std::string p = loop::fresh_name("position", names_);
    std::vector<std::string> sums;
    Block body;
    not_begun_.clear();
    for (int64_t s = 0; s < kSums; ++s) {
      sums.push_back(loop::fresh_name(fmt::format("sum_{}_{}", s / kTiles, s % kTiles), names_));
      if (num_words_ <= kMostUnrolled) {
        not_begun_.insert(sums.back());
      } else {
        body.emplace_back(loop::Let{sums.back(), lit(0)});
      }
    }
    const int64_t in_loop =
        num_words_ <= kMostUnrolled ? 0 : num_words_ / kMostUnrolled * kMostUnrolled;
    if (in_loop > 0) {
      const std::string word = loop::fresh_name("terms", names_);
      Block step;
      for (int64_t i = 0; i < kMostUnrolled; ++i) {
        append(step, word_products(sums, var(p), var(word) + i));
      }
      body.emplace_back(
          loop::For{word, lit(0), lit(in_loop), kMostUnrolled, false, std::move(step)});
    }
    for (int64_t i = in_loop; i < num_words_; ++i) {
      append(body, word_products(sums, var(p), lit(i)));
    }
    for (int64_t s = 0; s < kSums; ++s) {
      body.emplace_back(
          loop::Store{sums_, var(p) * kSums + s, var(sums[static_cast<size_t>(s)]), 4});
    }
    return {loop::For{p, lit(0), lit(kPositions), 1, false, std::move(body)}};
  }

  Block word_products(const std::vector<std::string>& sums, const Expr& p, const Expr& word) {
    Block out;
    const Expr at = p * num_words_ + word;
    const Expr block = var(w_.channel.variable) * (kPositions * num_words_ * 4);
    for (const int64_t half : {0, 1}) {
      std::array<Expr, kTiles> v;
      for (int64_t tile = 0; tile < kTiles; ++tile) {
        const Expr index = at * (4 * kTiles) + (half * kTiles + tile) * 2;
        v[static_cast<size_t>(tile)] = let(out, "v", loop::load(patch_, index, loop::kInt16x2, 4));
      }
      for (int64_t k = 0; k < kChannelsPerBlock; ++k) {
        const Expr index =
            block + at * (4 * kChannelsPerBlock) + (half * kChannelsPerBlock + k) * 2;
        const Expr u = let(out, "u", loop::load(weights_, index, loop::kInt16x2, 4));
        for (int64_t tile = 0; tile < kTiles; ++tile) {
          const std::string& name = sums[static_cast<size_t>(k * kTiles + tile)];
          const Expr& x = v[static_cast<size_t>(tile)];
          if (not_begun_.erase(name) > 0) {
            out.emplace_back(loop::Let{name, loop::call("smuad", loop::kInt32, {u, x})});
          } else {
            out.emplace_back(
                loop::Assign{name, loop::call("smlad", loop::kInt32, {var(name), u, x})});
          }
        }
      }
    }
    return out;
  }

  // ---- Outputs.

  Block outputs() {
    Expr full = nullptr;
    if (w_.row.extent % kTile != 0) {
      full = at_most(var(w_.row.variable), w_.row.extent - kTile);
    }
    if (w_.column.extent % (kTiles * kTile) != 0) {
      full = both(full, at_most(var(w_.column.variable), w_.column.extent - kTiles * kTile));
    }
    Block whole = over_tiles(lit(kTiles), [&](const Expr& k, const Expr& tile) {
      Block out;
      const std::array<Expr, 4> y = four_outputs(out, k, tile);
      for (int64_t i = 0; i < 4; ++i) {
        append(out, finish(k, var(w_.row.variable) + i / kTile,
                           var(w_.column.variable) + (tile * kTile + i % kTile),
                           y[static_cast<size_t>(i)], i));
      }
      return out;
    });
    if (!full) return whole;
    const Expr columns = lit(w_.column.extent) - var(w_.column.variable);
    Block part = over_tiles(loop::min(lit(kTiles), loop::floor_div(columns + (kTile - 1), kTile)),
                            [&](const Expr& k, const Expr& tile) { return some(k, tile); });
    return {loop::If{full, std::move(whole), std::move(part)}};
  }

  // For each channel of the block and each of the tiles.
  using TileBody = std::function<Block(const Expr& channel, const Expr& tile)>;
  Block over_tiles(const Expr& num_tiles, const TileBody& body) {
    const std::string k = loop::fresh_name("k", names_);
    const std::string tile = loop::fresh_name("tile", names_);
    Block inner = {loop_over(tile, lit(0), num_tiles, 1, body(var(k), var(tile)))};
    const Expr left = lit(num_channels()) - var(w_.channel.variable);
    const Expr channels = num_channels() % kChannelsPerBlock == 0
                              ? lit(kChannelsPerBlock)
                              : loop::min(lit(kChannelsPerBlock), left);
    return {loop_over(k, lit(0), channels, 1, std::move(inner))};
  }

  // Outputs (0, 0), (0, 1), (1, 0), (1, 1) of a tile, as names whose declarations go to `out`.
  std::array<Expr, 4> four_outputs(Block& out, const Expr& k, const Expr& tile) {
    std::array<Expr, 4> upper;
    std::array<Expr, 4> lower;
    for (int64_t j = 0; j < 4; ++j) {
      std::array<Expr, 4> m;
      for (int64_t i = 0; i < 4; ++i) {
        const Expr at = (k * kTiles + tile) + (i * 4 + j) * kSums;
        m[static_cast<size_t>(i)] = let(out, "m", loop::load(sums_, at, loop::kInt32, 4));
      }
      upper[static_cast<size_t>(j)] = let(out, "upper", m[0] + m[1] + m[2]);
      lower[static_cast<size_t>(j)] = let(out, "lower", m[1] - m[2] - m[3]);
    }
    const auto quarter = [&](const Expr& four_times) {
      return let(out, "output", loop::shr(four_times, 2));
    };
    return {quarter(upper[0] + upper[1] + upper[2]), quarter(upper[1] - upper[2] - upper[3]),
            quarter(lower[0] + lower[1] + lower[2]), quarter(lower[1] - lower[2] - lower[3])};
  }

  // Those outputs of a tile that there are.
  Block some(const Expr& k, const Expr& tile) {
    const std::string four = loop::fresh_name("outputs", names_);
    Block out = {loop::LocalArray{four, DType::kInt32, 4}};
    const std::array<Expr, 4> y = four_outputs(out, k, tile);
    for (int64_t i = 0; i < 4; ++i) {
      out.emplace_back(loop::Store{four, lit(i), y[static_cast<size_t>(i)], 4});
    }
    const std::string r = loop::fresh_name("r", names_);
    const std::string n = loop::fresh_name("n", names_);
    const Expr row = var(w_.row.variable) + var(r);
    const Expr column = var(w_.column.variable) + (tile * kTile + var(n));
    const Expr value = loop::load(four, var(r) * kTile + var(n), loop::kInt32, 4);
    const Expr rows_left = lit(w_.row.extent) - var(w_.row.variable);
    const Expr columns_left = lit(w_.column.extent) - var(w_.column.variable) - tile * kTile;
    Block inner = {loop_over(n, lit(0), loop::min(lit(kTile), columns_left), 1,
                             finish(k, row, column, value, 4))};
    out.push_back(loop_over(r, lit(0), loop::min(lit(kTile), rows_left), 1, std::move(inner)));
    return out;
  }

  Block finish(const Expr& k, const Expr& row, const Expr& column, const Expr& sum,
               int64_t number) {
    const std::map<std::string, Expr> values = {{w_.channel.variable, var(w_.channel.variable) + k},
                                                {w_.row.variable, row},
                                                {w_.column.variable, column}};
    return ending_of(c_, sum + loop::substitute(c_.first, values), c_.finish, values, number,
                     names_);
  }

  // ---- Parameters.

  void replace_params(Rescheduled& out) {
    const WinogradWeights table(c_, w_);
    const auto weights = std::ranges::find(out.kernel.params, c_.w.buffer, &loop::Param::name);
    weights->name = weights_;
    weights->dtype = DType::kInt16;
    weights->num_elements = table.num_elements();
    weights->alignment = 4;
    out.sources = {c_.w.buffer};
    out.fits = [table](const std::vector<Bytes>& w) { return table.fits(w[0]); };
    out.constants.push_back({weights_, {c_.w.buffer}, [table](const std::vector<Bytes>& w) {
                               return table.packed(w[0]);
                             }});
    const int64_t patch = kPositions * num_words_ * kTermsPerWord * kTiles;
    using loop::Access;
    out.kernel.params.push_back({patch_, DType::kInt16, patch, Access::kReadWrite, 4});
    out.kernel.params.push_back({sums_, DType::kInt32, kPositions * kSums, Access::kReadWrite, 4});
    out.scratch = {patch_, sums_};
  }

  int64_t num_channels() const { return *w_.channel.extent(); }

  loop::Stmt loop_over(const std::string& variable, Expr begin, Expr end, int64_t step,
                       Block body) const {
    return loop::For{variable, std::move(begin), std::move(end), step, reverse_, std::move(body)};
  }

  Expr let(Block& out, const char* name, Expr value) {
    std::string unique = loop::fresh_name(name, names_);
    const loop::Type type = value->type;
    out.emplace_back(loop::Let{unique, std::move(value)});
    return var(std::move(unique), type);
  }

  const loop::Kernel& kernel_;
  Contraction c_;
  WinogradWindow w_;
  bool reverse_;
  int64_t num_words_ = 0;  // of input channels
  std::set<std::string> names_;
  std::set<std::string> not_begun_;  // sums without a first value yet
  std::string weights_;
  std::string patch_;
  std::string sums_;
  std::string zero_point_;
  std::vector<Expr> rows_;
  std::vector<Expr> row_masks_;
  std::vector<Expr> columns_;
  std::vector<Expr> column_masks_;
};

}  // namespace

std::vector<loop::Function> winograd_functions() {
  std::vector<loop::Function> functions = arm_dsp_intrinsics();
  for (loop::Function& f : arm_dsp_sums()) functions.push_back(std::move(f));
  return functions;
}

std::optional<Rescheduled> schedule_winograd(const loop::Kernel& kernel, bool reverse) {
  std::optional<Contraction> c = find_contraction(kernel);
  if (!c) return std::nullopt;
  std::optional<WinogradWindow> window = winograd_window(*c);
  if (!window) return std::nullopt;
  return WinogradBuilder(kernel, *std::move(c), *std::move(window), reverse).build();
}

}  // namespace ingot
