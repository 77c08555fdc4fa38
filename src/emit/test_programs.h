// SPDX-License-Identifier: Apache-2.0
// Loop programs for the emitter's tests, as text. Together they use every statement, operation and
// type that the emitter prints, with values at the edges.
#pragma once
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace ingot {

struct TestProgram {
  std::string name;
  int64_t arena_bytes = 0;
  bool reuse_inputs = false;
  bool io_in_arena = false;
  std::string text;
};

inline void PrintTo(const TestProgram& test, std::ostream* out) { *out << test.name; }

inline std::vector<TestProgram> test_programs() {
  return {
      {"convolution", 64, false, false, R"(
program convolution
buffer x int8[40] input align 1 tensor "serving_default_x:0" type int8[1,40] scale 0.5 zero_point -3
buffer y int8[20] output align 1 tensor "Identity*/" type int8[1,20] scale 0.25 zero_point 83
buffer t int16[20] arena align 16 offset 16
buffer w int8[6] constant align 1 tensor "w/weights" data 807f01ff0af6
buffer bias int32[2] constant align 4 data 000000809cffffff
function high(x: int32, m: int32) -> int32 "x * m / 2^31, half up" {
  return int32(int64(x) * int64(m) + 1073741824:int64 >> 31:int64)
}
function requantize(x: int32, multiplier: int32, right: int32) -> int32 "scaled, rounded" {
  let h: int32 = high(x, multiplier)
  return h + (1 << right - (1)) >> right
}
kernel conv_2d_0(x: int8[40] read align 1, w: int8[6] constant align 1, bias: int32[2] constant
align 4, y: int16[20] write align 2) "three taps, stride 2" {
  for o = 0 to 20 {
    let acc: int32 = bias[1] + 1000
    for k = max(0, 1 - o * 2) to min(6, 41 - o * 2) step 2 {
      acc = acc + int32(x[o * 2 + k - 1]) * int32(w[k])
    }
    for r = max(0, 1 - o * 2) to min(6, 41 - o * 2) step 3 reverse {
      acc = acc - int32(x[o * 2 + r - 1]) * 3
    }
    y[o] = int16(min(max(requantize(acc, 1234567890, 3), -32768), 32767))
  }
}
kernel narrow_1(x: int16[20] read align 2, y: int8[20] write align 1) "" {
  for i = 0 to 20 reverse {
    y[i] = int8(min(max(int32(x[i]) >> 4, -128), 127))
  }
}
run {
  call conv_2d_0(x, w, bias, t) note "model/conv \"1\"" conv_2d macs 120 operators [0, 1]
  call narrow_1(t, y) note "é*/" quantize macs 0 operators [2]
}
)"},
      {"integers", 0, false, false, R"(
program integers
buffer a int8[32] input align 1
buffer b uint8[32] input align 1
buffer y int32[32] output align 4
buffer z int64[32] output align 8
buffer u uint8[32] output align 1
buffer v uint16[32] output align 2
buffer s int16[32] output align 2
buffer q uint32[32] output align 4
kernel mix(a: int8[32] read align 1, b: uint8[32] read align 1, y: int32[32] write align 4,
z: int64[32] write align 8, u: uint8[32] write align 1, v: uint16[32] write align 2,
s: int16[32] write align 2, q: uint32[32] write align 4) "" {
  for i = 0 to 32 {
    let x: int32 = int32(a[i])
    let w: int32 = int32(b[i])
    let wide: int64 = int64(x) * 4294967296:int64
    let least: int32 = -2147483648
    let far: int64 = -9223372036854775808:int64
    y[i] = floordiv(x, 4) * 1000 + floormod(x, 4) * 100 + floordiv(x, 7) * 10 + floormod(x, 7)
      + floordiv(i, 3) + floormod(i, 5) - div(x, 3) + (x << 4) + (x << w - (w)) + (w << 3)
      + (least + max(x, 0) >> 8) - -x + (-5 - -x) + abs(x)
    z[i] = wide + (int64(w) << 33:int64) + int64(x) * int64(w) + (int64(x) >> 3:int64)
      + (wide >> 40:int64) + min(wide, 5:int64) + floordiv(wide, 7:int64)
      + floormod(wide, 7:int64) + floordiv(wide, 8:int64) + floormod(wide, 8:int64)
      + abs(wide) - -wide + select(x < 0, far - far, 1:int64) + div(wide, -1:int64)
      + -int64(-2147483648 + w - (w)) + (int64(x) << int64(floormod(i, 3)))
    u[i] = uint8(w ^ 255 & (x & 127)) ^ 1:uint8
    v[i] = uint16(b[i]) * 257:uint16
    s[i] = int16(a[i]) * 256:int16 + int16(select(b[i] < 7:uint8, 1, -1))
    q[i] = (uint32(b[i]) << 24:uint32) + max(uint32(w), 7:uint32) - (uint32(b[i] & 3:uint8))
      | 1:uint32
  }
  if 3 < 2 {
    y[0] = 1
  } else {
    if int32(a[0]) < 200 {
      y[0] = floormod(y[0], 1000) + -2147483648 + 1000 - (-5)
    }
  }
  for i = 0 to 32 {
    let small: bool = int32(a[i]) < 10
    let odd: bool = (b[i] & 1:uint8) == 1:uint8
    let any: bool = small | odd & !small
    let x: int32 = int32(any) + int32(small ^ odd) * 2 + int32(small & odd) * 4
      + int32(small == odd) * 8 + int32(bool(a[i] & 1:int8)) * 16 + int32(!any | small & odd) * 32
    u[i] = (u[i] ^ uint8(x)) ^ 128:uint8
    u[i] = !u[i]
    y[i] = !y[i]
    q[i] = !q[i]
    if small {
      s[i] = !s[i]
    } else {
      if odd {
        s[i] = -(s[i] & 15:int16)
      } else {
        s[i] = 0:int16
      }
    }
  }
}
run {
  call mix(a, b, y, z, u, v, s, q) note "mix" mixture macs 0 operators [0]
}
)"},
      {"floats", 256, false, false, R"(
program floats
buffer a float32[16] input align 4 type float32[2,8]
buffer b int8[16] input align 1
buffer y float32[16] output align 4
buffer z float64[16] output align 8
buffer h float16[16] output align 2
buffer n int32[16] output align 4
buffer t float32[16] arena align 16 offset 192
buffer c float32[4] constant align 4 data 0000807f000080ff0000003fcdcccc3d
buffer d float64[1] constant align 8 data 000000000000f0ff
kernel all(a: float32[16] read align 4, b: int8[16] read align 1, c: float32[4] constant align 4,
d: float64[1] constant align 8, t: float32[16] update align 4) "with infinities" {
  for i = 0 to 16 {
    let low: float32 = inf:float32
    low = min(low, a[i])
    low = max(low, -inf:float32)
    low = max(low, c[1])
    low = min(low, c[0])
    t[i] = low * 0.1 + float32(b[i]) * c[3]
    t[i] = t[i] - -c[2] * 1e-30
    if float64(t[i]) < d[0] {
      t[i] = nan:float32
    }
  }
}
kernel more(t: float32[16] read align 4, y: float32[16] write align 4, z: float64[16] write align 8,
h: float16[16] write align 2, n: int32[16] write align 4) "" {
  for i = 0 to 16 {
    let x: float32 = t[i]
    y[i] = sqrt(abs(x)) + floor(x) * 2.0 - ceil(x) + round(x) + float32(int64(i))
    z[i] = float64(x) * 0.1:float64 + abs(float64(i)) + float64(x < 1.0)
    h[i] = float16(float32(float16(x)) + 0.5)
    n[i] = int32(round(min(max(x * 16.0, -1000.0), 1000.0)))
    n[i] = n[i] + select(x < 0.0, 1, 2) + int32(bool(min(max(ceil(x), 0.0), 1.0)))
  }
}
run {
  call all(a, b, c, d, t)
  call more(t, y, z, h, n)
}
)"},
      {"Names2", 16, true, false, R"(
program Names2
buffer t_int int8[8] input align 1 tensor "int"
buffer y int8[8] output align 1
buffer run int8[8] constant align 16 data 0102030405060708
buffer for_2 int8[8] constant align 1 data 08070605040302ff
buffer t int8[8] arena align 4 offset 8
function min_int32(while: int32, unread: int32) -> int32 "named like a helper" {
  let double: int32 = min(while, 5)
  return double
}
function NULL(x: int32) -> int32 "unused" {
  return x
}
kernel add(int: int8[8] update align 1, class: int8[8] constant align 4, unread: int8[8] constant
align 1, min_int32: int8[8] write align 1) "names that C has other plans for" {
  array template int32[4]
  array dead int32[4]
  for main = 0 to 8 {
    let dead_too: int32 = 5
    let register: int32 = int32(int[main]) + int32(class[main])
    let count: int32 = 0
    count = count + dead_too
    dead[floormod(main, 4)] = count
    template[floormod(main, 4)] = register
    int[main] = int8(min(floordiv(template[floormod(main, 4)], 2), 100))
    comment "a */ comment \x41 ??/"
    min_int32[main] = int8(min_int32(int32(int[main]), 1))
  }
}
kernel unused(x: int8[8] read align 1) "" {
}
run {
  call add(t_int, run, for_2, t) note "a" add macs 8 operators [0]
  call add(t, for_2 , run, y) note "b" add macs 8 operators [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
}
)"},
      {"arena_io", 48, false, true, R"(
program arena_io
buffer x int32[4] input align 4 offset 16
buffer y int32[4] output align 4 offset 32
buffer t int32[4] arena align 4 offset 0
kernel step(x: int32[2] read align 4, y: int32[2] update align 4) "" {
  for i = 0 to 2 {
    y[i] = floormod(x[i], 1000) + floormod(y[i], 1000)
  }
}
kernel clear(y: int32[4] write align 4) "" {
  for i = 0 to 4 {
    y[i] = i
  }
}
run {
  call clear(t) note "" fill macs 0 operators []
  call clear(y) note "" fill macs 0 operators []
  for i = 0 to 3 {
    call step(x + 2, t) note "loop" step macs 0 operators [3]
    if (i == 1) | ((i < 1) & (0 < i + 1)) {
      call step(t, y + 1) note "loop" step macs 0 operators [3]
    } else {
      call step(t + 1, y + 2) note "loop" step macs 0 operators [3]
    }
  }
}
)"},
      {"nothing", 0, false, false, R"(
program nothing
run {
}
)"},
      {"no_inputs", 0, false, false, R"(
program no_inputs
buffer y bool[4] output align 1 type bool[4]
buffer scalar float32[1] output align 4 type float32[]
buffer empty int64[0] output align 8 type int64[3,0]
kernel fill(y: bool[4] write align 1, scalar: float32[1] write align 4, e: int64[0] write align 8)
"" {
  for i = 0 to 4 {
    y[i] = i < 2
  }
  y[3] = y[0] & !y[2]
  scalar[0] = -0.0
}
run {
  call fill(y, scalar, empty)
}
)"},
      {"words", 0, false, false, R"(
program words
buffer x int8[16] input align 1
buffer y int8[16] output align 1
kernel copy(x: int8[16] read align 1, y: int8[16] write align 1) "four at a time" {
  for i = 0 to 4 {
    let word: int8p4 = x[i * 4]:int8p4 align 1
    y[12 - i * 4]:int8p4 align 1 = word
  }
}
run {
  call copy(x, y) note "copy" copy macs 0 operators [0]
}
)"},
      {"vectors", 0, false, false, R"text(
program vectors
buffer x int8[67] input align 1
buffer f float32[16] input align 4
buffer y int8[16] output align 1
buffer z int32[18] output align 4
buffer g float32[16] output align 4
function sum_of_four(sum: int32x4, a: int8x16, b: int8x16) -> int32x4 "products of the first lanes"
expression "no_such_intrinsic(%1, %2, %3) + 0" if "defined(NO_SUCH_MACHINE)" {
  let a0: int32 = int32(lane(a, 0)) * int32(lane(b, 15))
  return sum + int32x4(a0, 2, a0 - 1, int32(lane(a, 3)))
}
function twice(v: int32x4) -> int32x4 "v + v" assembly "vadd.i32 %q0, %q1, %q1" constraints "w,w" if
"defined(NO_SUCH_MACHINE)" {
  return v + v
}
kernel lanes(x: int8[67] read align 1, f: float32[16] read align 4, y: int8[16] write align 1, z:
int32[18] write align 4, g: float32[16] write align 4) "" {
  let a: int8x16 = x[0]:int8x16 align 1
  let wide: int32x16 = int32x16(x[3]:int8x16 align 1)
  let high: int64x16 = int64x16(wide) * int64x16(1234567:int64) + int64x16(1073741824:int64) >> int64x16(20:int64)
  let r: int32x16 = int32x16(high)
  let limited: int32x16 = min(max(r - int32x16(select(lane(a, 3) < 0:int8, 1, 0)), int32x16(-100)), int32x16(127))
  y[0]:int8x16 align 1 = int8x16(limited)
  z[0]:int32x4 align 4 = sum_of_four(int32x4(int32(x[66])), a, x[50]:int8x16 align 1)
  z[4]:int32x4 align 4 = twice(int32x4(x[9]:int8x4 align 1))
  let h: int16x8 = int16x8(x[20]:int8x8 align 1)
  z[8]:int32x8 align 4 = int32x8(h & int16x8(1023:int16) | int16x8(1:int16) << int16x8(12:int16)) ^ -int32x8(lane(h, 2))
  let s: int32x2 = int32x2(x[40]:int8x2 align 1)
  z[16]:int32x2 align 4 = select(s < int32x2(0), s, int32x2(7))
  let v: float32x8 = f[0]:float32x8 align 4
  g[0]:float32x8 align 4 = max(v * float32x8(-0.5) + f[8]:float32x8 align 4, float32x8(-0.0))
  g[8]:float32x8 align 4 = select(float32x8(1.0) <= v, float32x8(int32x8(x[11]:int8x8 align 1)), min(v, float32x8(2.0)))
}
run {
  call lanes(x, f, y, z, g) note "lanes" lanes macs 0 operators [0]
}
)text"},
  };
}

}  // namespace ingot
