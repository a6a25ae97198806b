// SPDX-License-Identifier: Apache-2.0
// Any bytes may be a request's head, a run's id or a capture's name. The input is lines: method,
// path, host, origin, site, token; then an id; then a name.

#include "trainwire/base/error.h"
#include "trainwire/serve/capture_name.h"
#include "trainwire/serve/guard.h"
#include "trainwire/serve/refusal.h"
#include "trainwire/serve/root.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace tw;
using namespace tw::serve;

namespace {

constexpr const char* kToken = "00112233445566778899aabbccddeeff";

std::string next_line(std::string_view& text) {
  const std::string line(text.substr(0, text.find('\n')));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

void check_head(std::string_view& text) {
  RequestHead head{.method = next_line(text), .path = next_line(text), .hosts = {next_line(text)}};
  head.origin = next_line(text);
  if (head.origin->empty()) head.origin.reset();
  head.fetch_site = next_line(text);
  head.header_token = head.query_token = next_line(text);
  try {
    require_allowed({.port = 80, .token = kToken}, head);
  } catch (const Refusal& refusal) {
    check(refusal.status() >= 403 && refusal.status() <= 405, "a refusal says why");
    return;
  }
  check(head.header_token == kToken, "nobody comes in without the token");
  check(head.hosts.front().ends_with(":80") && head.path.front() == '/', "nor from elsewhere");
  check(!head.origin || *head.origin == "http://" + head.hosts.front(), "nor by another's page");
}

/// The root is a folder without runs: whatever the id, there is none.
void check_id(const std::string& id) {
  static const Root kRoot("/proc/self/fdinfo");
  try {
    kRoot.folder_of(id);
  } catch (const Refusal&) {
    return;
  }
  check(false, "there is no run outside of the root");
}

void check_name(const std::string& sent) {
  const std::string name = capture_name(sent);
  check(!name.empty() && name.size() <= 120 && name.front() != '.', "a name is short and visible");
  for (const char c : name) {
    check(std::string_view("._-").find(c) != std::string_view::npos || (c >= '0' && c <= '9') ||
              (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'),
          "a name is plain");
  }
  check(capture_name(name) == name, "a plain name stays");
  check(name.starts_with(stem_of(name)) && !stem_of(name).empty(), "a name has a stem");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  check_head(text);
  check_id(next_line(text));
  check_name(std::string(text));
  return 0;
}
