// SPDX-License-Identifier: Apache-2.0
#include "schedule/lane_finish.h"

#include <algorithm>
#include <utility>

#include "loop/rewrite.h"
#include "loop/simplify.h"
#include "schedule/block.h"

namespace ingot {

using loop::Block;
using loop::Expr;
using loop::Type;

std::vector<Chunk> chunks_of(int64_t count, const std::vector<int64_t>& lanes,
                             int64_t most_vectors) {
  std::vector<Chunk> chunks;
  int64_t first = 0;
  for (const int64_t n : lanes) {
    for (int64_t vectors = most_vectors; vectors > 0; --vectors) {
      const int64_t blocks = (count - first) / (n * vectors);
      if (blocks == 0) continue;
      chunks.push_back({first, blocks, n, vectors, n});
      first = chunks.back().end();
    }
  }
  if (first < count) chunks.push_back({first, 1, lanes.back(), 1, count - first});
  return chunks;
}

int64_t columns_of(int64_t full, int64_t vectors, int64_t most_columns, int64_t most_sums) {
  const int64_t most = std::max<int64_t>(
      1, std::min({most_columns, most_sums / std::max<int64_t>(1, vectors), full}));
  int64_t best = most;
  for (int64_t n = most; n > most / 2; --n) {
    if (full % n < full % best) best = n;
  }
  return best;
}

Block with_stores_last(const std::vector<Block>& blocks) {
  Block lets;
  Block stores;
  Block in_order;
  bool plain = true;
  for (const Block& block : blocks) {
    for (const loop::Stmt& s : block) {
      const bool is_store = std::holds_alternative<loop::Store>(s.kind);
      plain = plain && (is_store || std::holds_alternative<loop::Let>(s.kind));
      (is_store ? stores : lets).push_back(s);
      in_order.push_back(s);
    }
  }
  return plain ? joined(std::move(lets), std::move(stores)) : in_order;
}

Lanes LaneFinish::lanes_from(const Expr& channel, int64_t lanes) const {
  Lanes result(channel_, channel, lanes, program_, known_);
  result.set_vector(c_.accumulator);
  return result;
}

void LaneFinish::keep(const Lanes& lanes) {
  functions_.insert(functions_.end(), lanes.functions().begin(), lanes.functions().end());
}

void LaneFinish::add_functions(std::vector<loop::Function>& functions) const {
  for (const loop::Function& f : functions_) {
    if (std::ranges::find(functions, f.name, &loop::Function::name) == functions.end()) {
      functions.push_back(f);
    }
  }
}

Expr LaneFinish::first(const Expr& channel, const Chunk& chunk,
                       const std::map<std::string, Expr>& values) {
  const Type type{c_.first->type.dtype, chunk.lanes};
  if (chunk.lanes == 1) {
    std::map<std::string, Expr> own = values;
    own[channel_] = channel;
    return loop::substitute(c_.first, own);
  }
  if (chunk.valid < chunk.lanes) {
    std::vector<Expr> lanes;
    std::map<std::string, Expr> own = values;
    for (int64_t k = 0; k < chunk.valid; ++k) {
      own[channel_] = channel + k;
      lanes.push_back(loop::substitute(c_.first, own));
    }
    lanes.resize(static_cast<size_t>(chunk.lanes), lanes.front());
    return loop::pack(type, std::move(lanes));
  }
  Lanes wide = lanes_from(channel, chunk.lanes);
  const std::optional<Expr> value = wide.widened(loop::substitute(c_.first, values));
  keep(wide);
  if (value) return *value;
  failed_ = true;
  return loop::cast(type, is_float(type.dtype) ? loop::float_lit(0) : loop::lit(0));
}

Block LaneFinish::finish(const Expr& channel, int64_t valid, const Expr& sum,
                         const std::map<std::string, Expr>& values) {
  Block out;
  if (sum->type.is_scalar()) {
    std::map<std::string, Expr> own = values;
    own[channel_] = channel;
    out.emplace_back(loop::Let{c_.accumulator, sum});
    append(out, loop::substitute(c_.finish, own));
    return renamed(out);
  }
  if (valid == sum->type.lanes) {
    Lanes wide = lanes_from(channel, valid);
    std::optional<Block> rest = wide.widened(loop::substitute(c_.finish, values));
    keep(wide);
    if (!rest) {
      failed_ = true;
      return out;
    }
    out.emplace_back(loop::Let{c_.accumulator, sum});
    append(out, *std::move(rest));
    return renamed(out);
  }
  // Lane by lane, as scalars.
  const std::string name = loop::fresh_name("sums", names_);
  out.emplace_back(loop::Let{name, sum});
  for (int64_t k = 0; k < valid; ++k) {
    std::map<std::string, Expr> own = values;
    own[channel_] = channel + k;
    Block block = {loop::Let{c_.accumulator, loop::lane(loop::var(name, sum->type), k)}};
    append(block, loop::substitute(c_.finish, own));
    append(out, renamed(block));
  }
  return out;
}

Block LaneFinish::renamed(const Block& block) {
  std::map<std::string, std::string> names;
  for (const std::string& name : loop::declared_by(block)) {
    names[name] = loop::fresh_name(name, names_);
  }
  return loop::rename(block, names);
}

}  // namespace ingot
