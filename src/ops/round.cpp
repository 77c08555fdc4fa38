// SPDX-License-Identifier: Apache-2.0
#include "ops/round.h"

#include <utility>

#include "support/check.h"

namespace ingot {

using loop::BinaryOp;
using loop::Expr;
using loop::Let;
using loop::var;

// q - truncated is exact, so there is no double rounding (as adding 0.5 would bring).
loop::Function round_function(loop::Type type) {
  CHECK(type == loop::kFloat32 || type == loop::kFloat64);
  const auto real = [&](double value) { return loop::float_lit(value, type); };
  const Expr q = var("q", type);
  loop::Block body;
  body.push_back(Let{"valid", loop::select(loop::binary(BinaryOp::kEq, q, q), q, real(0))});
  body.push_back(Let{"truncated", loop::cast(loop::kInt32, var("valid", type))});
  body.push_back(Let{"rest", var("valid", type) - loop::cast(type, var("truncated"))});
  const Expr rest = var("rest", type);
  const auto one_if = [](Expr a, Expr b) {
    return loop::select(loop::binary(BinaryOp::kLe, std::move(a), std::move(b)), loop::lit(1),
                        loop::lit(0));
  };
  return {type == loop::kFloat32 ? "round_to_int" : "round_double_to_int",
          {{"q", type}},
          std::move(body),
          var("truncated") + one_if(real(0.5), rest) - one_if(rest, real(-0.5)),
          "round(q), half away from zero; 0 if q is not a number",
          ""};
}

}  // namespace ingot
