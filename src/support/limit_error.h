// SPDX-License-Identifier: Apache-2.0
// A model that asks for more than the compiler takes, where that shows only after the import: when
// its constants are folded, its kernels made, its memory planned. Any step may find it, at the
// point where it would have to allocate; so it is thrown. driver/ catches it, once, and makes a
// diagnostic of it (Code::kModelLimit). The limits keep every compilation below 512 MB.
#pragma once
#include <stdexcept>

namespace ingot {

// what() is a sentence about the model: "the model needs more than ...".
class LimitError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ingot
