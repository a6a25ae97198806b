// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/name.h"
#include "trainwire/spec/fields.h"
#include "trainwire/spec/framework.h"
#include "trainwire/spec/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unordered_set>

namespace tw::spec {
namespace {

/// Letters and digits only, in lower case: "ResNet-50" and "resnet_50" name one model.
std::string loose(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (c == '-' || c == '_') continue;
    key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return key;
}

void resolve_model(Job& job, const Vocabulary& vocabulary, keys::Section& section) {
  if (!section.readable({"model", "parameters", "command"})) return;
  if (job.model->empty() && !*job.parameters && job.command->empty()) {
    section.refuse("a job needs model = ... or parameters = ..., or for exec command = [...]");
    return;
  }
  if (job.model->empty()) return;
  if (*job.parameters)
    section.refuse("parameters", "the job has a model already; remove one of them");
  const std::string key = loose(*job.model);
  const auto at = std::find_if(vocabulary.models.begin(), vocabulary.models.end(),
                               [&](std::string_view known) { return loose(known) == key; });
  if (at != vocabulary.models.end()) {
    job.model.value = *at;
  } else {
    section.refuse("model",
                   fmt::format("unknown model {}; {}", keys::in_quotes(*job.model),
                               keys::remedy(*job.model, vocabulary.models, "`trainwire models`")));
  }
}

void check_name(std::string_view key, const std::string& name, std::string_view command,
                std::span<const std::string_view> known, keys::Section& section) {
  if (!section.readable({key})) return;
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  section.refuse(key, fmt::format("unknown {} {}; {}", key, keys::in_quotes(name),
                                  keys::remedy(name, known, command)));
}

int used_servers(const Job& job) { return job.has_servers ? *job.servers : 0; }

/// Reports the first host that does not exist or stands there twice: one line, however long the
/// list.
void check_hosts(const Job& job, const Network& network, keys::Section& section) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : *job.hosts) {
    if (std::string problem = host_problem(network, name); !problem.empty()) {
      return section.refuse("hosts", std::move(problem));
    }
    if (!seen.insert(name).second) {
      return section.refuse("hosts", fmt::format("{} stands there twice; to run several ranks on a "
                                                 "host, write ranks or placement",
                                                 name));
    }
  }
}

void check_placement(const Job& job, const Network& network, keys::Section& section) {
  const std::unordered_set<std::string_view> own(job.hosts->begin(), job.hosts->end());
  for (const std::string& name : *job.placement) {
    if (std::string problem = host_problem(network, name); !problem.empty()) {
      return section.refuse("placement", std::move(problem));
    }
    if (!own.empty() && !own.contains(name)) {
      return section.refuse("placement",
                            fmt::format("{} is not among the job's hosts; add it there", name));
    }
  }
}

/// How many ranks there are when the job does not say.
int natural_ranks(const Job& job, const Network& network) {
  if (is_explicit(job.workers)) return *job.workers + used_servers(job);
  if (is_explicit(job.placement)) return static_cast<int>(job.placement->size());
  return is_explicit(job.hosts) ? static_cast<int>(job.hosts->size()) : *network.hosts;
}

void check_counts(const Job& job, keys::Section& section) {
  const int servers = used_servers(job);
  if (*job.ranks > kMostRanks) {
    section.refuse("workers",
                   fmt::format("with {} servers more than {} ranks", servers, kMostRanks));
  }
  if (servers >= *job.ranks) {
    section.refuse(is_explicit(job.servers) ? "servers" : "ranks",
                   fmt::format("{} of {} ranks are servers, so that no worker is left; write more "
                               "ranks or fewer servers",
                               servers, *job.ranks));
  } else if (is_explicit(job.workers) && *job.workers + servers != *job.ranks) {
    section.refuse("workers", fmt::format("{} workers and {} servers are not {} ranks; remove "
                                          "workers or ranks",
                                          *job.workers, servers, *job.ranks));
  }
  if (is_explicit(job.placement) && std::ssize(*job.placement) != *job.ranks) {
    section.refuse("placement", fmt::format("{} entries for {} ranks; write the host of each rank",
                                            job.placement->size(), *job.ranks));
  }
}

void resolve_ranks(Job& job, const Surroundings& around, keys::Section& section) {
  if (around.hosts_known && section.readable({"hosts"})) check_hosts(job, around.network, section);
  if (around.hosts_known && section.readable({"hosts", "placement"})) {
    check_placement(job, around.network, section);
  }
  derive(job.ranks, natural_ranks(job, around.network));
  const bool counted = around.hosts_known && section.readable({"ranks", "workers", "servers",
                                                               "hosts", "placement", "strategy"});
  if (counted) check_counts(job, section);
  derive(job.workers, std::max(1, *job.ranks - used_servers(job)));
}

/// Steps of an epoch, every worker taking its share of the samples (50,000 samples, 4 workers,
/// batch 64: 196).
std::int64_t steps_per_epoch(const Job& job) {
  const std::int64_t samples = std::int64_t{*job.batch} * *job.workers * *job.local_steps;
  return (**job.dataset + samples - 1) / samples;
}

