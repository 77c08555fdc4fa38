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
  Distances distances(layout);
  distances.check_places();
  check_bound(layout, distances);
  Machine machine(loops, reuse_inputs, distances.wanted());
  machine.run();
  distances.set_needed(machine.distances());
  check_order(loops, layout, distances);
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
