// SPDX-License-Identifier: Apache-2.0
// How NCCL has wired a job, from the logs of all its ranks together, and what is wrong with it.

#pragma once

#include "trainwire/operations/told.h"

#include <string>
#include <vector>

namespace tw::operations {

/// Logs of ranks as one.
Wiring wired(const std::vector<Told>& told);

struct Remark {
  std::string
      kind;  ///< several_networks, wrong_interface, socket_fallback, one_nic, wiring, nccl_warning
  std::string text;
  bool is_trouble;
};
/// Trouble first.
std::vector<Remark> remarks_on(const Wiring& wiring);

/// What NCCL warns of its own network, in a sentence; "" where nothing of it failed.
std::string failure_text(const Wiring& wiring);

/// "host1", "rank 1" where its host is not known.
std::string place_of(const Wiring& wiring, int rank);

/// Bytes that ranks put on the wire for an operation that goes round a ring, all together, with what NCCL's protocol adds
/// (ll sends a flag with every word, ll128 with every fifteenth). Nothing for other algorithms and operations.
std::optional<double> ring_wire_bytes(const Operation& operation);

}  // namespace tw::operations
