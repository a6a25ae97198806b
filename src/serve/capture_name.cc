// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/capture_name.h"

#include <algorithm>
#include <array>

namespace tw::serve {
namespace {

constexpr std::array<std::string_view, 6> kEndings{".zst",  ".gz",  ".pcapng",
                                                   ".pcap", ".cap", ".ntar"};
constexpr std::string_view kEnding = ".pcap";
constexpr std::size_t kMostBytes = 120;
constexpr std::string_view kAllowed =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

/// The ending that `name` has after at least one other character; "" for none.
std::string_view ending_of(std::string_view name) {
  for (const std::string_view ending : kEndings) {
    if (name.ends_with(ending) && name.size() > ending.size()) return ending;
  }
  return "";
}

}  // namespace

std::string capture_name(std::string_view sent) {
  // npos + 1 is 0: no part of a path is left out.
  sent.remove_prefix(sent.find_last_of("/\\") + 1);
  sent.remove_prefix(std::min(sent.find_first_not_of('.'), sent.size()));
  std::string name(sent);
  for (char& c : name) {
    if (kAllowed.find(c) == kAllowed.npos) c = '_';
  }
  if (name.empty()) name = "capture";
  if (ending_of(name).empty()) name += kEnding;
  if (name.size() > kMostBytes) name.replace(kMostBytes - kEnding.size(), name.npos, kEnding);
  return name;
}

std::string stem_of(std::string_view name) {
  while (!ending_of(name).empty()) name.remove_suffix(ending_of(name).size());
  return std::string(name);
}

}  // namespace tw::serve
