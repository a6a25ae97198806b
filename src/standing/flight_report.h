// SPDX-License-Identifier: Apache-2.0
// What torchfrtrace prints of the dumps of PyTorch's flight recorder: in blocks, collectives that not all ranks of a group
// joined. Understood are "Not all ranks joining collective 5 at entry 4" (PyTorch 2.5), "..collective, sequence number: 5" and
// "..collective: sequence number: 5", with the lines that follow: "group info: 0:default_pg", "collective: nccl:all_reduce",
// "missing ranks: {1}", "input sizes: [[3, 4]]", "expected ranks: {0, 1}", before PyTorch 2.6 their number, "collective state:
// scheduled".
//
// Limits: types of elements are not told; where only the number of ranks is, who waits is known of the group of all alone.

#pragma once

#include "trainwire/operations/told.h"

#include <string_view>

namespace tw::standing {

bool is_flight_report(std::string_view text);

void read_flight_report(std::string_view text, operations::Told& told);

}  // namespace tw::standing
