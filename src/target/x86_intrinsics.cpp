// SPDX-License-Identifier: Apache-2.0
// The vector instructions of x86-64: AVX2, and AVX-512 with VNNI.
#include <fmt/format.h>

#include <utility>

#include "target/vector_intrinsics.h"

namespace ingot {
namespace {

using loop::Expr;
using loop::Function;
using loop::kInt32;
using loop::lane;
using loop::lit;
using loop::Type;
using loop::var;

constexpr const char* kHasVnni = "defined(__AVX512VNNI__) && defined(__AVX512VL__)";
constexpr const char* kHasAvx2 = "defined(__AVX2__)";
constexpr Type kUInt8x4{DType::kUInt8, 4, true};

Expr i32(const Expr& e) { return loop::cast(kInt32, e); }

Function biased() {
  const Expr x = var("x", loop::kInt8x4);
  std::vector<Expr> bytes;
  for (int64_t i = 0; i < 4; ++i) {
    bytes.push_back(loop::cast(loop::Type{DType::kUInt8}, i32(lane(x, i)) + 128));
  }
  Function f;
  f.name = "biased";
  f.params = {{"x", loop::kInt8x4}};
  f.result = loop::pack(kUInt8x4, std::move(bytes));
  f.comment = "the bytes of x plus 128";
  f.expression = "%1 ^ 0x80808080u";
  f.condition = "defined(__GNUC__)";
  return f;
}

// Bytes `first` and `first` + 2 of x in every lane, plus 128.
Function pairs(int64_t lanes, int64_t first) {
  const Expr x = var("x", loop::kInt8x4);
  const Type type{DType::kInt16, 2 * lanes};
  std::vector<Expr> values;
  for (int64_t i = 0; i < 2 * lanes; ++i) {
    values.push_back(loop::cast(loop::kInt16, i32(lane(x, first + i % 2 * 2)) + 128));
  }
  const std::string prefix = lanes == 4 ? "_mm" : "_mm256";
  const std::string bits = lanes == 4 ? "si128" : "si256";
  const std::string all =
      fmt::format("{0}_xor_{1}({0}_set1_epi32((int32_t)%1), {0}_set1_epi8(-128))", prefix, bits);
  Function f;
  f.name = fmt::format("{}_pairs_x{}", first == 0 ? "even" : "odd", lanes);
  f.params = {{"x", loop::kInt8x4}};
  f.result = loop::pack(type, std::move(values));
  f.comment =
      fmt::format("bytes {} and {} of x plus 128, for each lane of a sum", first, first + 2);
  f.expression = first == 0 ? fmt::format("(int16x{0}){1}_and_{2}({3}, {1}_set1_epi16(255))",
                                          2 * lanes, prefix, bits, all)
                            : fmt::format("(int16x{}){}_srli_epi16({}, 8)", 2 * lanes, prefix, all);
  f.condition = kHasAvx2;
  return f;
}

// sum + v. GCC adds the terms of a sum in an order of its own if it can tell what they are, and
// then has registers for no sum.
Function added(int64_t lanes) {
  const Type type{DType::kInt32, lanes};
  Function f;
  f.name = fmt::format("added_x{}", lanes);
  f.params = {{"sum", type}, {"v", type}};
  f.result = var("sum", type) + var("v", type);
  f.comment = "sum + v, in the order of the statements";
  f.assembly = "vpaddd {%2, %1, %0|%0, %1, %2}";
  f.constraints = "x,x,x";
  f.condition = std::string("defined(__GNUC__) && ") + kHasAvx2;
  f.movable = true;
  return f;
}

// Lane by lane: the products of two of x and of w.
Function pair_products(int64_t lanes) {
  const Type type{DType::kInt16, 2 * lanes};
  const Expr x = var("x", type);
  const Expr w = var("w", type);
  std::vector<Expr> results;
  for (int64_t i = 0; i < 2 * lanes; i += 2) {
    results.push_back(i32(lane(x, i)) * i32(lane(w, i)) +
                      i32(lane(x, i + 1)) * i32(lane(w, i + 1)));
  }
  Function f;
  f.name = fmt::format("pair_products_x{}", lanes);
  f.params = {{"x", type}, {"w", type}};
  f.result = loop::pack({DType::kInt32, lanes}, std::move(results));
  f.comment = "in each lane, the products of its two of x and of w";
  f.expression = lanes == 4 ? "(int32x4)_mm_madd_epi16((__m128i)%1, (__m128i)%2)"
                            : "(int32x8)_mm256_madd_epi16((__m256i)%1, (__m256i)%2)";
  f.condition = kHasAvx2;
  return f;
}

// To each lane of sum, the products of the bytes of x and of its four of w. PMADDUBSW takes the
// magnitudes of x and w with the signs of x; the sum of two products is within 16 bits.
std::vector<Function> signed_bytes(int64_t lanes) {
  const Type bytes{DType::kInt8, 4 * lanes};
  const Type sums{DType::kInt32, lanes};
  const Expr x = var("x", loop::kInt8x4);
  const Expr w = var("w", bytes);
  std::vector<Expr> results;
  for (int64_t i = 0; i < lanes; ++i) {
    Expr total = nullptr;
    for (int64_t t = 0; t < 4; ++t) {
      // -128 has no opposite.
      const Expr weight = i32(lane(w, 4 * i + t));
      const Expr opposite = i32(loop::cast(Type{DType::kInt8}, lit(0) - weight));
      const Expr value = i32(lane(x, t));
      const Expr product =
          loop::select(loop::less(value, lit(0)), (lit(0) - value) * opposite, value * weight);
      total = total ? total + product : product;
    }
    results.push_back(total);
  }
  const std::string p = lanes == 4 ? "_mm" : "_mm256";
  const std::string type = lanes == 4 ? "__m128i" : "__m256i";
  const std::string all = fmt::format("{}_set1_epi32((int32_t)%1)", p);
  Function products;
  products.name = fmt::format("byte_products_x{}", lanes);
  products.params = {{"x", loop::kInt8x4}, {"w", bytes}};
  products.result = loop::pack(sums, std::move(results));
  products.comment =
      "in each lane, the products of the bytes of x and of its four of w, which are not -128";
  products.expression = fmt::format(
      "(int32x{0}){1}_madd_epi16({1}_maddubs_epi16({1}_abs_epi8({2}), {1}_sign_epi8(({3})%2, "
      "{2})), "
      "{1}_set1_epi16(1))",
      lanes, p, all, type);
  products.condition = kHasAvx2;
  Function dot;
  dot.name = fmt::format("dot_signed_x{}", lanes);
  dot.params = {{"sum", sums}, {"x", loop::kInt8x4}, {"w", bytes}};
  dot.result = loop::call(fmt::format("added_x{}", lanes), sums,
                          {var("sum", sums), loop::call(products.name, sums, {x, w})});
  dot.comment = "to each lane of sum, the products of the bytes of x and of its four of w";
  return {products, dot};
}

// The C of the halves of x86_rescaled, and how their high words are put together.
class RescalingText {
 public:
  RescalingText(int64_t lanes, Rescaling rescaling)
      : is_512_(lanes == 16), rescaling_(rescaling), p_(is_512_ ? "_mm512" : "_mm256") {}

