// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/net_builder.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <utility>

namespace tw::zoo {
namespace {

int slid(int size, int kernel, int stride, Padding padding) {
  if (padding == Padding::Same) return (size + stride - 1) / stride;
  check(size >= kernel, "a window without padding fits into the map");
  return (size - kernel) / stride + 1;
}

double area(const Shape& shape) { return static_cast<double>(shape.height) * shape.width; }

std::int64_t area(const Kernel& kernel) { return std::int64_t{kernel.height} * kernel.width; }

}  // namespace

NetBuilder::NetBuilder(Shape input, BatchNorm norm) : input_(input), shape_(input), norm_(norm) {}

void NetBuilder::conv(std::string name, const Conv& conv) {
  const std::int64_t weights = area(conv.kernel) * shape_.channels * conv.filters;
  slide(conv.kernel, conv.stride, conv.padding);
  shape_.channels = conv.filters;
  add(std::move(name), weights + (conv.bias ? conv.filters : 0),
      static_cast<double>(weights) * area(shape_));
}

void NetBuilder::depthwise(std::string name, int stride) {
  const std::int64_t weights = area(Kernel(3)) * shape_.channels;
  slide(3, stride, Padding::Same);
  add(std::move(name), weights, static_cast<double>(weights) * area(shape_));
}

void NetBuilder::batch_norm(std::string name) {
  add(std::move(name), std::int64_t{norm_.scale ? 2 : 1} * shape_.channels, 0);
  if (norm_.running_statistics) layers_.back().non_trainable = std::int64_t{2} * shape_.channels;
}

void NetBuilder::pool(const Pool& pool) { slide(pool.kernel, pool.stride, pool.padding); }

void NetBuilder::global_pool() { shape_ = {1, 1, shape_.channels}; }

void NetBuilder::dense(std::string name, int units) {
  const std::int64_t inputs = std::int64_t{shape_.height} * shape_.width * shape_.channels;
  shape_ = {1, 1, units};
  add(std::move(name), (inputs + 1) * units, static_cast<double>(inputs * units));
}

Model NetBuilder::take(std::string source) && {
  return {.name = {},
          .source = std::move(source),
          .input = fmt::format("{}x{}x{}", input_.height, input_.width, input_.channels),
          .layers = std::move(layers_)};
}

void NetBuilder::add(std::string name, std::int64_t trainable, double multiply_adds) {
  layers_.push_back({.name = std::move(name),
                     .trainable = trainable,
                     .non_trainable = 0,
                     .forward_flops = 2 * multiply_adds});
}

void NetBuilder::slide(const Kernel& kernel, int stride, Padding padding) {
  shape_.height = slid(shape_.height, kernel.height, stride, padding);
  shape_.width = slid(shape_.width, kernel.width, stride, padding);
}

}  // namespace tw::zoo
