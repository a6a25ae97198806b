// SPDX-License-Identifier: Apache-2.0
// The verdict by what ranks told of their collectives, alone or beside the one by packets.
//
// Named is a cause that takes a tenth of a step. A late rank is told from a slow wire by arrivals: where one rank comes
// after all others, they wait; where all are there and it still takes long, it is the transfer.
//
// Limits: a transfer is not taken apart by links: in a ring all ranks are as slow as the slowest way. Packets, or
// messages between pairs, tell which.

#pragma once

#include "trainwire/operations/imported.h"
#include "trainwire/record/run.h"

#include <optional>
#include <string>
#include <string_view>

namespace tw::operations {

/// Of the files alone.
record::Verdict verdict_of(const Imported& imported);
/// Parts of a step; nothing where no file tells times.
std::optional<record::Accounting> accounting_of(const Imported& imported);
/// What packets say of a host that begins late, `late`, where arrivals that all ranks tell say otherwise: "" where they agree, or
/// do not know. `host` is whom files call late, as packets name it; "" where that is nobody, or has no address.
std::string contradiction(const record::Straggler& late, const Imported& imported,
                          const std::string& host);

/// `packets` is the verdict by packets of the same job. Who came last ranks' own arrivals tell, from which packets are silent or
/// wrong: where both differ, `contradiction`, the files' verdict is given, and it is said.
record::Verdict of_both(const record::Verdict& packets, const record::Verdict& files,
                        std::string_view contradiction = {});

}  // namespace tw::operations
