// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/commands.h"

#include "trainwire/attach/command.h"
#include "trainwire/cluster/host_command.h"
#include "trainwire/guide/commands.h"
#include "trainwire/reproduce/command.h"

#include <array>

namespace tw::cli {

std::span<const command::Command> commands() {
  static constexpr std::array kCommands{
      command::Command{"run", "train on an emulated network with real packets, measured",
                       declare_run,
                       "trainwire run job.toml\n"
                       "trainwire run job.toml --steps 20 --set network.loss=0.1% -o loss.run\n"
                       "trainwire run sweep.toml --dry-run\n"
                       "trainwire run sweep.toml --retry 3\n"
                       "trainwire run job.toml --on loopback\n"},
      command::Command{"sim", "the same experiment in virtual time, by flows or packet by packet",
                       declare_sim,
                       "trainwire sim job.toml\n"
                       "trainwire sim job.toml --level flow --set network.hosts=1024 --steps 3\n"
                       "trainwire sim job.toml --level packet --pcap -o job.run\n"
                       "trainwire sim sweep.toml --keep -o sweep.run\n"},
      command::Command{"exec", "any program on an emulated network, captured and analysed",
                       declare_exec,
                       "trainwire exec job.toml -- python3 train.py\n"
                       "trainwire exec job.toml --launcher torchrun -o ddp.run -- python3 train.py "
                       "--rank {rank}\n"
                       "trainwire exec --hosts 4 --rate 500Mbit --link host1:to:120Mbit -- python3 "
                       "train.py\n"
                       "trainwire exec --hosts 2 --dry-run -- hostname\n"},
      command::Command{"bench", "time exchanges as nccl-tests does, on any network", declare_bench,
                       "trainwire bench exchange job.toml --sizes 64KiB,1MiB,16MiB\n"
                       "trainwire bench exchange job.toml --on loopback --json\n"
                       "trainwire bench pairs job.toml --launch srun\n"},
      command::Command{"host", "this machine as a host of a run that another one conducts",
                       cluster::declare_host,
                       "trainwire host --join 10.0.0.1:29600 --number 1\n"
                       "trainwire host --join run-0.run:29600 --interface eth0\n"},
      command::Command{"net", "an emulated network: its plan, its check, a shell in it",
                       declare_net,
                       "trainwire net show job.toml\n"
                       "trainwire net check job.toml\n"
                       "trainwire net shell job.toml host1\n"
                       "trainwire net cli job.toml\n"
                       "trainwire net cluster job.toml --with slurm -- srun -N2 hostname\n"},
      command::Command{
          "traffic", "cross traffic: make a load, send it, take it", declare_traffic,
          "trainwire traffic make --kind websearch --rate 500Mbit --duration 10s -o load.csv\n"
          "trainwire traffic send load.csv --to 127.0.0.1:9000\n"
          "trainwire traffic sink --bind 127.0.0.1 --port 9000\n"},
      command::Command{"fit", "a model through a sweep or a table, with intervals", declare_fit,
                       "trainwire fit sweep.run\n"
                       "trainwire fit sweep.run --x network.loss --y step_mean_s --model power\n"
                       "trainwire fit points.csv --model saturation --x load --y t --capacity "
                       "25Gbit --at 20Gbit\n"},
      command::Command{"compare", "runs side by side: differences, intervals, verdicts",
                       declare_compare,
                       "trainwire compare before.run after.run\n"
                       "trainwire compare before.run after.run --fail-if +5%\n"
                       "trainwire compare osu-before.txt osu-after.txt\n"},
      command::Command{"report", "one HTML page of runs: what happened, why, how it is known",
                       declare_report,
                       "trainwire report job.run\n"
                       "trainwire report before.run after.run -o page.html\n"},
      command::Command{"serve", "runs on a local page: the list, live runs, captures dropped on it",
                       declare_serve,
                       "trainwire serve runs\n"
                       "trainwire serve runs --port 8080\n"},
      command::Command{"export", "a run as Parquet, SQLite, CSV, JSON, traces or figures",
                       declare_export,
                       "trainwire export job.run --to parquet,sqlite\n"
                       "trainwire export job.run --to figures -o figures\n"},
      command::Command{
          "analyze",
          "captures, traces, logs and tables into a verdict, steps, collectives, findings",
          declare_analyze,
          "trainwire analyze job.pcapng.zst\n"
          "trainwire analyze host0.pcap host1.pcap --log steps.csv --hosts hosts.csv -o job.run\n"
          "trainwire analyze job.pcap --no-folder --json\n"
          "trainwire analyze host0.pcap --partial -o host0.part\n"
          "trainwire analyze host0.part host1.part -o job.run\n"
          "trainwire analyze '/captures/*.pcap' --launch ssh:hosts.txt -o job.run\n"
          "trainwire analyze job.pcap --cut finding:1=slow.pcapng --cut step:3=step.pcapng\n"},
      command::Command{
          "watch", "attach to a running job: what its connections wait for",
          [](command::CommandLine& app) { return attach::declare_watch(app, leave_page); },
          "trainwire watch 4711\n"
          "trainwire watch 4711 --for 10s -o job.run\n"
          "trainwire watch 4711 --metrics 9464\n"},
      command::Command{"info", "facts about capture files", declare_info,
                       "trainwire info job.pcapng.zst\n"},
      command::Command{
          "plan", "what a job will put on the network, computed", declare_plan,
          "trainwire plan job.toml\n"
          "trainwire plan job.toml --set job.strategy=tree --set network.hosts=64 --json\n"},
      command::Command{"expect", "what nccl-tests should show on some hardware, and why",
                       guide::declare_expect,
                       "trainwire expect --ranks 16 --per-host 8 --nic 2x200Gbit --op all_reduce\n"
                       "trainwire expect --ranks 4 --nic 25Gbit --transport socket --gpu v100\n"
                       "trainwire expect --nic 2x200Gbit --against all_reduce.log\n"},
      command::Command{"predict",
                       "what a step would take, with an interval, and what would change it",
                       guide::declare_predict,
                       "trainwire predict job.toml\n"
                       "trainwire predict job.toml --what-if network.rate=10Gbit,25Gbit --what-if "
                       "job.strategy=ring,tree\n"
                       "trainwire predict job.toml --scale 2..1024\n"},
      command::Command{"reproduce", "published figures and tables, computed anew, with verdicts",
                       reproduce::declare_reproduce,
                       "trainwire reproduce\n"
                       "trainwire reproduce tum S2-T3.1\n"
                       "trainwire reproduce --full -o reproduced\n"},
      command::Command{"show", "an experiment with every default and derived value",
                       guide::declare_show,
                       "trainwire show job.toml\n"
                       "trainwire show job.toml --set network.rate=25Gbit\n",
                       true},
      command::Command{
          "new", "an experiment file from a few flags, with comments", guide::declare_new,
          "trainwire new --hosts 8 --topology leafspine --model gpt2 -o job.toml\n"
          "trainwire new --rate 500Mbit --link host1:to:120Mbit --traffic host2:host0:0.8\n",
          true},
      command::Command{"explain", "what a key, check, finding, column or strategy means",
                       guide::declare_explain,
                       "trainwire explain network.queue\n"
                       "trainwire explain slow_link --json\n"},
      command::Command{"models", "the models: parameters, gradients, FLOPs", guide::declare_models,
                       "trainwire models\n"
                       "trainwire models resnet50\n"},
      command::Command{"strategies", "the strategies: rounds and bytes", guide::declare_strategies,
                       "trainwire strategies\n"},
      command::Command{"doctor", "what this machine can emulate, and how to get the rest",
                       guide::declare_doctor, "trainwire doctor\n"},
      command::Command{"cleanup", "remove what killed runs have left", declare_cleanup,
                       "trainwire cleanup\n"},
      command::Command{"schema", "every table and column of a run folder", guide::declare_schema,
                       "trainwire schema\n"
                       "trainwire schema iterations\n"},
      command::Command{"completion", "completion script for bash or zsh", declare_completion,
                       "trainwire completion bash > /etc/bash_completion.d/trainwire\n", true},
      command::Command{"man", "the manual page", declare_man, "trainwire man > trainwire.1\n",
                       true},
  };
  return kCommands;
}

}  // namespace tw::cli
