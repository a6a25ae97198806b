// SPDX-License-Identifier: Apache-2.0
// Names for captures that somebody sends.

#pragma once

#include <string>
#include <string_view>

namespace tw::serve {

/// The last part of a path, of letters, digits and "._-" only (others become "_"), not beginning
/// with a dot, ending like a capture (".pcap" is added otherwise), of at most 120 bytes.
std::string capture_name(std::string_view sent);

/// "job.pcapng.zst" gives "job".
std::string stem_of(std::string_view capture_name);

}  // namespace tw::serve
