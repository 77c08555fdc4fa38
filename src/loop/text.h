// SPDX-License-Identifier: Apache-2.0
// Loop programs as text: `print` and `parse` are inverses. This is NAME.loops, from which NAME.c is
// printed, and the form in which tests state programs.
//
//   program kws
//   buffer x int8[490] input align 1 tensor "input_1" type int8[1,49,10,1] scale 0.58 zero_point 83
//   buffer t0 int8[8000] arena align 4 offset 0 tie 0 16 tensor "conv"
//   buffer t1 int8[500] arena align 4 offset 16 pool fast
//   buffer t2 int8[8] arena align 1 offset 4 in identity       (inside the caller's)
//   buffer w0 int8[2560] constant align 4 data 01ff...        (hex; left out on request)
//   function requantize(x: int32, m: int32) -> int32 "comment" spelling "__smmul" {
//     let y: int64 = int64(x) * int64(m)
//     return int32(y >> 31:int64)
//   }
//   kernel conv_2d_0(x: int8[490] read align 1, w: int8[2560] constant align 4, y: int8[8000] write
//   align 4) "comment" {
//     for oy = 0 to 25 {
//       let acc: int32 = bias[oc]
//       for ky = max(0, 4 - oy * 2) to min(10, 53 - oy * 2) step 2 reverse { ... }
//       acc = acc + int32(x[oy * 2 + ky]) * int32(w[ky])
//       array tmp int32[8]
//       if acc < 0 { ... } else { ... }
//       comment "what follows"
//       y[oy] = int8(min(max(acc, -128), 127))
//     }
//   }
//   run {
//     call conv_2d_0(x, w0, t0 + 16) note "conv1" conv_2d macs 320000 operators [0, 1]
//   }
//
// Scalars of kernels and their literals in calls follow after a semicolon: kernel k(x: int8[5] read
// align 1; zero: int32), call k(t0; -128).
//
// Access is read, write, update or constant. Integer literals are int32 unless they carry a type
// (5:int64), float literals float32 (0.5, 0.5:float64); inf:float32 and nan:float32 always carry
// theirs. x - 5 is x + -5, and x - (5) is the subtraction. A vector access is x[i]:int8x16 align 4.
// Calls may only name functions that stand above. White space, line ends too, only separates.
#pragma once
#include <string>
#include <string_view>

#include "loop/program.h"
#include "support/file_text.h"
#include "support/result.h"

namespace ingot::loop {

struct PrintOptions {
  bool data = true;  // print the bytes of constants
};

std::string print(const Expr& e);
std::string print(const Block& block);
std::string print(const Kernel& kernel);
std::string print(const Program& program, PrintOptions options = {});
// The same text, with data, in pieces: it is twice as large as the constants, whose bytes it
// shares.
FileText print_file(const Program& program);

// The program, or a diagnostic (kLoopText) naming line and column. Depth of nesting is bounded.
Result<Program> parse(std::string_view text);

}  // namespace ingot::loop
