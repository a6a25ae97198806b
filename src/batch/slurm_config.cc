// SPDX-License-Identifier: Apache-2.0
#include "trainwire/batch/slurm_config.h"

#include <fmt/format.h>

namespace tw::batch {
namespace {

constexpr const char* kCommon = R"(AuthType=auth/munge
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=10000
MpiDefault=none
PropagateResourceLimits=NONE
ReturnToService=2
JobRequeue=0
KillWait=2
UnkillableStepTimeout=60
SlurmctldTimeout=10
SlurmdTimeout=10
MessageTimeout=5
InactiveLimit=10
MinJobAge=60
SwitchType=switch/none
TreeWidth=65533
)";

}  // namespace

std::string slurm_config(const network::NetPlan& plan, const SlurmSite& site) {
  const network::HostPlan& first = plan.hosts.front();
  std::string text = fmt::format(
      "ClusterName=trainwire\n"
      "SlurmctldHost={}({})\n"
      "SlurmUser={}\nSlurmdUser={}\n"
      "AuthInfo=socket={},cred_expire=10\n"  // for as long a job that lost its node waits at least
      "StateSaveLocation={}/state\n"
      "SlurmdSpoolDir={}/spool.%n\n"
      "TmpFS={}/tmp.%n\n"  // hosts share /tmp, where PMIx would meet itself
      "SlurmctldPidFile={}/slurmctld.pid\n"
      "SlurmdPidFile={}/slurmd.%n.pid\n"
      "SlurmctldLogFile={}/slurmctld.log\n"
      "SlurmdLogFile={}/slurmd.%n.log\n",
      first.name, first.address, site.user, site.user, site.munge_socket, site.folder, site.folder,
      site.folder, site.folder, site.folder, site.folder, site.folder);
  text += kCommon;
  for (const network::HostPlan& host : plan.hosts) {
    text += fmt::format("NodeName={} NodeAddr={} CPUs={} RealMemory=1024 State=UNKNOWN\n",
                        host.name, host.address, kNodeProcessors);
  }
  return text +
         "PartitionName=emulated Nodes=ALL Default=YES MaxTime=INFINITE State=UP "
         "OverSubscribe=YES\n";
}

}  // namespace tw::batch
