// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/tail.h"

#include "trainwire/base/printable.h"

#include <fstream>

namespace tw::programs {
namespace {

constexpr std::size_t kMostBytes = 64U << 10;
/// A line that never ends is shown in pieces.
constexpr std::size_t kLongestLine = 4096;

std::string last_state(const std::string& line) {
  std::string text = line;
  while (!text.empty() && text.back() == '\r') text.pop_back();
  const std::size_t back = text.rfind('\r');
  return printable(back == std::string::npos ? text : text.substr(back + 1));
}

}  // namespace

std::vector<std::string> Tail::look() {
  std::vector<std::string> lines;
  std::ifstream file(path_, std::ios::binary);
  if (!file.seekg(read_)) return lines;
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  read_ += static_cast<long long>(text.size());
  rest_ += text;
  for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
    lines.push_back(last_state(rest_.substr(0, end)));
    rest_.erase(0, end + 1);
  }
  if (rest_.size() > kLongestLine) {
    lines.push_back(last_state(rest_));
    rest_.clear();
  }
  return lines;
}

}  // namespace tw::programs
