// SPDX-License-Identifier: Apache-2.0
// A step as it was measured: forward, backward, optimizer, and when each gradient is there.
//
// What device.h computes from FLOPs is measured here. Gradients come in the order in which backward
// makes them, which is the order in which PyTorch's DDP sends them from its second step on: a
// model's last layer first, but what is used in several layers (GPT-2's embeddings) when the first
// of them is done.
//
// Limits: of other batches than those measured, times lie on the line between the two next ones
// (with one batch measured, they grow in proportion); gradients come at the same share of backward.

#pragma once

#include "trainwire/base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::zoo {

struct Gradient {
  std::int64_t elements = 0;
  Duration ready = {};  ///< after backward's begin
  bool operator==(const Gradient&) const = default;
};

struct Profile {
  Duration forward = {};
  Duration backward = {};
  Duration optimizer = {};
  /// In the order in which they are there; empty where that was not measured.
  std::vector<Gradient> gradients = {};

  Duration total() const { return forward + backward + optimizer; }
  std::int64_t elements() const;
};

/// The profile of a model by its full name, where the device has one. REQUIRES: batch >= 1.
std::optional<Profile> find_profile(std::string_view model, std::string_view device, int batch);

/// Gradients from a table: a header that has `elements` and `ready_ms` (or `ready_us`, `ready_s`),
/// a row a gradient, in any order; lines that begin with # do not count. Where the table has a
/// column `model`, rows of `model` (its full or short name, spelt as in `trainwire models`) count,
/// and where it has `batch`, those of the batch next to `batch`. Throws DataError that names `path`,
/// the line and what is wrong.
std::vector<Gradient> parse_gradients(std::string_view text, std::string_view path,
                                      std::string_view model, int batch);

}  // namespace tw::zoo
