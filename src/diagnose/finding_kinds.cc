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
  };
  return kKinds;
}

}  // namespace tw::diagnose
