// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/stranger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tw::capture {
namespace {

using namespace std::string_view_literals;

struct Known {
  std::string_view magic;
  std::string_view description;
};

constexpr auto kToPcapng = "convert it first: editcap -F pcapng FILE FILE.pcapng"sv;

constexpr std::array kKnown = {
    Known{"snoop\0\0\0"sv, "a snoop capture (Solaris)"},
    Known{"RTSS"sv, "a Microsoft Network Monitor 1 capture"},
    Known{"GMBU"sv, "a Microsoft Network Monitor 2 capture"},
    Known{"TRSNIFF data    \x1a"sv, "a Sniffer capture"},
    Known{"XCP\0"sv, "a NetXRay or Sniffer capture"},
    Known{"\x7fVT"sv, "a Visual Networks capture"},
    Known{"btsnoop\0"sv, "a Bluetooth snoop capture"},
};

constexpr std::array kPacked = {
    Known{"\xfd"
          "7zXZ\0"sv,
          "xz -dk"},
    Known{"BZh"sv, "bzip2 -dk"},
    Known{"\x04\x22\x4d\x18"sv, "lz4 -dk"},
    Known{"PK\x03\x04"sv, "unzip"},
};

bool is_text_byte(std::byte b) {
  const auto c = std::to_integer<unsigned char>(b);
  return c >= 0x20 ? c != 0x7f : c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0x1b;
}

bool is_text(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), is_text_byte);
}

/// The first line, as far as it is plain and short.
std::string quoted_beginning(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string line;
  for (const char c : text.substr(0, kMost)) {
    if (c == '\n' || c == '\r') break;
    line += c >= ' ' && c <= '~' ? c : '?';
  }
  return line;
}

}  // namespace

std::string stranger_description(std::span<const std::byte> first_bytes) {
  const std::string_view text(reinterpret_cast<const char*>(first_bytes.data()),
                              first_bytes.size());
  if (text.empty()) {
    return "the file is empty; a capture has a header even without packets, so its recorder never "
           "began "
           "or wrote elsewhere";
  }
  if (text.size() < 4) {
    return fmt::format(
        "the file has only {} bytes, too few for any capture; its recorder was stopped at once",
        text.size());
  }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    return "this is text in UTF-16, as PowerShell's > writes it; make it UTF-8 first: iconv -f "
           "UTF-16 "
           "-t UTF-8 FILE > FILE.txt";
  }
  if (text.size() >= 262 && text.substr(257, 5) == "ustar")
    return "this is an archive; unpack it first: tar -xf FILE, and give the folder";
  for (const auto& [magic, description] : kKnown) {
    if (text.starts_with(magic)) return fmt::format("this is {}; {}", description, kToPcapng);
  }
  for (const auto& [magic, command] : kPacked) {
    if (text.starts_with(magic)) {
      return fmt::format(
          "this is packed in a way that is not undone here; unpack it first: {} FILE", command);
    }
  }
  if (is_text(first_bytes)) {
    return fmt::format(
        "this is text (it begins \"{}\"), not a capture; record one with: tcpdump -w FILE",
        quoted_beginning(text));
  }
  return fmt::format(
      "neither pcap nor pcapng (it begins with the bytes {:02x}); if Wireshark opens it, {}",
      fmt::join(first_bytes.first(std::min<std::size_t>(first_bytes.size(), 4)), " "), kToPcapng);
}

}  // namespace tw::capture
