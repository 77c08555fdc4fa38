// SPDX-License-Identifier: Apache-2.0
// Whole networks at random: a few int8 operators (with excursions to int16 and float32) on small
// odd shapes, with branches, residual additions, concatenations, views, and outputs that other
// operators read. A function of the seed.
#pragma once
#include "tests/support/sample_models.h"

namespace ingot::testing {

SampleModel random_network(uint64_t seed);

}  // namespace ingot::testing
