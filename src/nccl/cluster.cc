// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/cluster.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace tw::nccl {
namespace {

constexpr int kMostNics = 64;
constexpr int kMostRanks = 1 << 20;

// NVLinks times what NCCL 2.28 counts for each (src/graph/topo.h).
constexpr std::array kGpus{
    Gpu{"v100", Generation::Volta, 6 * 20.0, 12},
    Gpu{"a100", Generation::Ampere, 12 * 20.0, 24},
    Gpu{"a800", Generation::Ampere, 8 * 20.0, 24},
    Gpu{"h100", Generation::Hopper, 18 * 20.6, 48},
    Gpu{"h200", Generation::Hopper, 18 * 20.6, 48},
    Gpu{"h800", Generation::Hopper, 8 * 20.6, 48},
    Gpu{"h20", Generation::Hopper, 18 * 20.6, 48},
    Gpu{"b200", Generation::Blackwell, 18 * 40.1, 48},
};

}  // namespace

std::vector<Gpu> gpus() { return {kGpus.begin(), kGpus.end()}; }

std::optional<Gpu> find_gpu(std::string_view name) {
  std::string lower(name.substr(0, 200));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const Gpu& gpu : kGpus) {
    const std::size_t at = lower.find(gpu.name);
    if (at == std::string::npos) continue;
    // "h20" is not in "h200".
    const std::size_t end = at + gpu.name.size();
    if (end < lower.size() && std::isdigit(static_cast<unsigned char>(lower[end])) != 0) continue;
    return gpu;
  }
  return std::nullopt;
}

std::optional<Nics> parse_nics(std::string_view text) {
  Nics nics;
  const std::size_t times = text.find('x');
  if (times != text.npos) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + times, nics.count);
    if (error != std::errc() || end != text.data() + times) return std::nullopt;
    text.remove_prefix(times + 1);
  }
  const auto rate = parse_rate(text);
  if (!rate || rate->bits_per_second() <= 0) return std::nullopt;
  if (nics.count < 1 || nics.count > kMostNics) return std::nullopt;
  nics.rate = *rate;
  return nics;
}

std::optional<BitRate> parse_bandwidth(std::string_view text) {
  constexpr std::string_view kBytes = "B/s";
  if (!text.ends_with(kBytes)) return parse_rate(text);
  text.remove_suffix(kBytes.size());
  const auto rate = parse_rate(std::string(text) + "bit");
  if (!rate) return std::nullopt;
  return *rate * 8;
}

int Cluster::hosts() const { return intra == Intra::None ? ranks : ranks / per_host; }

int Cluster::ranks_of_host() const { return intra == Intra::None ? 1 : per_host; }

double Cluster::nics_of_host() const {
  return intra == Intra::None ? static_cast<double>(nics.count) / per_host : nics.count;
}

void require_possible(const Cluster& cluster) {
  if (cluster.ranks < 2 || cluster.ranks > kMostRanks) {
    throw SpecError(fmt::format("--ranks: {} cannot be; write 2 to {}", cluster.ranks, kMostRanks));
  }
  if (cluster.per_host < 1 || cluster.ranks % cluster.per_host != 0) {
    throw SpecError(fmt::format("--per-host: {} ranks do not fill hosts of {}", cluster.ranks,
                                cluster.per_host));
  }
  if (cluster.hosts() > 1 && cluster.nics.rate.bits_per_second() <= 0) {
    throw SpecError(
        "--nic: ranks are on several hosts, so what joins them must be told; write 2x200Gbit");
  }
}

std::string describe(const Cluster& cluster) {
  const char* const inside = cluster.intra == Intra::NvLink ? "NVLink"
                             : cluster.intra == Intra::Pcie ? "PCIe"
                                                            : "network only";
  const int hosts = cluster.ranks / cluster.per_host;
  std::string text = fmt::format("{} ranks, {} host{} of {} {}", cluster.ranks, hosts,
                                 hosts == 1 ? "" : "s", cluster.per_host, cluster.gpu.name);
  if (cluster.per_host > 1) text += fmt::format(" ({})", inside);
  if (hosts == 1 && cluster.intra != Intra::None) return text;
  return text + fmt::format(", {} x {} a host ({})", cluster.nics.count,
                            readable(cluster.nics.rate),
                            cluster.transport == Transport::Ib ? "RDMA" : "TCP");
}

}  // namespace tw::nccl
