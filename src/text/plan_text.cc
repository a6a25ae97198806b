// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"
#include "trainwire/network/scale_doubts.h"
#include "trainwire/spec/scale.h"
#include "trainwire/text/matrix.h"
#include "trainwire/text/plan_document.h"

#include <fmt/format.h>

#include <cmath>

namespace tw::text {
namespace {

std::string line(std::string_view label, std::string_view text) {
  return fmt::format("{:<12} {}\n", label, text);
}

std::string readable_total(double bytes) {
  if (bytes < 0x1p62) return readable(Bytes(std::llround(bytes)));
  return fmt::format("{:.4g} EB", bytes / 1e18);
}

std::string count_of(std::int64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(n), noun, n == 1 ? "" : "s");
}

std::string heading(const predict::JobPlan& job) {
  return fmt::format("{} · {} · {} of {} on {}\n", job.name, job.model, job.strategy,
                     count_of(job.ranks, "rank"), count_of(job.hosts, "host"));
}

std::string model_line(const predict::JobPlan& job) {
  return line("model", fmt::format("{} parameters, {} trainable: {} of gradients a step ({})",
                                   grouped(job.parameters), grouped(job.trainable),
                                   readable(job.gradient_bytes), job.model_source));
}

std::string step_lines(const predict::JobPlan& job) {
  const predict::StepPlan& step = job.step;
  std::string text = line(
      "step",
      fmt::format("{} on the network{} · a rank sends at most {}", readable(step.total),
                  step.local.count() > 0 ? fmt::format(", {} inside hosts", readable(step.local))
                                         : std::string(),
                  readable(step.rank_sent)));
  text += line(
      "", fmt::format("{} in {} · {} · busiest link {}: {}", count_of(step.transfers, "transfer"),
                      count_of(step.rounds, "round"), count_of(step.buckets, "bucket"),
                      spec::host_name(step.busiest_host), readable(step.link_bytes)));
  text += line("flows", fmt::format("{} carrying gradients, {} acknowledgements only, {} control",
                                    grouped(job.flows.gradient), grouped(job.flows.acknowledgement),
                                    grouped(job.flows.side)));
  return text;
}

/// Where hosts' own links are not what bounds the exchange.
std::string core_line(const predict::JobPlan& job) {
  const network::Bottleneck& links = *job.bottleneck;
  const bool leaves = links.direction == spec::Direction::FromHost;
  return line("",
              fmt::format("bound by {}: {} must {} it at {}", links.where, readable(links.bytes),
                          leaves ? "leave" : "enter", readable(links.rate)));
}

std::string time_lines(const predict::JobPlan& job) {
  std::string text;
  if (job.required_bandwidth) {
    text +=
        line("compute", fmt::format("{} (forward {}, backward {}; {})",
                                    readable(job.compute.total()), readable(job.compute.forward),
                                    readable(job.compute.backward), job.compute.source));
    text +=
        line("needs",
             fmt::format("{} on the busiest link so that the exchange takes no longer than compute",
                         readable(*job.required_bandwidth)));
  }
  text +=
      line("at best", fmt::format("exchange {} · iteration {} (lower bounds at these link rates)",
                                  readable(job.exchange_bound), readable(job.iteration_bound)));
  if (job.bottleneck && !job.bottleneck->where.starts_with("host")) text += core_line(job);
  return text;
}

std::string training_line(const predict::JobPlan& job) {
  const predict::TrainingPlan& training = job.training;
  std::string text =
      line("training",
           fmt::format("{}: {} on the network, at least {}", count_of(training.steps, "step"),
                       readable_total(training.total_bytes),
                       readable(Duration(job.iteration_bound * training.steps))));
  if (training.share_before > 0) {
    text += line("before",
                 fmt::format("{:.3g} % of all bytes: warm-up {}, initial broadcast {}",
                             100 * training.share_before, readable_total(training.warmup_bytes),
                             readable_total(training.broadcast_bytes)));
  }
  return text;
}

std::string matrix_lines(const predict::JobPlan& job, int hosts) {
  if (job.step.pair_count == 0) return line("pairs", "none: nothing crosses the network");
  if (job.step.pairs.empty()) {
    return line("pairs",
                fmt::format("{} host pairs: too many to list", grouped(job.step.pair_count)));
  }
  std::string text = line(
      "pairs", fmt::format("{}, bytes a step{}", count_of(job.step.pair_count, "host pair"),
                           collective::strategy(job.strategy).draws_peers ? " (expected)" : ""));
  for (const std::string& row : draw_matrix(job.step.pairs, hosts)) text += row + "\n";
  return text;
}

/// The cluster beside what will be emulated, and where that misleads.
std::string scaling_text(const spec::Experiment& experiment) {
  const double scale = *experiment.run.scale;
  const double slow = *experiment.run.slow_motion;
  std::string text;
  const auto links = [&] {
    return fmt::format("links of {} for {}", readable(*spec::scaled(experiment).network.link.rate),
                       readable(*experiment.network.link.rate));
  };
  if (scale != 1) {
    text +=
        fmt::format("\nfull size; `run` divides rates and payloads by {}: {}\n", scale, links());
  }
  if (slow != 1) {
    text += fmt::format(
        "\nthe cluster's times; `run` is slow motion, {} times as long: {}, a second here is {} "
        "there\n",
        slow, links(), readable(from_seconds(1 / slow)));
  }
  for (const std::string& doubt : network::scale_doubts(experiment))
    text += "warning: " + doubt + "\n";
  return text;
}

}  // namespace

std::string plan_text(const spec::Experiment& experiment, std::span<const predict::JobPlan> plans) {
  if (plans.empty()) return "no jobs: nothing of this experiment trains\n";
  std::string text;
  for (const predict::JobPlan& job : plans) {
    if (!text.empty()) text += "\n";
    text += heading(job) + model_line(job) + step_lines(job) + time_lines(job) +
            training_line(job) + matrix_lines(job, *experiment.network.hosts);
  }
  return text + scaling_text(experiment);
}

}  // namespace tw::text