void resolve_steps(Job& job, keys::Section& section) {
  if (!section.readable({"steps", "epochs", "dataset"})) return;
  if (*job.epochs && !*job.dataset) {
    section.refuse("epochs", "nothing says how long an epoch is; add dataset = its samples");
  }
  if (*job.dataset && !*job.epochs) {
    section.refuse("dataset", "has no effect without epochs; add epochs = ...");
  }
  if (*job.epochs && is_explicit(job.steps)) {
    section.refuse("steps", "epochs says how many; remove one of them");
  }
  if (!*job.epochs || !*job.dataset || is_explicit(job.steps)) return;
  if (!section.readable({"batch", "ranks", "workers", "servers"})) return;
  const double steps = std::round(**job.epochs * static_cast<double>(steps_per_epoch(job)));
  if (steps > static_cast<double>(kMostSteps)) {
    section.refuse("epochs", fmt::format("{:.3g} steps are too many; write fewer epochs", steps));
    return;
  }
  derive(job.steps, std::max<std::int64_t>(1, std::llround(steps)));
}

/// Whether a rank of the job computes on that host.
bool runs_on(const Job& job, const Network& network, const std::string& host) {
  const auto holds = [&](std::span<const std::string> names) {
    return std::find(names.begin(), names.end(), host) != names.end();
  };
  if (is_explicit(job.placement)) return holds(*job.placement);
  if (!is_explicit(job.hosts)) return host_number(network, host).value_or(*job.ranks) < *job.ranks;
  const auto used = std::min(static_cast<std::size_t>(*job.ranks), job.hosts->size());
  return holds(std::span(*job.hosts).first(used));
}

void check_straggler(const Job& job, const Surroundings& around, keys::Section& section) {
  if (!*job.straggler || !around.hosts_known) return;
  const std::string& host = **job.straggler;
  if (std::string problem = host_problem(around.network, host); !problem.empty()) {
    section.refuse("straggler", std::move(problem));
  } else if (section.readable({"ranks", "workers", "servers", "hosts", "placement"}) &&
             !runs_on(job, around.network, host)) {
    section.refuse("straggler", fmt::format("{} has no rank of this job", host));
  }
}

/// Keys of real training need it, and it needs models that can be trained.
void resolve_learning(Job& job, keys::Section& section) {
  if (!section.readable({"compute"})) return;
  if (*job.compute != Compute::Train) {
    for (const Field<Job>& field : learned_job_fields()) {
      const Origin origin = field.held(job)->origin;
      if (origin != Origin::File && origin != Origin::Override) continue;
      section.refuse(field.key, "has no effect unless compute = \"train\"");
    }
    return;
  }
  derive(job.evaluate_every, std::max<std::int64_t>(1, *job.steps / 20));
  if (section.readable({"model", "parameters"}) && *job.model != "mlp" && *job.model != "cnn") {
    section.refuse("compute", fmt::format("train knows the models mlp and cnn, not {}; take one of "
                                          "them, or compute = \"profile\"",
                                          job.model->empty() ? "bare parameters" : *job.model));
  }
}

}  // namespace

void resolve_job(Job& job, int number, const Surroundings& around, keys::Section& section) {
  apply_framework(job);
  derive(job.name, fmt::format("job{}", number));
  resolve_model(job, around.vocabulary, section);
  check_name("strategy", *job.strategy, "`trainwire strategies`", around.vocabulary.strategies,
             section);
  job.has_servers =
      std::ranges::find(around.vocabulary.served, *job.strategy) != around.vocabulary.served.end();
  check_name("device", *job.device, "`trainwire models`", around.vocabulary.devices, section);
  derive(job.congestion_control, *around.network.congestion_control);
  resolve_ranks(job, around, section);
  resolve_steps(job, section);
  resolve_learning(job, section);
  check_straggler(job, around, section);
}

void resolve_jobs(std::span<const Job> jobs, std::span<keys::Section> sections) {
  std::unordered_set<std::string_view> names;
  std::int64_t ranks = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (const std::string problem = name_problem(*jobs[i].name); !problem.empty()) {
      sections[i].refuse("name",
                         fmt::format("{} is no name: {}", keys::in_quotes(*jobs[i].name), problem));
    }
    if (!names.insert(*jobs[i].name).second) {
      sections[i].refuse("name", fmt::format("another job is named {} already; write another name",
                                             keys::in_quotes(*jobs[i].name)));
    }
    ranks += *jobs[i].ranks;
    if (ranks > kMostRanks && ranks - *jobs[i].ranks <= kMostRanks && jobs.size() > 1) {
      sections[i].refuse(
          "ranks",
          fmt::format("the jobs have more than {} ranks together; write fewer", kMostRanks));
    }
  }
}

void fill_lists(Job& job, const Network& network) {
  const auto ranks = static_cast<std::size_t>(*job.ranks);
  if (is_explicit(job.placement)) {
    std::vector<std::string> used;
    std::unordered_set<std::string_view> seen;
    for (const std::string& host : *job.placement) {
      if (seen.insert(host).second) used.push_back(host);
    }
    derive(job.hosts, std::move(used));
    return;
  }
  std::vector<std::string> first;
  for (int host = 0; !is_explicit(job.hosts) && host < std::min(*job.ranks, *network.hosts);
       ++host) {
    first.push_back(host_name(host));
  }
  derive(job.hosts, std::move(first));
  // In order, evenly: neighbouring ranks share a host; with fewer ranks than hosts the last hosts
  // are idle.
  const std::size_t used = std::min(job.hosts->size(), ranks);
  std::vector<std::string> places;
  places.reserve(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    places.push_back((*job.hosts)[rank * used / ranks]);
  }
  derive(job.placement, std::move(places));
}

}  // namespace tw::spec
