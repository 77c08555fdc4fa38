// SPDX-License-Identifier: Apache-2.0
#include "assay/calls.h"

#include <map>
#include <string>

#include "assay/code.h"

namespace ingot::assay {
namespace {

void check_argument(const Call& call, const Place& place, const Call::Arg& arg, const Buffer& b,
                    const Json& options) {
  if (b.element != place.element) throw Lie(call.kernel + " gets " + b.name + " of another type");
  const int64_t count = b.size_bytes / b.element->bytes;
  if (arg.offset_elements < 0 || arg.offset_elements > count ||
      place.count > count - arg.offset_elements)
    throw Lie(call.kernel + " needs more of " + b.name + " than it has");
  const bool is_constant = b.kind == "constant";
  if (place.constant && !is_constant)
    throw Lie(call.kernel + " needs a constant where it gets " + b.name);
  if (place.writes && is_constant) throw Lie(call.kernel + " writes the constant " + b.name);
  if (place.writes && b.kind == "input" && !says(options["reuse_inputs"]))
    throw Lie(call.kernel + " writes the caller's input " + b.name);
}

}  // namespace

void check_calls(const Loops& loops, const Json& options) {
  std::map<std::string, const Buffer*> by_name;
  for (const Buffer& b : loops.buffers) {
    if (!by_name.emplace(b.name, &b).second) throw Lie("there are two buffers " + b.name);
    if (b.offset_bytes &&
        (b.kind == "constant" || (is_callers(b) && options["io"].text() != "arena")))
      throw Lie(b.name + " has a place in the arena, where it does not belong");
    if (!is_callers(b) && b.alignment < b.element->bytes)
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

}  // namespace ingot::assay
