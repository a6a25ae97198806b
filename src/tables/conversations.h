// SPDX-License-Identifier: Apache-2.0
// What tshark -q -z conv,ip (or tcp, ipv6, udp) prints: "A <-> B   frames bytes   frames bytes   frames bytes ...", of which the first
// two are from B to A.

#pragma once

#include "trainwire/tables/flow_records.h"

#include <string_view>

namespace tw::tables {

bool is_conversations(std::string_view text);

/// Tables of several layers tell of the same packets: the first one's rows are taken. Amounts are rounded as they are
/// printed ("3632 kB").
void read_conversations(std::string_view text, FlowRecords& into);

}  // namespace tw::tables
