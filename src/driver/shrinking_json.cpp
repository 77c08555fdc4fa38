// SPDX-License-Identifier: Apache-2.0
#include "driver/shrinking_json.h"

namespace ingot {
namespace {

// Lists of equal length: an object per channel would fill pages.
Json tensor_json(const ShrunkTensor& tensor) {
  Json removed = Json::array();
  Json values = Json::array();
  Json accumulators = Json::array();
  for (const RemovedChannel& channel : tensor.removed) {
    removed.push_back(channel.channel);
    values.push_back(channel.value ? Json(*channel.value) : Json());
    const std::optional<Interval>& range = channel.accumulator;
    accumulators.push_back(range ? Json::array({range->low, range->high}) : Json());
  }
  return {{"name", tensor.name},
          {"channels", tensor.channels},
          {"removed", std::move(removed)},
          {"values", std::move(values)},
          {"accumulators", std::move(accumulators)}};
}

}  // namespace

Json shrinking_json(const Shrinking& shrinking) {
  if (shrinking.tensors.empty() && shrinking.macs_before == shrinking.macs_after) return {};
  Json tensors = Json::array();
  for (const ShrunkTensor& tensor : shrinking.tensors) tensors.push_back(tensor_json(tensor));
  return {{"macs_before", shrinking.macs_before},
          {"macs_after", shrinking.macs_after},
          {"filter_bytes_before", shrinking.weights_bytes_before},
          {"filter_bytes_after", shrinking.weights_bytes_after},
          {"assumes_finite", shrinking.assumes_finite},
          {"tensors", std::move(tensors)}};
}

}  // namespace ingot
