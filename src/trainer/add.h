// SPDX-License-Identifier: Apache-2.0
// Arithmetic on payloads.

#pragma once

#include <cstddef>

namespace tw::trainer {

/// into[i] += from[i]; `from` need not be aligned.
void add(float* into, const std::byte* from, std::size_t count);
/// into[i] = (into[i] + from[i]) / 2.
void average(float* into, const std::byte* from, std::size_t count);

}  // namespace tw::trainer
