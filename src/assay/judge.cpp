// SPDX-License-Identifier: Apache-2.0
#include "assay/judge.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "assay/claims.h"
#include "assay/layout.h"
#include "assay/machine.h"
#include "assay/order.h"
#include "assay/requantisation.h"

namespace ingot::assay {
namespace {

void check_argument(const Call& call, const Place& place, const Call::Arg& arg, const Buffer& b,
                    const Options& options) {
  if (b.element != place.element) throw Lie(call.kernel + " gets " + b.name + " of another type");
  const int64_t count = b.size_bytes / b.element->bytes;
  if (arg.offset_elements < 0 || arg.offset_elements > count ||
      place.count > count - arg.offset_elements)
    throw Lie(call.kernel + " needs more of " + b.name + " than it has");
  const bool is_constant = b.kind == "constant";
  if (place.constant && !is_constant)
    throw Lie(call.kernel + " needs a constant where it gets " + b.name);
  if (place.writes && is_constant) throw Lie(call.kernel + " writes the constant " + b.name);
  if (place.writes && b.kind == "input" && !options.reuse_inputs)
    throw Lie(call.kernel + " writes the caller's input " + b.name);
}

void check_calls(const Loops& loops, const Options& options) {
  std::map<std::string, const Buffer*> by_name;
  for (const Buffer& b : loops.buffers) {
    if (!by_name.emplace(b.name, &b).second) throw Lie("there are two buffers " + b.name);
    const bool is_callers = b.kind == "input" || b.kind == "output";
    if (b.offset_bytes && (b.kind == "constant" || (is_callers && !options.io_in_arena)))
      throw Lie(b.name + " has a place in the arena, where it does not belong");
    if (!is_callers && b.alignment < b.element->bytes)
      throw Lie(b.name + " is aligned to less than its elements");
    if (b.kind == "constant" && static_cast<int64_t>(b.data.size()) != b.size_bytes)
      throw Lie("the constant " + b.name + " has no data");
  }
  for (const Call& call : loops.calls) {
    const auto kernel = loops.kernels.find(call.kernel);
    if (kernel == loops.kernels.end())
      throw Lie("the runner calls " + call.kernel + ", which does not exist");
    const Kernel& k = kernel->second;
    if (k.num_params != call.args.size() || k.num_scalars != call.scalars.size())
      throw Lie("the runner calls " + call.kernel + " with another number of arguments");
    for (size_t i = 0; i < k.num_scalars; ++i) {
      if (call.scalars[i].type != k.body.slots[i])
        throw Lie("the runner calls " + call.kernel + " with a number of another type");
    }
    for (size_t i = 0; i < k.num_params; ++i) {
      const auto buffer = by_name.find(call.args[i].buffer);
      if (buffer == by_name.end())
        throw Lie("the runner uses " + call.args[i].buffer + ", which does not exist");
      check_argument(call, k.body.places[i], call.args[i], *buffer->second, options);
    }
  }
}

// That the run finds every value where it is read, and the distances as they are stated. Returns
// the distances that it shows: the stated ones and those of other pairs that might share bytes.
std::vector<Distance> check_run(const Json& plan, const Loops& loops, const Distances& distances,
                                const Options& options) {
  const std::vector<Life> lives = find_lives(loops, options);
  const auto is_true = [&](const char* key) { return plan[key].boolean().value_or(false); };
  std::vector<Distance> wanted;
  size_t num_stated = 0;
  if (options.overlap) {
    wanted = distances.wanted(loops, lives, options);
    num_stated = wanted.size();
    if (is_true("order_optimal")) distances.add_possible(loops, lives, wanted);
  }
  Machine machine(loops, options.reuse_inputs, std::move(wanted));
  machine.run();
  distances.check_against(std::span(machine.distances()).first(num_stated), loops,
                          is_true("optimal") || is_true("packing_optimal"));
  return machine.distances();
}

void check(const Json& json, const Loops& given) {
  const Json& plan = json["plan"];
  const Options options{json["options"]["reuse_inputs"].boolean().value_or(false),
                        json["options"]["io"].text() == "arena",
                        plan["within"]["overlap"].boolean().value_or(false),
                        json["options"]["scratch_in_outputs"].boolean().value_or(false)};
  check_calls(given, options);
  check_listing(json, given);
  const bool lends = (options.scratch_in_outputs || options.reuse_inputs) && !options.io_in_arena;
  const bool borrows =
      std::ranges::any_of(given.buffers, [](const Buffer& b) { return !b.lender.empty(); });
  const Loops lent = lends || borrows ? with_ports_lent(given, options) : Loops();
  const Loops& loops = lends || borrows ? lent : given;
  const std::vector<Region> regions = read_regions(json, loops);
  const std::vector<Life> lives = find_lives(loops, options);
  check_places(lives, regions, json["options"]);
  check_buffers(plan, lives);
  const Distances distances(plan["distances"]);
  distances.check(loops, lives, options);
  std::vector<Life> in_arena;
  std::ranges::copy_if(lives, std::back_inserter(in_arena),
                       [](const Life& life) { return life.buffer->pool.empty(); });
  const Loops placed = regions.size() > 1 ? side_by_side(loops, regions) : loops;
  check_pairs(find_lives(placed, options), distances);
  check_bound(json, in_arena, bound_to_arena(lives, regions, json["options"], distances), distances,
              options);
  const std::vector<Distance> derived = check_run(plan, placed, distances, options);
  check_order(json, loops, lives, derived, distances, options);
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
