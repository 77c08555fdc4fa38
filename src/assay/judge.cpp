// SPDX-License-Identifier: Apache-2.0
#include "assay/judge.h"

#include "assay/bound.h"
#include "assay/calls.h"
#include "assay/claims.h"
#include "assay/code.h"
#include "assay/distances.h"
#include "assay/layout.h"
#include "assay/machine.h"
#include "assay/order.h"
#include "assay/requantisation.h"

namespace ingot::assay {
namespace {

void check(const Json& json, const Loops& given) {
  const Claims claims(json);
  check_calls(given, claims);
  check_listing(json, given);
  Loops loops = given;
  const Layout layout = lay_out(loops, json);
  const Distances distances(json["plan"]["distances"]);
  distances.check(layout);
  distances.check_pairs(layout.lives);
  check_bound(json, layout, distances);
  Machine machine(loops, claims.reuse_inputs, distances.wanted(layout));
  machine.run();
  distances.check_against(machine.distances(), layout);
  check_order(loops, layout, machine.distances(), distances);
  check_requantisation(json, given);
}

}  // namespace

std::string find_lie(const Json& json, const Loops& loops) {
  try {
    check(json, loops);
  } catch (const Lie& lie) {
    return lie.what();
  }
  return "";
}

}  // namespace ingot::assay
