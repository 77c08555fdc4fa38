// SPDX-License-Identifier: Apache-2.0
// From the names in a model, which may be any bytes, to names in C. The one rule, also stated in
// docs/output_format.md:
//
//   1. Letters become lower case; every other byte that is no digit becomes '_'; runs of '_' become
//      one; '_' at either end is dropped.
//   2. If nothing is left, or it starts with a digit, or it is a reserved word (a keyword of C or
//      C++, or a name that standard headers or common platforms define), "t_" is put in front.
//   3. A name of more than 31 characters keeps its first 22 and ends in '_' and 8 hexadecimal
//      digits that depend on the whole model name.
//   4. A name that is taken gets "_2", "_3", ... at its end (cut so that 31 characters suffice).
//
// Names of one table differ, also after upper-casing, because none has an upper-case letter.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

constexpr int64_t kLongestCName = 31;

// Whether `name` may not be used as an identifier of generated C.
bool is_reserved_c_name(std::string_view name);

// Steps 1 to 3: the C name that `name` would get in an empty table.
std::string c_name(std::string_view name);

// Hands out the C names of one scope.
class NameTable {
 public:
  // `taken`: names that are in use already.
  explicit NameTable(const std::vector<std::string>& taken = {});

  // The C name for a model's name, by the rule above.
  std::string add(std::string_view name);
  // For a name that is an identifier already: itself unless it is reserved or taken.
  std::string add_identifier(std::string_view name);
  // For an identifier that will get a prefix: itself unless it is taken.
  std::string add_suffix(std::string_view name) { return make_unique(std::string(name)); }

 private:
  std::string make_unique(std::string name);

  std::set<std::string, std::less<>> taken_;
  std::map<std::string, int64_t, std::less<>> next_suffix_;
};

// The C names of `names`, in order.
std::vector<std::string> c_names(const std::vector<std::string>& names);

// The name of the model in `file_name` (a path is cut to its last part, one extension is dropped):
// steps 1 to 3, with "model_" for "t_", and also in front of the names of standard headers, because
// NAME.h must not hide <NAME.h>; and with "_model" behind "_weights", "_tvm" and "_tvm_abi",
// because the files of a model of the name before that are called so.
std::string model_name(std::string_view file_name);

// Whether `name` can be given as --name: an identifier of at most 63 characters that starts with a
// letter, has no "__", does not end like the files of another model ("_weights", "_tvm",
// "_tvm_abi"), and is no reserved word nor the name of a standard header.
bool is_model_name(std::string_view name);

}  // namespace ingot
