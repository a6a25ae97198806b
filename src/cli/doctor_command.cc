// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/commands.h"
#include "trainwire/cli/doctor_text.h"
#include "trainwire/record/json.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace tw::cli {
namespace {

constexpr int kNothingWorks = 3;

}  // namespace

Body declare_doctor(CommandLine& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print one JSON document, with the kernel's reasons");
  return [json](Streams streams) {
    const testbed::Features features = testbed::find_features();
    if (*json) {
      fmt::print(streams.out, "{}\n", record::dumped(doctor_document(features)));
    } else {
      fmt::print(streams.out, "{}", doctor_text(features));
    }
    return can_emulate(features) ? 0 : kNothingWorks;
  };
}

}  // namespace tw::cli
