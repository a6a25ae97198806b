// SPDX-License-Identifier: Apache-2.0
// What TCP, the emulated queues and the machine said while a run lasted, over time.

#pragma once

#include "trainwire/report/limits.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace tw::report {

/// Tables are read twice, first for their span and their busiest, and are named by their files.
/// Each returns null when the table is not there or has no row.

/// {"start_s", "bucket_s", "connections": [{"name", "samples", "retransmitted", "rtt_mean_s",
/// "rtt_max_s", "rtt", "rtt_max", "window", "retransmissions"}], "left_off"}: those with the most
/// samples that had something queued first. rtt in seconds, window in bytes, retransmissions so
/// far.
nlohmann::ordered_json sockets_document(const std::string& path, std::int64_t origin_ns,
                                        const Limits& limits);
/// {"start_s", "bucket_s", "hosts": [{"name", "queue"}]}: the fullest queue of each bucket in
/// bytes.
nlohmann::ordered_json queues_document(const std::string& path, std::int64_t origin_ns,
                                       const Limits& limits);
/// {"start_s", "bucket_s", "busy", "steal", "wait"}: shares, mean of each bucket.
nlohmann::ordered_json load_document(const std::string& path, std::int64_t origin_ns,
                                     const Limits& limits);

}  // namespace tw::report
