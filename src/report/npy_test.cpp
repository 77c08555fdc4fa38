// SPDX-License-Identifier: Apache-2.0
#include "report/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ingot {
namespace {

using testing::HasSubstr;

std::vector<uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

// What numpy.save(f, numpy.arange(6, dtype="<i2").reshape(1, 2, 3)) writes.
std::string written_by_numpy() {
  std::string file("\x93NUMPY\x01\x00v\x00", 10);
  file += "{'descr': '<i2', 'fortran_order': False, 'shape': (1, 2, 3), }";
  file.resize(127, ' ');
  file += '\n';
  for (char i = 0; i < 6; ++i) file += {i, '\0'};
  return file;
}

TEST(Npy, WritesWhatNumpyWrites) {
  const TensorType type{DType::kInt16, {1, 2, 3}, {}};
  const std::vector<uint8_t> elements = {0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0};
  EXPECT_EQ(write_npy(type, elements), written_by_numpy());
}

TEST(Npy, EveryTypeAndRankComesBack) {
  for (const std::string_view name : {"bool", "int8", "uint8", "int16", "uint16", "int32", "uint32",
                                      "int64", "uint64", "float16", "float32", "float64"}) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 0}, Shape{1, 2, 3, 4}}) {
      const TensorType type{*find_dtype(name), shape, {}};
      const std::vector<uint8_t> elements(static_cast<size_t>(type.size_bytes()), 7);
      const Result<Array> array = read_npy(bytes_of(write_npy(type, elements)));
      ASSERT_TRUE(array.has_value()) << name << print(shape);
      EXPECT_EQ(array->dtype, type.dtype);
      EXPECT_EQ(array->shape, shape);
      EXPECT_EQ(array->bytes, elements);
    }
  }
}

TEST(Npy, SaysWhatIsWrong) {
  const auto fault = [](std::string_view from, std::string_view to) {
    std::string file = written_by_numpy();
    file.replace(file.find(from), from.size(), to);
    const Result<Array> array = read_npy(bytes_of(file));
    return array ? "nothing" : array.error().front().what;
  };
  EXPECT_THAT(fault("NUMPY", "NUMPI"), HasSubstr("no .npy file"));
  EXPECT_THAT(fault("<i2", ">i2"), HasSubstr("element type \">i2\""));
  EXPECT_THAT(fault("False", "True "), HasSubstr("Fortran order"));
  EXPECT_THAT(fault("(1, 2, 3)", "(1, 2, 4)"), HasSubstr("do not fill the shape"));
  EXPECT_THAT(fault("(1, 2, 3)", "(1, -2, 3"), HasSubstr("shape"));
  EXPECT_THAT(fault("'shape'", "'shade'"), HasSubstr("lacks"));
}

TEST(Npy, TruncationIsAnError) {
  const std::string file = written_by_numpy();
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(read_npy(bytes_of(file.substr(0, size))).has_value()) << size;
  }
}

}  // namespace
}  // namespace ingot
