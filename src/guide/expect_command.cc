// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/command/hosts_file.h"
#include "trainwire/guide/commands.h"
#include "trainwire/guide/expect_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <set>

namespace tw::guide {
namespace {

constexpr double kMostRows = 10'000;

struct ExpectOptions {
  std::optional<int> ranks;
  std::optional<int> per_host;
  std::string nic;
  std::string operation;  ///< empty: the file's, or all_reduce
  std::string transport = "ib";
  std::string intra;
  std::string intra_rate;
  std::string gpu;
  std::string stream = "20Gbit";
  int streams = 2;
  std::string delay;
  std::string sizes = "8B..16GB";
  std::string type = "float";
  std::string against;
  bool json = false;
};

[[noreturn]] void refuse(std::string_view option, std::string_view given, std::string_view write) {
  throw SpecError(
      fmt::format("{}: \"{}\" cannot be read; write {}", option, printable(given), write));
}

/// What was not said, from the devices that nccl-tests listed.
void take_devices(ExpectOptions& options, const nccl::PerfFile& file) {
  if (options.gpu.empty() && nccl::find_gpu(file.device)) options.gpu = file.device;
  if (file.alone) return;
  const int ranks = file.tables.front().ranks;
  if (options.ranks.value_or(ranks) == 1) {
    throw SpecError(fmt::format("{}: one rank has nobody to exchange with", options.against));
  }
  // A list with lines missing does not say who is where.
  const bool is_listed = !file.hosts.empty() && static_cast<int>(file.hosts.size()) == ranks;
  if (!options.ranks && ranks > 0 && !is_listed && !options.per_host) {
    throw SpecError(fmt::format(
        "--per-host: the file does not list which host each of its {} ranks is on; write "
        "--per-host 8, or 1",
        ranks));
  }
  if (!options.ranks && ranks > 0) options.ranks = ranks;
  if (!is_listed) return;
  const std::set<std::string> hosts(file.hosts.begin(), file.hosts.end());
  const auto count = static_cast<int>(hosts.size());
  if (!options.per_host && *options.ranks == ranks && ranks % count == 0) {
    options.per_host = ranks / count;
  }
}

bool is_known_by_name(const ExpectOptions& options, const nccl::PerfFile& file) {
  return file.device.empty() || !options.gpu.empty() || nccl::find_gpu(file.device);
}

/// What joins GPUs of a host is not guessed from another kind of GPU.
void require_known(const ExpectOptions& options, const nccl::PerfFile& file) {
  const bool is_told = !options.intra.empty() || !options.intra_rate.empty();
  if (is_known_by_name(options, file) || is_told || options.per_host.value_or(1) == 1) return;
  throw SpecError(fmt::format(
      "{}: what joins GPUs of a host is not known of {}; write --intra pcie where they have no "
      "NVLink, else --intra-rate, or --gpu with one that is like it",
      options.against, printable(file.device)));
}

nccl::Cluster cluster_of(const ExpectOptions& options) {
  if (!options.ranks) throw SpecError("--ranks: how many ranks are there? Write --ranks 16");
  nccl::Cluster cluster;
  cluster.ranks = *options.ranks;
  cluster.per_host = options.per_host.value_or(1);
  if (!options.nic.empty()) {
    const auto nics = nccl::parse_nics(options.nic);
    if (!nics) refuse("--nic", options.nic, "200Gbit, or 2x200Gbit for two of a host");
    cluster.nics = *nics;
  }
  const auto gpu = nccl::find_gpu(options.gpu.empty() ? "h100" : options.gpu);
  if (!gpu) refuse("--gpu", options.gpu, "v100, a100, h100, h200 or b200");
  cluster.gpu = *gpu;
  cluster.transport = options.transport == "ib" ? nccl::Transport::Ib : nccl::Transport::Socket;
  cluster.intra = options.intra == "pcie"   ? nccl::Intra::Pcie
                  : options.intra == "none" ? nccl::Intra::None
                                            : nccl::Intra::NvLink;
  if (!options.intra_rate.empty()) {
    const auto rate = nccl::parse_bandwidth(options.intra_rate);
    if (!rate || rate->bits_per_second() <= 0) {
      refuse("--intra-rate", options.intra_rate, "300GB/s or 2400Gbit");
    }
    cluster.intra_gbs = rate->bits_per_second() / 8e9;
  }
  const auto stream = nccl::parse_bandwidth(options.stream);
  if (!stream || stream->bits_per_second() <= 0) refuse("--stream", options.stream, "20Gbit");
  cluster.stream = *stream;
  if (options.streams < 1 || options.streams > 1024) {
    refuse("--streams", std::to_string(options.streams), "1 to 1024");
  }
  cluster.streams = options.streams;
  if (!options.delay.empty()) {
    const auto delay = parse_duration(options.delay);
    if (!delay) refuse("--delay", options.delay, "50us");
    cluster.delay = *delay;
  }
  require_possible(cluster);
  return cluster;
}

std::int64_t size_in(std::string_view word, std::string_view all) {
  // "8B" is a size for people.
  const auto bytes = parse_bytes(word);
  constexpr std::int64_t kMost = std::int64_t{1} << 44;
  if (!bytes || bytes->count() < 1 || bytes->count() > kMost) {
    refuse("--sizes", all, "8B..16GB, or sizes: 64KiB,1MiB");
  }
  return bytes->count();
}

/// "8B..16GB" in doublings, or a list.
std::vector<std::int64_t> sizes_of(std::string_view text) {
  if (const std::size_t dots = text.find(".."); dots != text.npos) {
    const std::int64_t first = size_in(text.substr(0, dots), text);
    const std::int64_t last = size_in(text.substr(dots + 2), text);
    if (first > last) refuse("--sizes", text, "the smaller first: 8B..16GB");
    return nccl::sizes(first, last, 2);
  }
  std::vector<std::int64_t> sizes;
  std::string_view left = text;
  while (!left.empty() && static_cast<double>(sizes.size()) < kMostRows) {
    const std::size_t comma = std::min(left.find(','), left.size());
    sizes.push_back(size_in(left.substr(0, comma), text));
    left.remove_prefix(std::min(comma + 1, left.size()));
  }
  if (sizes.empty()) refuse("--sizes", text, "8B..16GB, or sizes: 64KiB,1MiB");
  return sizes;
}

int print(const std::string& text, const nlohmann::ordered_json& document, bool json,
          command::Streams streams) {
  fmt::print(streams.out, "{}{}", json ? document.dump(2) : text, json ? "\n" : "");
  return 0;
}

int expect(ExpectOptions options, command::Streams streams) {
  std::optional<nccl::PerfFile> file;
  if (!options.against.empty()) {
    file = nccl::parse_perf(command::read_whole(options.against), options.against);
    take_devices(options, *file);
    require_known(options, *file);
    if (const auto told = file->tables.front().operation; told && options.operation.empty())
      options.operation = nccl::name_of(*told);
  }
  if (options.operation.empty()) options.operation = "all_reduce";
  const ExpectRequest request{.cluster = cluster_of(options),
                              .operation = *nccl::find_operation(options.operation),
                              .type = options.type};
  if (file) {
    nccl::Comparison found = compare(request.cluster, request.operation, *file);
    if (!is_known_by_name(options, *file)) {
      found.notes.push_back(fmt::format("{} is not known here: its PCIe is counted as that of {}",
                                        file->device, request.cluster.gpu.name));
    }
    return print(against_text(request, found), against_document(request, found), options.json,
                 streams);
  }
  std::vector<nccl::Expected> rows;
  for (const std::int64_t bytes : sizes_of(options.sizes)) {
    rows.push_back(nccl::expected(request.cluster, request.operation, bytes));
  }
  return print(expect_text(request, rows), expect_document(request, rows), options.json, streams);
}

}  // namespace

command::Body declare_expect(command::CommandLine& app) {
  const auto options = std::make_shared<ExpectOptions>();
  app.add_option("--ranks", options->ranks, "GPUs of the job; --against knows them").type_name("N");
  app.add_option("--per-host", options->per_host, "GPUs of a host, default 1").type_name("N");
  app.add_option("--nic", options->nic, "NICs of a host: 2x200Gbit").type_name("NxRATE");
  app.add_option("--op", options->operation, "operation, default all_reduce; --against knows it")
      .type_name("NAME")
      .one_of({"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all",
               "alltoall", "sendrecv"});
  app.add_option("--gpu", options->gpu, "v100, a100, h100 (default), h200, b200")
      .type_name("NAME")
      .suggests({"v100", "a100", "h100", "h200", "b200"});
  app.add_option("--transport", options->transport, "RDMA (ib, default) or TCP (socket)")
      .type_name("NAME")
      .one_of({"ib", "socket"});
  app.add_option("--intra", options->intra,
                 "what joins GPUs of a host: nvlink (default), pcie, or none but the network")
      .type_name("NAME")
      .one_of({"nvlink", "pcie", "none"});
  app.add_option("--intra-rate", options->intra_rate,
                 "what one GPU reaches inside its host, one way: 300GB/s; default by --gpu")
      .type_name("RATE");
  app.add_option("--stream", options->stream, "what one TCP connection carries, default 20Gbit")
      .type_name("RATE");
  app.add_option("--streams", options->streams, "TCP connections of a NIC at a time, default 2")
      .type_name("N");
  app.add_option("--delay", options->delay, "of the network, one way, besides a hop in a rack")
      .type_name("TIME");
  app.add_option("--sizes", options->sizes, "8B..16GB (default, doubling), or a list")
      .type_name("SIZES");
  app.add_option("--type", options->type, "of elements, default float")
      .type_name("NAME")
      .one_of({"int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double",
               "bfloat16", "f8e4m3", "f8e5m2"});
  app.add_option("--against", options->against, "what nccl-tests printed, or its JSON (-J)")
      .type_name("FILE");
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return expect(*options, streams); };
}

}  // namespace tw::guide
