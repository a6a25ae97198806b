// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/launch.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tw::lab {
namespace {

using network::NetPlan;

constexpr int kMasterPort = 29500;
/// Programs like to count on from it.
constexpr int kPortsOfAJob = 100;
constexpr const char* kDevice = "eth0";

/// Moves one process that mpirun started into its rank's host: the first argument lists the
/// namespaces by rank, as descriptors of the programs' first process.
constexpr const char* kEnterHost =
    "fd=$(echo \"$1\" | cut -d , -f $((OMPI_COMM_WORLD_RANK + 1))); shift; "
    "export TRAINWIRE_MARKS=\"$TRAINWIRE_MARKS$OMPI_COMM_WORLD_RANK.csv\"; "
    "[ -z \"$NCCL_HOSTID\" ] || export NCCL_HOSTID=\"$NCCL_HOSTID-$OMPI_COMM_WORLD_RANK\"; "
    "case \"$NCCL_DEBUG_FILE\" in *nccl-0.log) "
    "export NCCL_DEBUG_FILE=\"${NCCL_DEBUG_FILE%0.log}$OMPI_COMM_WORLD_RANK.log\";; esac; "
    "exec nsenter \"--net=/proc/1/fd/$fd\" \"$@\"";

std::string replaced(std::string text, const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) {
    const std::string placeholder = "{" + name + "}";
    for (std::size_t at = text.find(placeholder); at != std::string::npos;
         at = text.find(placeholder, at + value.size())) {
      text.replace(at, placeholder.size(), value);
    }
  }
  return text;
}

/// The last definition of a name counts.
class Environment {
 public:
  explicit Environment(const std::vector<std::string>& entries) {
    for (const std::string& entry : entries) set_entry(entry);
  }
  /// "NAME=value"; anything else is left out.
  void set_entry(const std::string& entry) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string::npos) set(entry.substr(0, equals), entry.substr(equals + 1));
  }
  bool has(const std::string& name) const { return values_.contains(name); }
  void set(const std::string& name, const std::string& value) { values_[name] = value; }
  void set(const std::string& name, int value) { set(name, std::to_string(value)); }
  void set_default(const std::string& name, const std::string& value) {
    values_.try_emplace(name, value);
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> result;
    for (const auto& [name, value] : values_) result.push_back(name + "=" + value);
    return result;
  }

 private:
  std::map<std::string, std::string> values_;
};

/// Where a rank stands among all.
struct Place {
  int rank;
  int host;
  int local;       ///< among the ranks of its host
  int local_size;  ///< ranks of its host
  int node;        ///< among the hosts that have ranks
};

Place place_of(const std::vector<int>& placement, int rank) {
  const int host = placement[static_cast<std::size_t>(rank)];
  const auto begin = placement.begin();
  std::vector<int> nodes;
  for (const int other : placement) {
    if (std::find(nodes.begin(), nodes.end(), other) == nodes.end()) nodes.push_back(other);
  }
  const auto node = std::find(nodes.begin(), nodes.end(), host) - nodes.begin();
  return {.rank = rank,
          .host = host,
          .local = static_cast<int>(std::count(begin, begin + rank, host)),
          .local_size = static_cast<int>(std::count(begin, placement.end(), host)),
          .node = static_cast<int>(node)};
}

const network::HostPlan& host_plan(const NetPlan& plan, int host) {
  return plan.hosts[static_cast<std::size_t>(host)];
}

/// What PyTorch, Gloo, NCCL and Open MPI read.
void add_common(Environment& environment, const LaunchRequest& request) {
  const std::string device = request.on_machines ? request.device : kDevice;
  for (const char* name : {"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "TP_SOCKET_IFNAME",
                           "OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include",
                           "PMIX_MCA_ptl_base_if_include"}) {
    if (!device.empty()) environment.set(name, device);
  }
  if (request.on_machines) return;
  // Between emulated hosts memory could be shared, which would keep the bytes off the network.
  environment.set("OMPI_MCA_btl", "tcp,self");
  environment.set("OMPI_MCA_pml", "ob1");
  environment.set("NCCL_SHM_DISABLE", "1");
  environment.set("NCCL_P2P_DISABLE", "1");
  environment.set("NCCL_IB_DISABLE", "1");
  // All ranks share this machine's processors.
  environment.set_default("OMP_NUM_THREADS", "1");
}

/// NCCL refuses a GPU to a second rank of the same host, and would move bytes within the GPU.
void add_gpu(Environment& environment, const LaunchRequest& request, int rank) {
  environment.set("NCCL_HOSTID", fmt::format("trainwire-job{}-rank{}", request.job, rank));
  environment.set("NCCL_NET", "Socket");
  environment.set_default("CUDA_VISIBLE_DEVICES", "0");
  for (const std::string& entry : request.gpu->environment) environment.set_entry(entry);
  // Whoever reads NCCL's own words gets them where he asked for them.
  if (environment.has("NCCL_DEBUG") || environment.has("NCCL_DEBUG_FILE")) return;
  environment.set("NCCL_DEBUG", "INFO");
  environment.set_default("NCCL_DEBUG_SUBSYS", "INIT,NET");
  environment.set("NCCL_DEBUG_FILE", nccl_file(request, rank));
}

