// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/goal.h"

namespace tw::collective {

Held held_in_the_end(const Schedule& schedule, int rank, int chunk) {
  switch (schedule.goal) {
    case Goal::AllReduce:
      return {.what = rank < schedule.workers ? Held::What::Sum : Held::What::Open};
    case Goal::Broadcast:
      return {.what = Held::What::Copy, .of = 0};
    case Goal::AllToAll:
      return {.what = Held::What::Copy, .of = (chunk - rank + schedule.ranks) % schedule.ranks};
    case Goal::ServerUpdate:
    case Goal::PairAverage:
      break;
  }
  return {.what = Held::What::Open};
}

}  // namespace tw::collective
