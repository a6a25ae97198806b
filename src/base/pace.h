// SPDX-License-Identifier: Apache-2.0
// A long flow at a rate: what it may have sent grows with time. It is sent in pieces of 200 us of
// the rate, 16 KiB at least, and a flow that was held up makes up for at most 100 ms.

#pragma once

#include <cstdint>

namespace tw {

class Pace {
 public:
  /// As fast as it goes when the rate is 0.
  Pace(double bytes_per_s, std::int64_t begin_ns)
      : bytes_per_s_(bytes_per_s), begin_ns_(begin_ns), next_ns_(begin_ns) {}

  /// Bytes that may be sent now, a piece at least or none, when `sent` were before.
  std::uint64_t allowance(std::int64_t sent, std::int64_t now_ns);
  /// When it is worth to ask again.
  std::int64_t next_ns() const { return next_ns_; }

 private:
  double bytes_per_s_;
  std::int64_t begin_ns_;
  std::int64_t next_ns_;
  double forgone_ = 0;  ///< bytes that it was held up for too long to make up
};

}  // namespace tw
