// SPDX-License-Identifier: Apache-2.0
// flows.csv, cross_flows.csv and pairs.csv as distributions and as a matrix.

#pragma once

#include "trainwire/report/limits.h"
#include "trainwire/result/table_reader.h"

#include <nlohmann/json.hpp>

namespace tw::report {

/// {CLASS: {"bytes", "duration_s", "rate_bps", "rtt_s"}} with a distribution() each; flows of one
/// packet have no duration and no rate, rtt_s is the mean of a flow.
nlohmann::ordered_json flows_document(result::TableReader& flows, const Limits& limits);

/// [{"traffic", "from_bytes", "to_bytes", "completion_s", "unfinished"}]: completion times by size,
/// in the classes that `run` uses: to 100 kB, to 10 MB, and more.
nlohmann::ordered_json cross_flows_document(result::TableReader& cross_flows, const Limits& limits);

/// {"hosts": [names], "bytes": [from][to], "left_off"}: the hosts that move the most.
nlohmann::ordered_json matrix_document(result::TableReader& pairs, const Limits& limits);

}  // namespace tw::report
