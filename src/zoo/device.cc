// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/device.h"

#include "trainwire/base/error.h"
#include "trainwire/zoo/profile.h"
#include "trainwire/zoo/zoo.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

namespace tw::zoo {
namespace {

using namespace std::chrono_literals;

constexpr std::array kDevices{
    Device{"t4", "NVIDIA T4 16 GB", 8.1e12, "NVIDIA T4 datasheet, FP32"},
    Device{"v100", "NVIDIA V100 SXM2 16/32 GB", 15.7e12,
           "NVIDIA V100 datasheet, FP32 of SXM2 (PCIe: 14)"},
    Device{"a100", "NVIDIA A100 40/80 GB", 19.5e12,
           "NVIDIA A100 datasheet, FP32 (TF32 on tensor cores: 156)"},
    Device{"h100", "NVIDIA H100 SXM 80 GB", 67e12,
           "NVIDIA H100 datasheet, FP32 of SXM (TF32: 495)"},
    Device{"h200", "NVIDIA H200 SXM 141 GB, float32", 67e12, "NVIDIA H200 datasheet, FP32 of SXM"},
    Device{"h200-bf16", "the same with autocast to bfloat16", 989e12,
           "NVIDIA H200 datasheet, BFLOAT16 without sparsity"},
    Device{"cpu", "32 server cores at 2.5 GHz, as an AMD EPYC 7502P", 2.56e12,
           "computed: 32 cores x 2.5 GHz x 2 FMA of 8 floats x 2 operations"},
};

// Not used: the throughputs of tum Table I (T4, CIFAR-10). They give a time per step, but neither
// the size to which the images of 32x32 were scaled nor the batch per worker is certain, so no
// FLOPs belong to it. cheng's images per second measure its slow network.
constexpr std::array kCalibrations{
    Calibration{"bert-large-uncased", "a100", 8, 840ms, "salamy Table 3.1"},
    Calibration{"vgg16-torchvision", "a100", 64, 370ms, "salamy Table 3.1"},
    Calibration{"densenet161-torchvision", "a100", 64, 380ms, "salamy Table 3.1"},
    Calibration{"resnet50-torchvision", "a100", 64, 160ms, "salamy Table 3.1"},
    Calibration{"densenet121-keras", "t4", 64, 700ms, "farhat Fig. 4"},
    Calibration{"resnet50-keras", "t4", 64, 700ms, "farhat Fig. 4"},
    Calibration{"inceptionv3-keras", "t4", 64, 500ms, "farhat Fig. 4"},
};

// For models of which profile.h has no step. No part of the medians that stand in for devices of
// which nothing is known.
constexpr std::array kMeasured{
    Calibration{"resnet50-torchvision", "h200", 64, 36'953us, "measured with PyTorch 2.11"},
    Calibration{"vgg16-torchvision", "h200", 64, 47'987us, "measured with PyTorch 2.11"},
    Calibration{"mobilenetv2-torchvision", "h200", 64, 26'722us, "measured with PyTorch 2.11"},
    Calibration{"densenet201-torchvision", "h200", 64, 135'389us, "measured with PyTorch 2.11"},
    Calibration{"resnet50-torchvision", "h200-bf16", 64, 32'906us, "measured with PyTorch 2.11"},
    Calibration{"vgg16-torchvision", "h200-bf16", 64, 30'060us, "measured with PyTorch 2.11"},
};

/// Seconds; what from_seconds() takes at most.
constexpr double kLongestStep = 9.2e9;

/// Forward and twice that for backward.
double step_flops(const Model& model, int batch) { return 3 * model.forward_flops() * batch; }

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<double> efficiencies(auto matches) {
  std::vector<double> values;
  for (const Calibration& row : kCalibrations) {
    if (matches(row)) values.push_back(efficiency(row));
  }
  return values;
}

struct Efficiency {
  double value;
  std::string source;
  bool calibrated;
};

Efficiency efficiency_of(const Model& model, const Device& device) {
  const auto on_device = [&](const Calibration& row) { return row.device == device.name; };
  for (const Calibration& row : kCalibrations) {
    if (!on_device(row) || row.model != model.name) continue;
    return {efficiency(row), std::string(row.source), true};
  }
  for (const Calibration& row : kCalibrations) {
    if (!on_device(row) || short_name(row.model) != short_name(model.name)) continue;
    return {efficiency(row), fmt::format("estimated from {} ({})", row.model, row.source), false};
  }
  std::vector<double> same = efficiencies(on_device);
  for (const Calibration& row : kMeasured) {
    if (on_device(row)) same.push_back(efficiency(row));
  }
  if (!same.empty()) {
    return {median(same), fmt::format("estimated: median of {}'s calibrated models", device.name),
            false};
  }
  return {median(efficiencies([](const Calibration&) { return true; })),
          "estimated: median of all calibrated models on other devices", false};
}

/// Shares `total` among the layers by their FLOPs. Each share ends at a rounded point of the
/// whole, so that they add up to it.
class Divider {
 public:
  Divider(Duration total, double flops) : total_(total), flops_(flops) {}

  Duration next(double flops) {
    passed_ += flops;
    const Duration end = passed_ >= flops_ ? total_ : part(passed_ / flops_);
    return end - std::exchange(given_, end);
  }

 private:
  Duration part(double share) const {
    return Duration(std::llround(static_cast<double>(total_.count()) * share));
  }

  Duration total_;
  double flops_;
  double passed_ = 0;
  Duration given_{0};
};

Duration step_time(const Model& model, const Device& device, int batch, double eff) {
  const double time = step_flops(model, batch) / (device.peak_flops * eff);
  if (time >= kLongestStep) {
    throw SpecError(
        fmt::format("model {} with batch {} on {}: a step would take {:.3g} years; "
                    "choose a smaller model or batch",
                    model.name, batch, device.name, time / (365.25 * 86400)));
  }
  return from_seconds(time);
}

/// Not of a model that was changed: its name is that of the published one.
std::optional<Profile> measured(const Model& model, const Device& device, int batch) {
  const std::optional<Model> published = find(model.name);
  if (!published || published->trainable() != model.trainable() ||
      published->forward_flops() != model.forward_flops()) {
    return {};
  }
  return find_profile(model.name, device.name, batch);
}

}  // namespace

std::span<const Device> devices() { return kDevices; }

std::optional<Device> find_device(std::string_view name) {
  const auto equal = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (const Device& device : kDevices) {
    if (std::ranges::equal(device.name, name, equal)) return device;
  }
  return {};
}

std::span<const Calibration> calibrations() { return kCalibrations; }

double efficiency(const Calibration& row) {
  const std::optional<Model> model = find(row.model);
  const std::optional<Device> device = find_device(row.device);
  check(model && device, "a calibration names a known model and device");
  return step_flops(*model, row.batch) / seconds(row.iteration) / device->peak_flops;
}

ComputeTime compute_time(const Model& model, const Device& device, int batch) {
  check(batch >= 1, "a step has at least one sample");
  check(device.peak_flops > 0, "a device computes");
  ComputeTime result{.forward = {},
                     .backward = {},
                     .efficiency = 0,
                     .source = "no FLOPs known",
                     .calibrated = false,
                     .layers = {}};
  const double flops = model.forward_flops();
  if (const auto profile = measured(model, device, batch)) {
    result.forward = profile->forward + profile->optimizer;
    result.backward = profile->backward;
    result.efficiency = step_flops(model, batch) / seconds(result.total()) / device.peak_flops;
    result.source = fmt::format("measured on {}", device.summary);
    result.calibrated = true;
  } else if (flops > 0) {
    Efficiency found = efficiency_of(model, device);
    const Duration total = step_time(model, device, batch, found.value);
    result.forward = total / 3;
    result.backward = total - result.forward;
    result.efficiency = found.value;
    result.source = std::move(found.source);
    result.calibrated = found.calibrated;
  }
  Divider forward(result.forward, flops);
  Divider backward(result.backward, flops);
  for (const Layer& layer : model.layers) {
    result.layers.push_back(
        {layer.name, forward.next(layer.forward_flops), backward.next(layer.forward_flops)});
  }
  return result;
}

}  // namespace tw::zoo