  std::string text() const {
    if (is_512_) {
      return fmt::format(
          "(int32x16)_mm512_permutex2var_epi32({}, _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, "
          "17, 15, 13, 11, 9, 7, 5, 3, 1), {})",
          half(true), half(false));
    }
    return fmt::format(
        "(int32x8)_mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps("
        "_mm256_castsi256_ps({}), _mm256_castsi256_ps({}), 0xdd)), 0xd8)",
        half(true), half(false));
  }

 private:
  std::string whole(int number) const {
    return fmt::format("({}i)%{}", is_512_ ? "__m512" : "__m256", number);
  }
  // Half of a vector, as words of 64 bits.
  std::string part(const std::string& whole, bool low) const {
    const std::string bits = is_512_ ? "si512_si256" : "si256_si128";
    const std::string extract = is_512_ ? "64x4_epi64" : "128_si256";
    return fmt::format("{}_cvtepi32_epi64({})", p_,
                       low ? fmt::format("{}_cast{}({})", p_, bits, whole)
                           : fmt::format("{}_extracti{}({}, 1)", p_, extract, whole));
  }
  std::string product(const std::string& a, const std::string& b, bool low) const {
    return fmt::format("{}_mul_epi32({}, {})", p_, part(a, low), part(b, low));
  }
  std::string half(bool low) const {
    std::string sum = fmt::format("{}_add_epi64({}, {})", p_, product(whole(1), whole(2), low),
                                  whole(low ? 3 : 4));
    if (rescaling_ == Rescaling::kBent) {
      const std::string sign = fmt::format("{}_srai_epi32({}, 31)", p_, whole(1));
      sum = fmt::format("{}_add_epi64({}, {})", p_, sum, product(sign, whole(5), low));
    }
    if (rescaling_ == Rescaling::k31) sum = fmt::format("{}_slli_epi64({}, 1)", p_, sum);
    return sum;
  }

