// SPDX-License-Identifier: Apache-2.0
// Wide vectors in C: types by the vector extension of GCC and Clang, whose operators work lane by
// lane on any machine, and small functions for what has no operator. Where the target's compiler
// has a better way (an intrinsic of its header), that stands beside the general text under #if.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "emit/text.h"
#include "loop/type.h"
#include "target/target.h"

namespace ingot {

// The vector types and functions that a text uses.
class VectorNeeds {
 public:
  explicit VectorNeeds(const VectorExtension& extension) : extension_(&extension) {}

  // The name of the C type of vectors of `type`: "int8x16".
  std::string type(loop::Type type);

  // Each gives the name of a function and remembers that it is needed.
  std::string load(loop::Type type, int64_t alignment = 1);
  // Of a load's function: the distances from an address that it can reach; 0: it has none.
  int64_t reach_of(const std::string& function) const;
  std::string store(loop::Type type);
  // Loads of `from` that become `to`, and stores of `from` that become `to` in memory: lane by
  // lane.
  std::string load_as(loop::Type from, loop::Type to);
  std::string store_as(loop::Type from, loop::Type to);
  // The same as store_as after min(max(v, the type's least), its greatest).
  std::string store_saturated(loop::Type from, loop::Type to);
  std::string splat(loop::Type type);
  std::string pack(loop::Type type);
  std::string convert(loop::Type from, loop::Type to);
  std::string min_or_max(loop::Type type, bool is_min);
  // Of a vector and a scalar, which is added to every lane; empty where splat is as good.
  std::string add_to_all(loop::Type type);
  // Of two vectors by the lanes of a comparison of vectors of `compared`.
  std::string select(loop::Type compared, loop::Type type);

  void merge(const VectorNeeds& other);
  bool empty() const { return types_.empty(); }
  // The types, then the functions; nothing where there are none.
  void print(CText& out, const std::string& model) const;

 private:
  struct Function {
    std::string head;               // "int32x4 min_int32x4(int32x4 a, int32x4 b)"
    std::vector<std::string> body;  // its lines
  };
  std::string add(const std::string& name, const std::string& result, const std::string& parameters,
                  std::vector<std::string> body);

  const VectorExtension* extension_;
  std::map<std::string, loop::Type> types_;
  std::map<std::string, Function> functions_;
};

// Names that locals must not hide.
std::vector<std::string> vector_type_names();

}  // namespace ingot
