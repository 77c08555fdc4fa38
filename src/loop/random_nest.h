// SPDX-License-Identifier: Apache-2.0
// For tests: random nests of loops, branches and scalars, as loop text, that store to y.
#pragma once
#include <random>
#include <string>
#include <vector>

namespace ingot::loop {

class RandomNest {
 public:
  explicit RandomNest(uint32_t seed) : random_(seed) {}

  std::string body(int depth) {
    std::string text;
    for (int64_t n = pick(2) + 1; n > 0; --n) {
      const size_t scope = names_.size();
      const int64_t kind = depth == 0 ? 9 : pick(9);
      if (kind <= 3) {
        const std::string begin = expr(1);
        const std::string end = pick(2) == 0 ? "min(" + expr(1) + ", " + begin + " + 6)"
                                             : begin + " + " + std::to_string(pick(6));
        const std::string v = "v" + std::to_string(next_++);
        text += "for " + v + " = " + begin + " to " + end;
        if (pick(3) == 0) text += " step " + std::to_string(pick(3) + 1);
        if (pick(3) == 0) text += " reverse";
        names_.push_back(v);
        text += " {\n" + body(depth - 1) + "}\n";
      } else if (kind <= 5) {
        static const char* const kOps[] = {" < ", " <= ", " == ", " != "};
        text += "if " + expr(2) + kOps[pick(4)] + expr(1) + " {\n" + body(depth - 1) +
                "} else {\n" + body(depth - 1) + "}\n";
      } else if (kind == 6) {
        const std::string v = "v" + std::to_string(next_++);
        text += "let " + v + ": int32 = " + expr(2) + "\n" + body(depth - 1);
        names_.push_back(v);
        assignable_.push_back(v);
        text += body(depth - 1);
        if (pick(2) == 0) text += v + " = " + expr(2) + "\n" + body(depth - 1);
        assignable_.pop_back();
      } else if (kind == 7 && !assignable_.empty()) {
        const std::string v = assignable_[static_cast<size_t>(pick(assignable_.size()))];
        text += v + " = min(max(" + expr(2) + ", -9), 9)\n";
      } else {
        text += "y[" + expr(2) + " + " + std::to_string(pick(30)) + "] = 1:int8\n";
      }
      names_.resize(scope);
    }
    return text;
  }

 private:
  int64_t pick(size_t n) { return static_cast<int64_t>(random_() % n); }
  std::string number() { return std::to_string(pick(9) - 3); }
  std::string expr(int depth) {
    if (depth == 0 || pick(4) == 0) {
      if (names_.empty() || pick(3) == 0) return number();
      return names_[static_cast<size_t>(pick(names_.size()))];
    }
    const std::string a = expr(depth - 1);
    switch (pick(9)) {
      case 0:
        return "(" + a + " + " + expr(depth - 1) + ")";
      case 1:
        return "(" + a + " - (" + expr(depth - 1) + "))";
      case 2:
        return a + " * (" + number() + ")";
      case 3:
        return "min(" + a + ", " + expr(depth - 1) + ")";
      case 4:
        return "max(" + a + ", " + expr(depth - 1) + ")";
      case 5:
        return "floordiv(" + a + ", " + std::to_string(pick(4) + 1) + ")";
      case 6:
        return "floormod(" + a + ", " + std::to_string(pick(4) + 1) + ")";
      case 7:
        return "select(" + a + " < " + expr(depth - 1) + ", " + a + ", " + number() + ")";
      default:
        return "div(" + a + ", " + std::to_string(pick(4) + 1) + ")";
    }
  }

  std::mt19937 random_;
  std::vector<std::string> names_;
  std::vector<std::string> assignable_;
  int64_t next_ = 0;
};

}  // namespace ingot::loop
