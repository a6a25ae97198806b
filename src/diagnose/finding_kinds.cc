// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/finding_kinds.h"

#include <array>

namespace tw::diagnose {

std::span<const FindingKind> finding_kinds() {
  static constexpr std::array kKinds{
      FindingKind{kSlowLink,
                  "one way from host to host is slower than the others, and every host "
                  "waits for it",
                  "its packets are paced at one rate for most of the exchange, below what other "
                  "pairs reach",
                  "look at that link: its rate, who shares it, errors on the port; its packets are "
                  "what the filter selects"},
      FindingKind{kStraggler, "one host begins its exchange later than the others, step after step",
                  "the others' first bytes leave before its own, by the time that is named",
                  "look at that host, not at the network: its processors, its input, its device"},
      FindingKind{kSteps,
                  "how many training steps there are, how long they take, and what is "
                  "exchanged in each",
                  "a log of the steps, or bytes and pauses that repeat at equal distances",
                  "`analyze --log` with the program's own steps makes a guess certain"},
      FindingKind{kNoTraining, "the packets show no steps that repeat",
                  "what was looked for and not found is in the sentence",
                  "capture longer, on every host, or give the program's own steps with --log"},
      FindingKind{kOtherReading, "the packets allow another count of steps too",
                  "bytes and pauses repeat at another distance nearly as well",
                  "`analyze --log` with the program's own steps decides it"},
      FindingKind{kExchangeShare,
                  "how much of a step the exchange takes from its first byte to "
                  "its last",
                  "the slowest host's first and last gradient byte of each step",
                  "a large share may be a slow network or a late host: read it with the findings "
                  "before it"},
      FindingKind{kSentAgain, "payload was sent more than once: packets were lost or late",
                  "TCP sequence numbers that were seen before, or that left a hole",
                  "look for full queues and bad ports on the way; drops of emulated links are in "
                  "links.csv"},
      FindingKind{kOtherTraffic, "bytes that are not part of the exchanges share the network",
                  "flows whose bytes do not follow the steps",
                  "see flows.csv, column class; --filter leaves out what does not belong"},
      FindingKind{kFirstModel, "before the first step one host sends its model to the others",
                  "equal bytes from one host to each other, once, before the steps",
                  "nothing to do: that host is probably rank 0"},
      FindingKind{kFirstStep, "the first step takes longer than later ones",
                  "its exchange against the median of the others",
                  "nothing to do: start-up; medians leave it out, and job.warmup does in `run`"},
      // Of files of other programs (operations/imported.h).
      FindingKind{"missing_rank", "a rank did not come to a collective in which others wait",
                  "dumps of the flight recorder: the others asked for its number, it did not",
                  "look at what that rank did last: its program stopped, or took another way"},
      FindingKind{"arrivals", "how long ranks are in collectives, waiting or transferring",
                  "when each rank came to each collective, and when the last was done",
                  "waiting is cured at the rank that comes last, transfer at the network"},
      FindingKind{"several_networks", "ranks of one job use different networks",
                  "\"Using network\" lines of NCCL's log, host by host",
                  "give all hosts the same: a driver or a plugin is missing on some, or "
                  "NCCL_IB_DISABLE is set there"},
      FindingKind{
          "wrong_interface", "NCCL's sockets take an interface that leads to no other host",
          "NCCL's log names it (docker0, a bridge), and ranks are on several hosts or their "
          "connections failed",
          "set NCCL_SOCKET_IFNAME to the interface between the hosts, on all of them"},
      FindingKind{"socket_fallback", "NCCL uses sockets although a card for RDMA is there",
                  "its log names the card and connects by NET/Socket",
                  "read the NET/IB lines of the log; NCCL_IB_DISABLE, drivers and containers are "
                  "the usual causes"},
      FindingKind{"one_nic", "all ways between hosts go over one network card of several",
                  "the ways that every rank's log tells",
                  "look at NCCL_IB_HCA, NCCL_SOCKET_IFNAME and how cards hang on the machine"},
      FindingKind{"nccl_warning", "NCCL warned", "a WARN line of its log", "read what follows it"},
      FindingKind{"wiring", "how NCCL has wired the ranks", "the lines of its log",
                  "nothing to do"},
      FindingKind{
          "agreement",
          "whether two kinds of files, or packets, tell of the same operations and steps",
          "sizes of each rank's operations, in order; steps, from the end of one to that of "
          "the next",
          "where they differ, the files are of different runs or one is cut off"},
      FindingKind{"clock", "whether packets and files have one clock",
                  "ends of collectives, which stand where packets pause",
                  "nothing to do: times of files are on the packets' clock"},
      FindingKind{"volume", "bytes that a log has to move against bytes in packets",
                  "sizes times what a ring sends, and the payload of all pairs",
                  "more in packets: start-up, other traffic; less: the capture is not whole"},
      FindingKind{"plan", "bytes of a step against those of an experiment's plan",
                  "sizes that files tell, and payload in packets, of a step; `trainwire plan`",
                  "more: other operations or traffic beside the gradients; less: a part is not "
                  "captured, or the experiment is of another model"},
      FindingKind{"note", "what a file says beside its operations", "the file", "nothing to do"},
  };
  return kKinds;
}

}  // namespace tw::diagnose
