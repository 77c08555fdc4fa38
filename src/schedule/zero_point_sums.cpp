// SPDX-License-Identifier: Apache-2.0
#include "schedule/zero_point_sums.h"

#include <algorithm>
#include <utility>

#include "loop/rewrite.h"
#include "support/arithmetic.h"

namespace ingot {
namespace {

using loop::BinaryOp;
using loop::Expr;

int64_t uses_of(const Expr& e, const std::string& name) {
  int64_t uses = 0;
  loop::for_each_node(e, [&](const Expr& node) {
    const auto* v = loop::as<loop::Var>(node);
    if (v && v->name == name) ++uses;
  });
  return uses;
}

// The parameter that `e`, cast or not, loads from at the channel's number.
std::optional<std::string> table_of(Expr e, const std::string& channel) {
  if (const auto* cast = loop::as<loop::Cast>(e)) e = cast->a;
  const auto* load = loop::as<loop::Load>(e);
  const auto* index = load ? loop::as<loop::Var>(load->index) : nullptr;
  if (!index || index->name != channel) return std::nullopt;
  return load->buffer;
}

// The multipliers and offsets in acc * multipliers[c] + offsets[c].
std::optional<std::pair<std::string, std::string>> tables_in(const Expr& e,
                                                             const std::string& accumulator,
                                                             const std::string& channel) {
  const auto* sum = loop::as<loop::BinaryExpr>(e);
  if (!sum || sum->op != BinaryOp::kAdd || e->type != loop::kInt64) return std::nullopt;
  const auto* product = loop::as<loop::BinaryExpr>(sum->a);
  if (!product || product->op != BinaryOp::kMul) return std::nullopt;
  const auto* cast = loop::as<loop::Cast>(product->a);
  const auto* acc = cast ? loop::as<loop::Var>(cast->a) : nullptr;
  if (!acc || acc->name != accumulator) return std::nullopt;
  const std::optional<std::string> multipliers = table_of(product->b, channel);
  const std::optional<std::string> offsets = table_of(sum->b, channel);
  if (!multipliers || !offsets) return std::nullopt;
  return std::pair(*multipliers, *offsets);
}

// `block` with loads from `from` changed to loads from `to`.
loop::Block with_buffer(const loop::Block& block, const std::string& from, const std::string& to) {
  const std::function<Expr(const Expr&)> change = [&](const Expr& e) {
    const Expr inner = loop::map_operands(e, change);
    const auto* load = loop::as<loop::Load>(inner);
    if (!load || load->buffer != from) return inner;
    return loop::load(to, load->index, inner->type, load->alignment);
  };
  return loop::map_expressions(block, change);
}

// offsets[c] + sums[c] * multipliers[c]; nullopt if one leaves int64.
std::optional<std::vector<int64_t>> moved_offsets(const Bytes& offsets, const Bytes& multipliers,
                                                  const std::vector<int32_t>& sums) {
  std::vector<int64_t> moved = offsets.as<int64_t>();
  const std::vector<int32_t> factors = multipliers.as<int32_t>();
  if (moved.size() != factors.size() || moved.size() != sums.size()) return std::nullopt;
  for (size_t i = 0; i < moved.size(); ++i) {
    const std::optional<int64_t> offset =
        checked_add(moved[i], int64_t{factors[i]} * int64_t{sums[i]});
    if (!offset) return std::nullopt;
    moved[i] = *offset;
  }
  return moved;
}

}  // namespace

std::optional<ZeroPointSums::Tables> ZeroPointSums::find_tables(const Contraction& c,
                                                                const std::string& channel) {
  std::optional<std::pair<std::string, std::string>> tables;
  int64_t uses = 0;
  loop::for_each_expression(c.finish, [&](const Expr& e) {
    uses += uses_of(e, c.accumulator);
    loop::for_each_node(e, [&](const Expr& node) {
      if (!tables) tables = tables_in(node, c.accumulator, channel);
    });
  });
  if (!tables || uses != 1) return std::nullopt;
  return Tables{tables->first, tables->second};
}

ZeroPointSums::ZeroPointSums(const Contraction& c, const std::string& channel,
                             std::set<std::string>& names)
    : tables_(find_tables(c, channel)),
      name_(
          loop::fresh_name(tables_ ? tables_->offsets + "_inside" : c.w.buffer + "_sums", names)) {}

ZeroPointSums::Ending ZeroPointSums::ending(const Contraction& c, Expr sum, const Expr& index) {
  is_used_ = true;
  if (tables_) return {std::move(sum), with_buffer(c.finish, tables_->offsets, name_)};
  return {std::move(sum) + loop::load(name_, index, loop::kInt32, 4), c.finish};
}

void ZeroPointSums::add_to(Rescheduled& out, const Contraction& c, int64_t num_channels,
                           const Sums& sums) const {
  if (!is_used_) return;
  const std::string& beside = tables_ ? tables_->offsets : out.kernel.params.back().name;
  const auto at = std::ranges::find(out.kernel.params, beside, &loop::Param::name);
  loop::Param param = *at;
  param.name = name_;
  param.dtype = tables_ ? DType::kInt64 : DType::kInt32;
  param.num_elements = num_channels;
  param.access = loop::Access::kRead;
  param.alignment = size_in_bytes(param.dtype);
  param.constant = true;
  out.kernel.params.insert(tables_ ? at + 1 : out.kernel.params.begin() + 1, param);
  if (!tables_) {
    out.constants.push_back({name_, {c.w.buffer}, [sums](const std::vector<Bytes>& from) {
                               return Bytes::of(sums(from[0]));
                             }});
    return;
  }
  const std::vector<std::string> sources = {tables_->offsets, tables_->multipliers, c.w.buffer};
  out.constants.push_back({name_, sources, [sums](const std::vector<Bytes>& from) {
                             return Bytes::of(*moved_offsets(from[0], from[1], sums(from[2])));
                           }});
  const auto others = out.fits;
  const std::vector<std::string> sources_of_others = out.sources;
  out.sources.insert(out.sources.end(), sources.begin(), sources.end());
  out.fits = [others, count = sources_of_others.size(), sums](const std::vector<Bytes>& from) {
    const auto own = from.begin() + static_cast<std::ptrdiff_t>(count);
    const bool fits = !others || others({from.begin(), own});
    return fits && moved_offsets(own[0], own[1], sums(own[2])).has_value();
  };
}

}  // namespace ingot
