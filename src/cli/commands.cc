// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/commands.h"

#include <array>

namespace tw::cli {

std::span<const Command> commands() {
  static constexpr std::array kCommands{
      Command{"run", "train on an emulated network with real packets, measured", declare_run},
      Command{"exec", "any program on an emulated network, captured and analysed", declare_exec},
      Command{"bench", "time exchanges as nccl-tests does, on any network", declare_bench},
      Command{"net", "an emulated network: its plan, its check, a shell in it", declare_net},
      Command{"traffic", "cross traffic: make a load, send it, take it", declare_traffic},
      Command{"fit", "a model through a sweep or a table, with intervals", declare_fit},
      Command{"compare", "runs side by side: differences, intervals, verdicts", declare_compare},
      Command{"report", "one HTML page of runs: what happened, why, how it is known",
              declare_report},
      Command{"serve", "runs on a local page: the list, live runs, captures dropped on it",
              declare_serve},
      Command{"export", "a run as Parquet, SQLite, CSV, JSON, traces or figures", declare_export},
      Command{"analyze", "captures into flows, iterations, collectives, findings", declare_analyze},
      Command{"info", "facts about capture files", declare_info},
      Command{"plan", "what a job will put on the network, computed", declare_plan},
      Command{"show", "an experiment with every default and derived value", declare_show},
      Command{"models", "the models: parameters, gradients, FLOPs", declare_models},
      Command{"strategies", "the strategies: rounds and bytes", declare_strategies},
      Command{"doctor", "what this machine can emulate, and how to get the rest", declare_doctor},
      Command{"cleanup", "remove what killed runs have left", declare_cleanup},
      Command{"schema", "every table and column of a run folder", declare_schema},
      Command{"completion", "completion script for bash or zsh", declare_completion},
      Command{"man", "the manual page", declare_man},
  };
  return kCommands;
}

}  // namespace tw::cli
