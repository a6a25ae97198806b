// SPDX-License-Identifier: Apache-2.0
// Bus bandwidth as nccl-tests prints it: GB/s, 10^9 bytes a second, whatever its size, so that columns of
// both can be laid side by side. Documents have bits a second, as for every rate.

#pragma once

#include <string>

namespace tw {

/// "0.00611 GB/s", four significant digits.
std::string bus_text(double bits_per_s);

}  // namespace tw
