// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/format.h"

#include "trainwire/capture/pcap_format.h"
#include "trainwire/capture/pcapng_format.h"

#include <fmt/format.h>

namespace tw::capture {

bool Format::stop(std::int64_t offset, std::string text) {
  ended_ = true;
  damage_ = Damage{.offset = offset, .text = std::move(text)};
  return false;
}

bool Format::stop_at_end(std::string_view what, std::uint64_t needed) {
  ended_ = true;
  if (cursor_.source().failure().has_value()) {
    return stop(cursor_.offset(), *cursor_.source().failure());
  }
  if (cursor_.left() == 0) return false;
  return stop(cursor_.offset(),
              fmt::format("{} is cut off after {} of {} bytes", what, cursor_.left(), needed));
}

std::unique_ptr<Format> recognised(ByteSource& source, std::span<const std::byte> first_bytes) {
  if (is_pcap(first_bytes)) return pcap_format(source);
  if (is_pcapng(first_bytes)) return pcapng_format(source);
  return nullptr;
}

}  // namespace tw::capture
