// SPDX-License-Identifier: Apache-2.0
#include "trainwire/batch/slurm.h"
#include "trainwire/batch/ssh.h"
#include "trainwire/gpu/facts.h"
#include "trainwire/guide/commands.h"
#include "trainwire/record/json.h"
#include "trainwire/text/doctor_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace tw::guide {
namespace {

constexpr int kNothingWorks = 3;

/// Whether `exec --gpu shared` works here.
std::string gpu_text(const gpu::Facts& facts) {
  const auto why_not = gpu::why_not_shared(facts);
  if (facts.cards.empty()) return fmt::format("gpu      none: {}\n", *why_not);
  return fmt::format("gpu      {}; {}\n         {}\n", gpu::card_words(facts),
                     gpu::library_words(facts),
                     why_not ? *why_not : "ranks can share it: exec --gpu shared");
}

/// Whether `net cluster --with` works here.
std::string cluster_text() {
  const std::string slurm = batch::slurm_missing();
  const std::string ssh = batch::ssh_missing();
  return fmt::format("cluster  slurm: {}\n         ssh: {}\n",
                     slurm.empty() ? "there, for net cluster --with slurm" : slurm,
                     ssh.empty() ? "there, for net cluster --with ssh" : ssh);
}

nlohmann::ordered_json cluster_document() {
  const auto service = [](const std::string& missing) {
    return nlohmann::ordered_json{{"works", missing.empty()}, {"reason", missing}};
  };
  return {{"slurm", service(batch::slurm_missing())}, {"ssh", service(batch::ssh_missing())}};
}

nlohmann::ordered_json gpu_document(const gpu::Facts& facts) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
  };
  nlohmann::ordered_json cards = nlohmann::ordered_json::array();
  for (const gpu::Card& card : facts.cards) {
    cards.push_back({{"name", card.name},
                     {"driver", card.driver},
                     {"memory_bytes", card.memory_bytes},
                     {"compute_mode", card.compute_mode}});
  }
  return {{"cards", std::move(cards)},
          {"mps_control", or_null(facts.mps_control)},
          {"nccl", or_null(facts.nccl)},
          {"shared", !gpu::why_not_shared(facts)},
          {"reason", or_null(gpu::why_not_shared(facts).value_or(""))}};
}

}  // namespace

command::Body declare_doctor(command::CommandLine& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print one JSON document, with the kernel's reasons");
  return [json](command::Streams streams) {
    const testbed::Features features = testbed::find_features();
    const gpu::Facts facts = gpu::find();
    if (*json) {
      nlohmann::ordered_json document = text::doctor_document(features);
      document["gpu"] = gpu_document(facts);
      document["cluster"] = cluster_document();
      fmt::print(streams.out, "{}\n", record::dumped(document));
    } else {
      fmt::print(streams.out, "{}", text::doctor_text(features, gpu_text(facts) + cluster_text()));
    }
    return text::can_emulate(features) ? 0 : kNothingWorks;
  };
}

}  // namespace tw::guide
