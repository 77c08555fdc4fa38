// SPDX-License-Identifier: Apache-2.0
// One convolution, depthwise convolution or dense layer of a model as an operator of XNNPACK, with
// the same shape, weights and quantisation.
#pragma once
#include <pthreadpool.h>
#include <xnnpack.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace ingot::bench {

class XnnpackLayer {
 public:
  // Nothing if the node is no such layer, or of types that XNNPACK has no operator for (int8 with
  // weights per channel, dense layers per tensor, and float32).
  static std::optional<XnnpackLayer> make(const Graph& graph, const Node& node);

  const std::string& name() const { return name_; }
  const std::string& shape() const { return shape_; }
  int64_t source() const { return source_; }  // the model file's operator

  // Nanoseconds of each of `runs` runs, one thread.
  std::vector<int64_t> times(int64_t runs) const;

 private:
  struct Delete {
    void operator()(xnn_operator* op) const { xnn_delete_operator(op); }
  };

  std::string name_;
  std::string shape_;
  int64_t source_ = -1;
  std::vector<uint8_t> input_;
  std::vector<uint8_t> output_;
  std::unique_ptr<xnn_operator, Delete> op_;
};

}  // namespace ingot::bench
