// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/sockets.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <unordered_map>

namespace tw::programs {
namespace {

constexpr std::size_t kLongestWalk = 64;

template <typename T>
std::optional<T> number(std::string_view text, int base) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// The kernel writes addresses as words of 32 bits in the machine's order.
std::optional<std::string> address_of(std::string_view hex) {
  if (hex.size() != 8 && hex.size() != 32) return {};
  std::array<std::uint32_t, 4> words = {};
  for (std::size_t i = 0; i < hex.size() / 8; ++i) {
    const auto word = number<std::uint32_t>(hex.substr(8 * i, 8), 16);
    if (!word) return {};
    words[i] = *word;
  }
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const bool mapped =
      hex.size() == 32 && words[0] == 0 && words[1] == 0 && words[2] == htonl(0x0000FFFF);
  if (hex.size() == 8 || mapped) {
    in_addr address{.s_addr = hex.size() == 8 ? words[0] : words[3]};
    const std::uint32_t host = ntohl(address.s_addr);
    if (host == 0 || host >> 24 == 127) return {};
    return ::inet_ntop(AF_INET, &address, text.data(), text.size());
  }
  in6_addr address = {};
  std::memcpy(&address, words.data(), sizeof address);
  if (IN6_IS_ADDR_UNSPECIFIED(&address) || IN6_IS_ADDR_LOOPBACK(&address)) return {};
  return ::inet_ntop(AF_INET6, &address, text.data(), text.size());
}

std::string whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The process's parent: the fourth word of its state, behind a name in brackets.
std::optional<pid_t> parent_of(pid_t pid) {
  const std::string text = whole(fmt::format("/proc/{}/stat", pid));
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream words(text.substr(end + 1));
  std::string state;
  pid_t parent = 0;
  if (!(words >> state >> parent)) return {};
  return parent;
}

std::vector<std::uint64_t> inodes_of(pid_t pid) {
  std::vector<std::uint64_t> inodes;
  std::error_code ignored;
  const std::filesystem::path folder = fmt::format("/proc/{}/fd", pid);
  for (auto at = std::filesystem::directory_iterator(folder, ignored);
       !ignored && at != std::filesystem::directory_iterator(); at.increment(ignored)) {
    std::error_code none;
    std::string target = std::filesystem::read_symlink(at->path(), none).string();
    if (!target.starts_with("socket:[") || !target.ends_with("]")) continue;
    const auto inode =
        number<std::uint64_t>(std::string_view(target).substr(8, target.size() - 9), 10);
    if (inode) inodes.push_back(*inode);
  }
  return inodes;
}

}  // namespace

std::vector<SocketLine> parse_sockets(std::string_view text) {
  std::vector<SocketLine> sockets;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::vector<std::string> words;
    for (std::string word; fields >> word && words.size() < 10;) words.push_back(word);
    if (words.size() < 10) continue;
    const std::size_t colon = words[1].find(':');
    if (colon == std::string::npos) continue;
    const std::string_view local = words[1];
    const auto address = address_of(local.substr(0, colon));
    const auto port = number<std::uint16_t>(local.substr(colon + 1), 16);
    const auto inode = number<std::uint64_t>(words[9], 10);
    if (!address || !port || !inode || *inode == 0) continue;
    sockets.push_back({.address = *address, .port = *port, .inode = *inode});
  }
  return sockets;
}

void Sockets::look() {
  // Processes of each job: those from which a walk along parents ends at one of its ranks.
  std::unordered_map<pid_t, pid_t> parents;
  std::error_code ignored;
  for (auto at = std::filesystem::directory_iterator("/proc", ignored);
       !ignored && at != std::filesystem::directory_iterator(); at.increment(ignored)) {
    const auto pid = number<pid_t>(at->path().filename().string(), 10);
    if (!pid) continue;
    if (const auto parent = parent_of(*pid)) parents[*pid] = *parent;
  }
  std::map<std::string, std::unordered_map<std::uint64_t, SocketLine>> networks;
  for (const auto& [pid, ignored_parent] : parents) {
    std::size_t steps = 0;
    pid_t at = pid;
    while (!roots_.contains(at) && parents.contains(at) && ++steps < kLongestWalk) at = parents[at];
    const auto root = roots_.find(at);
    if (root == roots_.end()) continue;
    std::error_code none;
    const std::string network =
        std::filesystem::read_symlink(fmt::format("/proc/{}/ns/net", pid), none).string();
    if (none) continue;
    const auto [table, is_new] = networks.try_emplace(network);
    if (is_new) {
      for (const char* name : {"tcp", "tcp6"}) {
        for (SocketLine& line : parse_sockets(whole(fmt::format("/proc/{}/net/{}", pid, name)))) {
          table->second.emplace(line.inode, line);
        }
      }
    }
    for (const std::uint64_t inode : inodes_of(pid)) {
      const auto line = table->second.find(inode);
      if (line == table->second.end()) continue;
      endpoints_[root->second].emplace(line->second.address, line->second.port);
    }
  }
}

std::vector<std::vector<transport::tcp::Endpoint>> Sockets::endpoints() const {
  std::map<std::pair<std::string, std::uint16_t>, int> owners;
  for (const auto& job : endpoints_) {
    for (const auto& endpoint : job) ++owners[endpoint];
  }
  std::vector<std::vector<transport::tcp::Endpoint>> result(endpoints_.size());
  for (std::size_t job = 0; job < endpoints_.size(); ++job) {
    for (const auto& endpoint : endpoints_[job]) {
      if (owners[endpoint] > 1) continue;
      result[job].push_back({.address = endpoint.first, .port = endpoint.second});
    }
  }
  return result;
}

}  // namespace tw::programs
