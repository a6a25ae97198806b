// SPDX-License-Identifier: Apache-2.0
// How long a device computes: FLOPs, batch and a per-model efficiency into forward and backward
// times.
//
// Where the device was at hand, times are those measured (profile.h). Elsewhere
// time = FLOPs / (peak * efficiency). The efficiency of a model on a device is calibrated from an
// iteration time that a paper prints (calibrations() lists them); where no paper does, the
// architecture's other variant stands in, then the median of the device's calibrations, then the
// median of all, and the estimate is marked so. Backward costs twice forward. Layers share the time
// in proportion to their FLOPs. A changed head or sequence keeps the model's efficiency.
//
// Limits: times grow in proportion to the batch; memory-bound layers and kernel launches are not
// modelled; a calibration from a published *iteration* time includes whatever communication that
// iteration did not hide, and whatever precision it used: peaks are those of plain float32, so an
// efficiency may pass 1 where tensor cores did the work.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/zoo/model.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::zoo {

struct Device {
  std::string_view name;     ///< "a100"
  std::string_view summary;  ///< "NVIDIA A100 40 GB"
  double peak_flops;         ///< float32 operations per second, vendor's figure
  std::string_view source;   ///< of the peak
};

std::span<const Device> devices();
/// Letter case does not count. Nothing when no device has that name.
std::optional<Device> find_device(std::string_view name);

/// An iteration time that a paper prints for one rank's batch.
struct Calibration {
  std::string_view model;
  std::string_view device;
  int batch;
  Duration iteration;
  std::string_view source;
};

std::span<const Calibration> calibrations();

/// FLOPs per second that the row's iteration achieved, relative to its device's peak.
double efficiency(const Calibration& row);

struct LayerTime {
  std::string layer;
  Duration forward;
  Duration backward;
};

struct ComputeTime {
  Duration forward;
  Duration backward;
  double efficiency;
  /// Where the efficiency comes from: "salamy Table 3.1", "estimated from resnet50-torchvision
  /// (salamy Table 3.1)" or "estimated: median of a100's calibrated models".
  std::string source;
  bool calibrated;                ///< a paper's time for this model on this device
  std::vector<LayerTime> layers;  ///< forward order

  Duration total() const { return forward + backward; }
};

/// One step of one rank with `batch` samples. All zero for a model without FLOPs. Throws SpecError
/// when the step would take longer than a Duration holds (291 years). REQUIRES: batch >= 1.
ComputeTime compute_time(const Model& model, const Device& device, int batch);

}  // namespace tw::zoo
