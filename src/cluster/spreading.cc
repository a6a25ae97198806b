// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cluster/spreading.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <utility>

namespace tw::cluster {

PoolRequest Spreading::request(const std::string& command, nlohmann::json task,
                               std::function<void(const std::string&)> tell,
                               std::function<bool()> stop) const {
  if (port < 0 || port > 65535) throw SpecError("--port takes 1 to 65535");
  PoolRequest request{.launch = fleet::parse_launch(launch),
                      .command = command,
                      .task = std::move(task),
                      .tell_start = tell,
                      .stop = std::move(stop)};
  request.launch.port = port;
  request.machines = fleet::machine_count(request.launch, machines);
  request.tell = [tell](const PoolState& state) {
    if (!tell) return;
    tell(fmt::format("{} of {}, {} workers", state.done, state.all, state.workers));
  };
  return request;
}

void add_spreading(command::CommandLine& app, Spreading& options, const std::string& what) {
  app.add_option("--launch", options.launch,
                 fmt::format("share the {} among machines that srun, mpirun or ssh:HOSTFILE starts "
                             "a process on (wait: `trainwire host` is started there by hand)",
                             what))
      .type_name("HOW")
      .suggests({"local", "srun", "mpirun", "ssh:", "wait"});
  app.add_option("--machines", options.machines,
                 "how many; default: as the file of hosts or the job of Slurm has")
      .type_name("N");
  app.add_option("--port", options.port, "where machines join; default: any that is free")
      .type_name("N");
}

}  // namespace tw::cluster
