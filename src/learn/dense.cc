// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/layer.h"
#include "trainwire/learn/linear.h"

namespace tw::learn {
namespace {

class Dense : public Layer {
 public:
  Dense(std::int64_t inputs, std::int64_t outputs, Activation activation)
      : linear_{.inputs = inputs, .outputs = outputs, .activation = activation} {}

  std::int64_t inputs() const override { return linear_.inputs; }
  std::int64_t outputs() const override { return linear_.outputs; }
  std::int64_t parameters() const override { return linear_.parameters(); }
  void initialise(std::span<float> parameters, Random& random) const override {
    linear_.initialise(parameters, random);
  }

  void forward(std::span<const float> parameters, std::span<const float> inputs,
               std::span<float> outputs) override {
    linear_.forward(parameters, inputs, outputs);
  }

  void backward(std::span<const float> parameters, const Seen& seen, std::span<float> of_outputs,
                std::span<float> of_parameters, std::span<float> of_inputs) override {
    linear_.backward(parameters, seen, of_outputs, of_parameters, of_inputs);
  }

 private:
  Linear linear_;
};

}  // namespace

std::unique_ptr<Layer> dense(std::int64_t inputs, std::int64_t outputs, Activation activation) {
  return std::make_unique<Dense>(inputs, outputs, activation);
}

}  // namespace tw::learn
