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

void check(const Json& json, Loops& loops) {
  const bool reuse_inputs = says(json["options"]["reuse_inputs"]);
  check_calls(loops, json["options"]);
  check_listing(json, loops);
  check_requantisation(json, loops);
  const Layout layout = lay_out(loops, json);
  Pairs pairs = read_pairs(layout);
  check_places(layout, pairs);
  check_bound(layout, pairs);
  Machine machine(loops, reuse_inputs, wanted_distances(layout, pairs));
  machine.run();
  set_needed(layout, machine.distances(), pairs);
  check_order(loops, layout, pairs);
}

}  // namespace

std::string find_lie(const Json& json, Loops loops) {
  try {
    check(json, loops);
  } catch (const Lie& lie) {
    return lie.what();
  }
  return "";
}

}  // namespace ingot::assay