  bool is_512_;
  Rescaling rescaling_;
  std::string p_;
};

}  // namespace

Function x86_rescaled(int64_t lanes, Rescaling rescaling) {
  Function f = rescaled(lanes, rescaling);
  f.expression = RescalingText(lanes, rescaling).text();
  f.condition = lanes == 16 ? kHasVnni : kHasAvx2;
  return f;
}

std::vector<Function> avx512_vnni_intrinsics() {
  std::vector<Function> functions = {biased()};
  for (const int64_t lanes : {16, 8, 4}) {
    Function f =
        lanewise_dot(fmt::format("dot_bytes_x{}", lanes), lanes, 4, kUInt8x4, DType::kInt8);
    const int64_t bits = 32 * lanes;
    const std::string prefix = bits == 128 ? "_mm" : fmt::format("_mm{}", bits);
    f.comment = "to each lane of sum, the products of the bytes of x and of its four of w";
    f.expression = fmt::format(
        "(int32x{0}){1}_dpbusd_epi32((__m{2}i)%1, {1}_set1_epi32((int32_t)%2), (__m{2}i)%3)", lanes,
        prefix, bits);
    f.condition = kHasVnni;
    functions.push_back(std::move(f));
  }
  return functions;
}

std::vector<Function> avx2_intrinsics() {
  std::vector<Function> functions;
  for (const int64_t lanes : {8, 4}) {
    const Type sums{DType::kInt32, lanes};
    const Type words{DType::kInt16, 2 * lanes};
    for (const int64_t first : {0, 1}) functions.push_back(pairs(lanes, first));
    functions.push_back(added(lanes));
    functions.push_back(pair_products(lanes));
    Function f;
    f.name = fmt::format("dot_pairs_x{}", lanes);
    f.params = {{"sum", sums}, {"x", words}, {"w", words}};
    const Expr products =
        loop::call(functions.back().name, sums, {var("x", words), var("w", words)});
    f.result = loop::call(fmt::format("added_x{}", lanes), sums, {var("sum", sums), products});
    f.comment = "to each lane of sum, the products of its two of x and of w";
    functions.push_back(std::move(f));
    for (Function& of_bytes : signed_bytes(lanes)) functions.push_back(std::move(of_bytes));
  }
  return functions;
}

namespace {

// The words for vectors of `lanes` int32 and for the bytes that they come from and go to.
void add_x86_operations(std::map<std::string, std::string>& operations, int64_t lanes,
                        bool has_avx512) {
  const int64_t bits = 32 * lanes;
  const std::string prefix = bits == 128 ? "_mm" : fmt::format("_mm{}", bits);
  const std::string type = fmt::format("__m{}i", bits);
  const std::string ints = fmt::format("int32x{}", lanes);
  const std::string bytes = fmt::format("int8x{}", lanes);
  for (const char* op : {"min", "max"}) {
    operations[fmt::format("{}_{}", op, ints)] =
        fmt::format("return ({0}){1}_{2}_epi32(({3})a, ({3})b);", ints, prefix, op, type);
  }
  const bool quarter = lanes == 4;
  const std::string from = quarter ? "_mm_loadu_si32(p)"
                                   : fmt::format("_mm_load{}((const __m128i *)(const void *)p)",
                                                 lanes == 8 ? "l_epi64" : "u_si128");
  operations[fmt::format("load_{}_as_{}", bytes, ints)] =
      fmt::format("return ({}){}_cvtepi8_epi32({});", ints, prefix, from);
  const std::string to = quarter ? "_mm_storeu_si32(p, "
                                 : fmt::format("_mm_store{}((__m128i *)(void *)p, ",
                                               lanes == 8 ? "l_epi64" : "u_si128");
  const std::string halves =
      quarter ? "(__m128i)v, (__m128i)v"
              : "_mm256_castsi256_si128((__m256i)v), _mm256_extracti128_si256((__m256i)v, 1)";
  const std::string packed =
      fmt::format("_mm_packs_epi16(_mm_packs_epi32({}), _mm_setzero_si128())", halves);
  const std::string narrow = fmt::format("{}_cvtepi32_epi8(({})v)", prefix, type);
  const std::string saturated = fmt::format("{}_cvtsepi32_epi8(({})v)", prefix, type);
  operations[fmt::format("store_{}_as_{}", ints, bytes)] =
      to + (has_avx512 ? narrow : packed) + ");";
  operations[fmt::format("store_saturated_{}_as_{}", ints, bytes)] =
      to + (has_avx512 ? saturated : packed) + ");";
}

}  // namespace

VectorExtension x86_vectors(bool has_avx512) {
  VectorExtension extension = {has_avx512 ? kHasVnni : kHasAvx2, "immintrin.h", {}};
  for (const int64_t lanes : {4, 8}) add_x86_operations(extension.operations, lanes, has_avx512);
  if (has_avx512) add_x86_operations(extension.operations, 16, true);
  return extension;
}

}  // namespace ingot
