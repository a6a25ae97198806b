// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/processes.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
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
  const std::string text = text_of(fmt::format("/proc/{}/stat", process));
  const std::size_t bracket = text.rfind(')');
  if (bracket == std::string::npos) return {};
  std::istringstream rest(text.substr(bracket + 1));
  std::string state;
  int parent = 0;
  if (!(rest >> state >> parent)) return {};
  return parent;
}

std::optional<std::uint64_t> counter_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (!(file >> number)) return {};
  return number;
}

/// Of Linux' rdma drivers, in the folders of a port.
struct Troubles {
  const char* folder;
  std::vector<const char*> counters;
};
const std::array<Troubles, 2> kTroubles{
    {{"hw_counters",
      {"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err",
       "implied_nak_seq_err", "roce_adp_retrans", "np_cnp_sent", "rp_cnp_handled",
       "np_ecn_marked_roce_packets", "rx_icrc_encapsulated", "out_of_buffer"}},
     {"counters",
      {"port_xmit_packets", "port_rcv_packets", "port_xmit_wait", "symbol_error", "link_downed"}}}};

/// `take` gets "mlx5_0/1" and the port's folder.
void for_each_port(const std::string& root,
                   const std::function<void(const std::string&, const fs::path&)>& take) {
  std::error_code error;
  for (fs::directory_iterator card(root, error), end; !error && card != end;
       card.increment(error)) {
    std::error_code inner;
    for (fs::directory_iterator port(card->path() / "ports", inner); !inner && port != end;
         port.increment(inner)) {
      take(card->path().filename().string() + "/" + port->path().filename().string(), port->path());
    }
  }
}

/// Its files may be listed by its owner; what they are is told to those alone who could trace it.
bool is_closed(int process) {
  std::error_code error;
  const fs::directory_iterator at(fmt::format("/proc/{}/fd", process), error);
  if (error) return error == std::errc::permission_denied;
  if (at == fs::directory_iterator()) return false;
  const fs::path target = fs::read_symlink(at->path(), error);
  return target.empty() && error == std::errc::permission_denied;
}

}  // namespace

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text, '\0');  // not by iterators, which throw when the process ends meanwhile
  return text;
}

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

std::size_t closed_among(const std::vector<int>& processes) {
  return static_cast<std::size_t>(std::count_if(processes.begin(), processes.end(), is_closed));
}

std::map<std::uint64_t, int> networks_of(const std::vector<int>& processes) {
  std::map<std::uint64_t, int> networks;
  for (const int process : processes) {
    struct stat found = {};
    const std::string path = fmt::format("/proc/{}/ns/net", process);
    if (::stat(path.c_str(), &found) == 0) networks.try_emplace(found.st_ino, process);
  }
  return networks;
}

std::map<std::uint64_t, int> socket_owners(const std::vector<int>& processes) {
  std::map<std::uint64_t, int> owners;
  std::size_t looked_into = 0;
  for (const int process : processes) {
    std::error_code error;
    fs::directory_iterator at(fmt::format("/proc/{}/fd", process), error);
    if (error || is_closed(process)) continue;
    ++looked_into;
    for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
      std::error_code gone;
      const std::string target = fs::read_symlink(at->path(), gone).string();
      constexpr std::string_view kSocket = "socket:[";
      if (gone || !target.starts_with(kSocket)) continue;
      const auto inode = number_in<std::uint64_t>(
          std::string_view(target).substr(kSocket.size(), target.size() - kSocket.size() - 1));
      if (inode) owners.insert_or_assign(*inode, process);
    }
  }
  if (looked_into == 0) {
    throw SystemError(
        "looking into the job's processes: not permitted; watch as the job's user or as root");
  }
  return owners;
}

Devices parse_devices(std::string_view text) {
  Devices devices;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream fields(line.substr(colon + 1));
    const std::vector<std::uint64_t> numbers{std::istream_iterator<std::uint64_t>(fields), {}};
    const std::size_t begin = line.find_first_not_of(' ');
    const std::string name = line.substr(begin, colon - begin);
    if (numbers.size() < 12 || name == "lo") continue;
    devices[name] = {.received = numbers[0],
                     .sent = numbers[8],
                     .dropped = numbers[3] + numbers[11],
                     .errors = numbers[2] + numbers[10]};
  }
  return devices;
}

Devices rdma_ports(const std::string& root) {
  Devices ports;
  for_each_port(root, [&](const std::string& name, const fs::path& port) {
    const fs::path counters = port / "counters";
    ports[name] = {.received = 4 * counter_in(counters / "port_rcv_data").value_or(0),
                   .sent = 4 * counter_in(counters / "port_xmit_data").value_or(0),
                   .dropped = counter_in(counters / "port_xmit_discards").value_or(0),
                   .errors = counter_in(counters / "port_rcv_errors").value_or(0)};
  });
  return ports;
}

std::map<std::string, std::uint64_t> rdma_counters(const std::string& root) {
  std::map<std::string, std::uint64_t> found;
  for_each_port(root, [&](const std::string& name, const fs::path& port) {
    for (const auto& [folder, counters] : kTroubles) {
      for (const char* counter : counters) {
        const auto number = counter_in(port / folder / counter);
        if (number) found[fmt::format("{} {}", name, counter)] = *number;
      }
    }
  });
  return found;
}

std::map<std::string, double> rdma_rates(const std::string& root) {
  std::map<std::string, double> rates;
  for_each_port(root, [&](const std::string& name, const fs::path& port) {
    std::ifstream file(port / "rate");  // "400 Gb/sec (4X NDR)"
    double number = 0;
    std::string unit;
    if (file >> number >> unit && unit == "Gb/sec" && number > 0) rates[name] = 1e9 * number;
  });
  return rates;
}

}  // namespace tw::attach
