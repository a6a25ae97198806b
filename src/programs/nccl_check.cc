// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/nccl_check.h"

#include "trainwire/programs/jobs.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string>

namespace tw::programs {
namespace {

/// A log of a day has millions of lines; what is looked for stands in its first.
constexpr std::size_t kMostBytes = 4U << 20;

std::string beginning_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

bool logs_elsewhere(const lab::LaunchRequest& job) {
  for (const std::string& entry : job.environment) {
    if (entry.starts_with("NCCL_DEBUG=") || entry.starts_with("NCCL_DEBUG_FILE=")) return true;
  }
  return false;
}

}  // namespace

NcclWords nccl_words(std::string_view log) {
  const auto says = [&](std::string_view words) {
    return log.find(words) != std::string_view::npos;
  };
  return {.called = says("NCCL INFO"),
          .complete = says("Init COMPLETE"),
          .over_socket = says("Using network Socket") || says("NET/Socket")};
}

record::Check nccl_check(const std::vector<lab::LaunchRequest>& jobs) {
  int ranks = 0;
  int good = 0;
  std::string first;
  for (const lab::LaunchRequest& job : jobs) {
    if (logs_elsewhere(job)) continue;
    for (int rank = 0; rank < static_cast<int>(job.placement.size()); ++rank) {
      ++ranks;
      const NcclWords words = nccl_words(beginning_of(lab::nccl_file(job, rank)));
      good += words.complete && words.over_socket;
      if (!first.empty() || (words.complete && words.over_socket)) continue;
      const std::string who = fmt::format("rank {} of {}", rank, job_name(job));
      first = !words.called ? fmt::format(
                                  "{} never called NCCL, so its bytes went another way; "
                                  "init_process_group(\"nccl\") is how PyTorch does it",
                                  who)
              : !words.complete
                  ? fmt::format("{} began with NCCL and never made a communicator", who)
                  : fmt::format(
                        "{}: NCCL did not take its sockets, so that bytes may have gone "
                        "past the network",
                        who);
    }
  }
  if (ranks == 0) {
    return {.name = "nccl",
            .ok = true,
            .expected = "NCCL over sockets",
            .found = "not judged",
            .text = "not judged: NCCL_DEBUG is set, so NCCL logs where the program wants it"};
  }
  return {.name = "nccl",
          .ok = good == ranks,
          .expected = fmt::format("{} ranks over NCCL's sockets", ranks),
          .found = fmt::format("{}", good),
          .text = first.empty() ? "every rank made a communicator over sockets" : first};
}

}  // namespace tw::programs
