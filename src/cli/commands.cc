// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/commands.h"

#include <array>

namespace tw::cli {

std::span<const command::Command> commands() {
  static constexpr std::array kCommands{
      command::Command{"run", "train on an emulated network with real packets, measured",
                       declare_run},
      command::Command{"exec", "any program on an emulated network, captured and analysed",
                       declare_exec},
      command::Command{"bench", "time exchanges as nccl-tests does, on any network", declare_bench},
      command::Command{"net", "an emulated network: its plan, its check, a shell in it",
                       declare_net},
      command::Command{"traffic", "cross traffic: make a load, send it, take it", declare_traffic},
      command::Command{"fit", "a model through a sweep or a table, with intervals", declare_fit},
      command::Command{"compare", "runs side by side: differences, intervals, verdicts",
                       declare_compare},
      command::Command{"report", "one HTML page of runs: what happened, why, how it is known",
                       declare_report},
      command::Command{"serve", "runs on a local page: the list, live runs, captures dropped on it",
                       declare_serve},
      command::Command{"export", "a run as Parquet, SQLite, CSV, JSON, traces or figures",
                       declare_export},
      command::Command{"analyze", "captures into flows, iterations, collectives, findings",
                       declare_analyze},
      command::Command{"info", "facts about capture files", declare_info},
      command::Command{"plan", "what a job will put on the network, computed", declare_plan},
      command::Command{"show", "an experiment with every default and derived value", declare_show},
      command::Command{"models", "the models: parameters, gradients, FLOPs", declare_models},
      command::Command{"strategies", "the strategies: rounds and bytes", declare_strategies},
      command::Command{"doctor", "what this machine can emulate, and how to get the rest",
                       declare_doctor},
      command::Command{"cleanup", "remove what killed runs have left", declare_cleanup},
      command::Command{"schema", "every table and column of a run folder", declare_schema},
      command::Command{"completion", "completion script for bash or zsh", declare_completion},
      command::Command{"man", "the manual page", declare_man},
  };
  return kCommands;
}

}  // namespace tw::cli