void add_place(Environment& environment, const LaunchRequest& request, const NetPlan& plan,
               const Place& place) {
  environment.set("RANK", place.rank);
  environment.set("LOCAL_RANK", place.local);
  environment.set("WORLD_SIZE", static_cast<int>(request.placement.size()));
  environment.set("LOCAL_WORLD_SIZE", place.local_size);
  environment.set("NODE_RANK", place.node);
  environment.set("MASTER_ADDR", host_plan(plan, request.placement.front()).address);
  environment.set("MASTER_PORT", kMasterPort + kPortsOfAJob * request.job);
  environment.set("TRAINWIRE_HOST", host_plan(plan, place.host).name);
  environment.set("TRAINWIRE_JOB", request.name.empty() ? "job0" : request.name);
  environment.set("TRAINWIRE_MARKS", marks_file(request, place.rank));
  if (request.gpu) add_gpu(environment, request, place.rank);
  if (request.launcher != Launcher::Torchrun) return;
  environment.set("GROUP_RANK", place.node);
  environment.set("GROUP_WORLD_SIZE",
                  static_cast<int>(request.placement.size()) / place.local_size);
  environment.set("ROLE_NAME", "default");
  environment.set("ROLE_RANK", place.rank);
  environment.set("ROLE_WORLD_SIZE", static_cast<int>(request.placement.size()));
  environment.set("TORCHELASTIC_RUN_ID", "trainwire");
  environment.set("TORCHELASTIC_RESTART_COUNT", 0);
  environment.set("TORCHELASTIC_MAX_RESTARTS", 0);
}

/// What a rank's files are called, by the job's number where there are several.
std::string file_of(const LaunchRequest& request, std::string_view what) {
  return request.name.empty() ? std::string(what) : fmt::format("job{}-{}", request.job, what);
}

RankCommand command_of(const NetPlan& plan, const LaunchRequest& request, int rank) {
  const Place place = place_of(request.placement, rank);
  const network::HostPlan& host = host_plan(plan, place.host);
  const std::map<std::string, std::string> values{
      {"rank", std::to_string(rank)},
      {"local_rank", std::to_string(place.local)},
      {"world", std::to_string(request.placement.size())},
      {"host", host.name},
      {"address", host.address},
      {"master", host_plan(plan, request.placement.front()).address}};
  RankCommand command{.rank = rank,
                      .host = place.host,
                      .label = request.name.empty() ? fmt::format("rank {} on {}", rank, host.name)
                                                    : fmt::format("rank {} of {} on {}", rank,
                                                                  request.name, host.name),
                      .file = file_of(request, fmt::format("rank{}", rank)),
                      .group = request.job,
                      .start = request.start};
  for (const std::string& word : request.words) command.words.push_back(replaced(word, values));
  Environment environment(request.environment);
  add_common(environment, request);
  add_place(environment, request, plan, place);
  command.environment = environment.entries();
  return command;
}

/// mpirun in the first rank's host starts all ranks there; each then moves to its own host.
RankCommand mpirun(const NetPlan& plan, const LaunchRequest& request) {
  std::string numbers;
  for (const int host : request.placement) {
    if (!numbers.empty()) numbers += ',';
    numbers += std::to_string(request.namespace_numbers.at(static_cast<std::size_t>(host)));
  }
  RankCommand command{
      .rank = 0,
      .host = request.placement.front(),
      .label = fmt::format("mpirun{} on {}", request.name.empty() ? "" : " of " + request.name,
                           host_plan(plan, request.placement.front()).name),
      .file = file_of(request, "rank0"),
      .group = request.job,
      .start = request.start};
  command.words = {"mpirun",
                   "--allow-run-as-root",
                   "--oversubscribe",
                   "-np",
                   std::to_string(request.placement.size()),
                   "--mca",
                   "mpi_yield_when_idle",
                   "1",
                   "sh",
                   "-c",
                   kEnterHost,
                   "sh",
                   numbers};
  command.words.insert(command.words.end(), request.words.begin(), request.words.end());
  Environment environment(request.environment);
  add_common(environment, request);
  // The script above completes it.
  environment.set("TRAINWIRE_MARKS",
                  fmt::format("{}/{}", request.marks_folder, file_of(request, "marks-")));
  if (request.gpu) add_gpu(environment, request, 0);
  environment.set("OMPI_ALLOW_RUN_AS_ROOT", "1");
  environment.set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  command.environment = environment.entries();
  return command;
}

}  // namespace

std::string marks_file(const LaunchRequest& request, int rank) {
  return fmt::format("{}/{}.csv", request.marks_folder,
                     file_of(request, fmt::format("marks-{}", rank)));
}

std::string nccl_file(const LaunchRequest& request, int rank) {
  return fmt::format("{}/{}.log", request.gpu->log_folder,
                     file_of(request, fmt::format("nccl-{}", rank)));
}

std::vector<RankCommand> make_commands(const NetPlan& plan, const LaunchRequest& request) {
  check(!request.placement.empty() && !request.words.empty(), "there is something to start");
  if (request.launcher == Launcher::Mpi) return {mpirun(plan, request)};
  std::vector<RankCommand> commands;
  for (int rank = 0; rank < static_cast<int>(request.placement.size()); ++rank) {
    commands.push_back(command_of(plan, request, rank));
  }
  return commands;
}

}  // namespace tw::lab
