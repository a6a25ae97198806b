// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/layer.h"
#include "trainwire/learn/linear.h"

#include <algorithm>
#include <vector>

namespace tw::learn {
namespace {

constexpr int kSide = 3;

/// The pixels around each pixel are written out as a row, so that the rest is Linear.
class Convolution : public Layer {
 public:
  Convolution(const Picture& picture, int filters)
      : picture_(picture),
        linear_{.inputs = std::int64_t{kSide} * kSide * picture.channels,
                .outputs = filters,
                .activation = Activation::Rectify} {}

  std::int64_t inputs() const override { return picture_.values(); }
  std::int64_t outputs() const override {
    return std::int64_t{picture_.height} * picture_.width * linear_.outputs;
  }
  std::int64_t parameters() const override { return linear_.parameters(); }
  void initialise(std::span<float> parameters, Random& random) const override {
    linear_.initialise(parameters, random);
  }

  void forward(std::span<const float> parameters, std::span<const float> inputs,
               std::span<float> outputs) override {
    write_out(inputs);
    linear_.forward(parameters, around_, outputs);
  }

  void backward(std::span<const float> parameters, const Seen& seen, std::span<float> of_outputs,
                std::span<float> of_parameters, std::span<float> of_inputs) override {
    // What forward wrote out may be another batch's by now.
    write_out(seen.inputs);
    of_around_.resize(of_inputs.empty() ? 0 : around_.size());
    linear_.backward(parameters, {.inputs = around_, .outputs = seen.outputs}, of_outputs,
                     of_parameters, of_around_);
    if (!of_inputs.empty()) add_up(of_inputs);
  }

 private:
  /// Calls visit(place of a run in `around`, place in the pictures, values) for each run of
  /// neighbours that lie together; neighbours outside the picture are left out.
  template <typename Visit>
  void for_each_run(std::size_t values, Visit visit) const {
    const std::int64_t channels = picture_.channels;
    const std::int64_t line = picture_.width * channels;
    std::int64_t row = 0;
    for (std::int64_t begin = 0; begin < static_cast<std::int64_t>(values);
         begin += picture_.values()) {
      for (int y = 0; y < picture_.height; ++y) {
        for (int x = 0; x < picture_.width; ++x, row += linear_.inputs) {
          const int left = std::max(x - 1, 0);
          const int right = std::min(x + 1, picture_.width - 1);
          for (int dy = 0; dy < kSide; ++dy) {
            const int from = y + dy - 1;
            if (from < 0 || from >= picture_.height) continue;
            visit(row + (std::int64_t{dy} * kSide + left - (x - 1)) * channels,
                  begin + from * line + left * channels, (right - left + 1) * channels);
          }
        }
      }
    }
  }

  /// Neighbours outside the picture are zeros, and nothing else is ever written there.
  void write_out(std::span<const float> inputs) {
    around_.resize(inputs.size() / static_cast<std::size_t>(picture_.channels) *
                   static_cast<std::size_t>(linear_.inputs));
    for_each_run(inputs.size(), [&](std::int64_t to, std::int64_t from, std::int64_t count) {
      const float* const source = inputs.data() + from;
      float* const target = around_.data() + to;
      for (std::int64_t i = 0; i < count; ++i) target[i] = source[i];
    });
  }

  void add_up(std::span<float> of_inputs) const {
    std::ranges::fill(of_inputs, 0.0f);
    for_each_run(of_inputs.size(), [&](std::int64_t from, std::int64_t to, std::int64_t count) {
      const float* const source = of_around_.data() + from;
      float* const target = of_inputs.data() + to;
      for (std::int64_t i = 0; i < count; ++i) target[i] += source[i];
    });
  }

  Picture picture_;
  Linear linear_;
  std::vector<float> around_;
  std::vector<float> of_around_;
};

class Pooling : public Layer {
 public:
  explicit Pooling(const Picture& picture) : picture_(picture) {}

  std::int64_t inputs() const override { return picture_.values(); }
  std::int64_t outputs() const override {
    return std::int64_t{picture_.height / 2} * (picture_.width / 2) * picture_.channels;
  }

  void forward(std::span<const float>, std::span<const float> inputs,
               std::span<float> outputs) override {
    for_each_square(inputs.size(), [&](std::int64_t out, std::int64_t in) {
      const float* const top = inputs.data() + in;
      const float* const bottom = top + line();
      float* const most = outputs.data() + out;
      for (int c = 0; c < picture_.channels; ++c) {
        const float upper = std::max(top[c], top[c + picture_.channels]);
        const float lower = std::max(bottom[c], bottom[c + picture_.channels]);
        most[c] = std::max(upper, lower);
      }
    });
  }

  void backward(std::span<const float>, const Seen& seen, std::span<float> of_outputs,
                std::span<float>, std::span<float> of_inputs) override {
    std::ranges::fill(of_inputs, 0.0f);
    const std::int64_t places[] = {0, picture_.channels, line(), line() + picture_.channels};
    for_each_square(seen.inputs.size(), [&](std::int64_t out, std::int64_t in) {
      for (int c = 0; c < picture_.channels; ++c) {
        const float most = seen.outputs[static_cast<std::size_t>(out + c)];
        // Of equals the first.
        for (const std::int64_t place : places) {
          const auto at = static_cast<std::size_t>(in + c + place);
          if (seen.inputs[at] != most) continue;
          of_inputs[at] = of_outputs[static_cast<std::size_t>(out + c)];
          break;
        }
      }
    });
  }

 private:
  std::int64_t line() const { return std::int64_t{picture_.width} * picture_.channels; }

  /// Calls visit(place of a square's first output, place of its first input).
  template <typename Visit>
  void for_each_square(std::size_t values, Visit visit) const {
    std::int64_t out = 0;
    for (std::int64_t begin = 0; begin < static_cast<std::int64_t>(values);
         begin += picture_.values()) {
      for (int y = 0; y + 1 < picture_.height; y += 2) {
        for (int x = 0; x + 1 < picture_.width; x += 2, out += picture_.channels) {
          visit(out, begin + y * line() + std::int64_t{x} * picture_.channels);
        }
      }
    }
  }

  Picture picture_;
};

}  // namespace

std::unique_ptr<Layer> convolution(const Picture& picture, int filters) {
  return std::make_unique<Convolution>(picture, filters);
}

std::unique_ptr<Layer> pooling(const Picture& picture) {
  return std::make_unique<Pooling>(picture);
}

}  // namespace tw::learn
