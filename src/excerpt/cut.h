// SPDX-License-Identifier: Apache-2.0
// Packets of captures, selected, in one pcapng file: in the order of time, on the first file's clock.

#pragma once

#include "trainwire/excerpt/selection.h"
#include "trainwire/gather/captured.h"

#include <cstdint>
#include <span>
#include <string>

namespace tw::excerpt {

/// Reads the files again and writes what is selected to `path`. `files` are those of the captures
/// that the selection is of; a drift of their clocks, which is rare, is not taken out. Returns how
/// many packets were written. Throws SystemError, and SpecError when there is a file at `path`
/// already or a capture came from standard input.
std::uint64_t cut(std::span<const gather::FileSummary> files, const Selection& selection,
                  const std::string& path);

}  // namespace tw::excerpt
