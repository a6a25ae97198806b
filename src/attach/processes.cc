// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/processes.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>

namespace tw::attach {
namespace {

namespace fs = std::filesystem;

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

/// The parent in /proc/PID/stat, whose second field may hold anything but ends with the last bracket.
std::optional<int> parent_of(int process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) return {};
  std::istringstream rest(text.substr(bracket + 1));
  std::string state;
  int parent = 0;
  if (!(rest >> state >> parent)) return {};
  return parent;
}

std::uint64_t counter_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  file >> number;
  return file ? number : 0;
}

}  // namespace

std::vector<int> family_of(int process) {
  if (!fs::exists(fmt::format("/proc/{}", process))) {
    throw SystemError(fmt::format(
        "watching process {}: there is none; `pgrep -f train.py` finds a job's", process));
  }
  std::map<int, std::vector<int>> children;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const auto number = number_in<int>(at->path().filename().string());
    const auto parent = number ? parent_of(*number) : std::nullopt;
    if (parent) children[*parent].push_back(*number);
  }
  std::vector<int> family{process};
  for (std::size_t i = 0; i < family.size() && family.size() < 100'000; ++i) {
    const auto found = children.find(family[i]);
    if (found != children.end())
      family.insert(family.end(), found->second.begin(), found->second.end());
  }
  return family;
}

std::set<std::uint64_t> socket_inodes(const std::vector<int>& processes) {
  std::set<std::uint64_t> inodes;
  std::size_t looked_into = 0;
  for (const int process : processes) {
    std::error_code error;
    fs::directory_iterator at(fmt::format("/proc/{}/fd", process), error);
    if (error) continue;
    ++looked_into;
    for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
      std::error_code gone;
      const std::string target = fs::read_symlink(at->path(), gone).string();
      constexpr std::string_view kSocket = "socket:[";
      if (gone || !target.starts_with(kSocket)) continue;
      const auto inode = number_in<std::uint64_t>(
          std::string_view(target).substr(kSocket.size(), target.size() - kSocket.size() - 1));
      if (inode) inodes.insert(*inode);
    }
  }
  if (looked_into == 0) {
    throw SystemError(
        "looking into the job's processes: not permitted; watch as the job's user or as root");
  }
  return inodes;
}

std::map<std::string, DeviceBytes> parse_devices(std::string_view text) {
  std::map<std::string, DeviceBytes> devices;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream fields(line.substr(colon + 1));
    const std::vector<std::uint64_t> numbers{std::istream_iterator<std::uint64_t>(fields), {}};
    const std::size_t begin = line.find_first_not_of(' ');
    const std::string name = line.substr(begin, colon - begin);
    if (numbers.size() >= 9 && name != "lo") devices[name] = {numbers[0], numbers[8]};
  }
  return devices;
}

std::map<std::string, DeviceBytes> rdma_ports() {
  std::map<std::string, DeviceBytes> ports;
  std::error_code error;
  for (fs::directory_iterator card("/sys/class/infiniband", error), end; !error && card != end;
       card.increment(error)) {
    std::error_code inner;
    for (fs::directory_iterator port(card->path() / "ports", inner); !inner && port != end;
         port.increment(inner)) {
      const fs::path counters = port->path() / "counters";
      ports[card->path().filename().string() + "/" + port->path().filename().string()] = {
          4 * counter_in(counters / "port_rcv_data"), 4 * counter_in(counters / "port_xmit_data")};
    }
  }
  return ports;
}

}  // namespace tw::attach
