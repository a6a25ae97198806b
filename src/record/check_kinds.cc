// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/check_kinds.h"

#include <array>

namespace tw::record {

std::span<const CheckKind> check_kinds() {
  static constexpr std::array kKinds{
      CheckKind{"schedule",
                "bytes that the strategy's schedule says every rank sends each other "
                "rank, against those that the ranks counted while sending",
                "equal for every pair of ranks", "", "one pair differs, or a rank did not tell",
                "a rank ended early or the program is wrong: read the rank's output, and report it "
                "where every rank ended well"},
      CheckKind{
          "mode",
          "how a simulation was answered: message by message, or in closed form where a ring's "
          "hops cannot be in each other's way; both give the same times",
          "always: it says which", "", "", "nothing"},
      CheckKind{
          "level",
          "how far simulations of such jobs were from runs with real packets (bench/calibrate)",
          "never told: nine of ten runs were within 15 % of what the network takes of a step",
          "one in ten was farther off: over shallow queues, under loss and beside other jobs "
          "a step hangs on single packets",
          "never: a simulation cannot know",
          "trainwire sim --level packet where it said flow; trainwire predict has an interval"},
      CheckKind{"sums",
                "gradients as ranks hold them after an exchange, against the sum that "
                "every contribution exactly once gives",
                "no element differs, or nothing was verified because the payload is large", "",
                "an element differs: what was timed is not the exchange that was asked for",
                "report it; --set job.verify=true verifies large payloads too"},
      CheckKind{"models",
                "the models that workers who really train hold in the end, by random sums of their "
                "parameters",
                "those of a job that waits for all agree but for rounding", "",
                "one differs: an exchange did not give all workers the same gradients",
                "report it, with the experiment"},
      CheckKind{"stream",
                "bytes that ranks handed to their sockets, framing included, against "
                "distinct bytes of TCP streams in the captures",
                "equal to the byte for every pair of hosts", "",
                "a pair differs: packets are missing, or something else talks between the hosts",
                "see whether the check `capture` failed too; a quieter machine or a smaller "
                "capture.snaplen loses fewer packets"},
      CheckKind{"multicast",
                "packets that one rank sent to several at once (distribution = \"multicast\"), and "
                "those that it sent again because one of them missed it",
                "at most a tenth was sent again",
                "more was: a receiver's link or queue cannot keep up, and repair takes what "
                "multicast saves",
                "", "make queues larger (network.queue) or loss smaller, or take unicast"},
      CheckKind{"clocks",
                "clocks of hosts that are machines, asked over the connection to the run, against "
                "one another",
                "always: times are put on the first host's clock where they differ by more than "
                "can be told",
                "one is more than a second off: somebody should set it", "",
                "set clocks by NTP or PTP (chronyc tracking), so that logs of hosts fit together"},
      CheckKind{"traffic",
                "bytes of cross traffic that its sources sent and its sinks "
                "acknowledged, against those in the captures (in a simulation: on links into "
                "hosts)",
                "the captures show at least what arrived and at most what was sent", "",
                "a pair of hosts shows more or less, or a source did not tell",
                "see whether the check `capture` failed too"},
      CheckKind{"scale",
                "what run.scale does not scale: loss, queues in packets, short delays, against the "
                "cluster that is meant",
                "nothing differs from the cluster", "something does, and the check says what", "",
                "`trainwire plan FILE` shows cluster and emulated values side by side; "
                "run.slow_motion keeps them in proportion"},
      CheckKind{"ranks", "how every process ended", "all ended well", "",
                "one failed, was killed, or the run was interrupted",
                "its last lines are printed, and its output is in the run folder"},
      CheckKind{"gpu", "the GPU that ranks shared (exec --gpu shared)", "always: it says which", "",
                "", "nothing"},
      CheckKind{"faults", "the experiment's faults, against those that were played (exec)",
                "all were", "", "one never began: its step or time did not come",
                "a fault at a step needs a program that marks its steps (TRAINWIRE_MARKS)"},
      CheckKind{"nccl",
                "what NCCL logs of every rank, against a communicator over its sockets, which is "
                "the emulated network",
                "every rank made one, or the program has NCCL log elsewhere", "",
                "a rank never called NCCL, did not get ready, or NCCL took another way",
                "initialise with NCCL (PyTorch: init_process_group(\"nccl\")); nccl-RANK.log in "
                "the run folder tells more"},
      CheckKind{"network",
                "rate, round trip and loss that the experiment asks of paths, against what real "
                "packets met on them before the run",
                "every measured path is within the tolerances that the check prints",
                "a path is beyond them, by less than a tenth", "a path is off by more",
                "`trainwire net check FILE` measures again; ask for less (run.scale), take another "
                "engine (--set network.engine=tap), or a quieter machine"},
      CheckKind{"capture", "packets that the kernel says it dropped while capturing", "none", "",
                "some are missing, so bytes and times are too low",
                "a smaller capture.snaplen, a lower rate (run.scale), a quieter machine"},
      CheckKind{"bytes", "bytes in each host's capture, against the counters of its network device",
                "equal to the byte on every host", "", "a host differs",
                "see whether the check `capture` failed too"},
      CheckKind{"pairs",
                "bytes of the matrix of host pairs, against what each host's device "
                "counted as sent",
                "equal to the byte for every host", "", "a host differs",
                "see whether the checks `capture` and `bytes` failed too"},
      CheckKind{"clock",
                "the clock that stamps packets, against the one that times steps, from "
                "the begin of the run to its end",
                "they went apart by less than 1 ms", "",
                "the machine's clock was set meanwhile: times of packets and of steps do not "
                "belong together",
                "run again, with the time service quiet"},
      CheckKind{"machine",
                "whether processors and the emulation kept up, so that the network was "
                "the limit",
                "nothing was late or full", "something was, too little to spoil the figures",
                "the machine was the limit: times are its own, not the network's",
                "a larger run.scale, fewer hosts, a quieter or larger machine"},
  };
  return kKinds;
}

const CheckKind* find_check_kind(std::string_view name) {
  for (const CheckKind& kind : check_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace tw::record
