// SPDX-License-Identifier: Apache-2.0
// The constants that a kernel reads by channel (first values, sums of weights, multipliers, shifts)
// as one table: for each four channels their vectors of 32 bits, one after the other. One address
// steps through all of them, where each table of its own would take a register.
#pragma once
#include "schedule/rescheduled.h"

namespace ingot {

// Joins the tables of int32 and int8 that `out.kernel` reads in vectors of four from multiples of
// four on, or at literal places, but not `weights`; what is read to be added at once becomes its
// sum. Nothing happens where there are fewer than two.
void join_channel_tables(Rescheduled& out, const std::string& weights);

}  // namespace ingot
