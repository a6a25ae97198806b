// SPDX-License-Identifier: Apache-2.0
#include "trainwire/guide/commands.h"
#include "trainwire/record/json.h"
#include "trainwire/text/doctor_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace tw::guide {
namespace {

constexpr int kNothingWorks = 3;

}  // namespace

command::Body declare_doctor(command::CommandLine& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print one JSON document, with the kernel's reasons");
  return [json](command::Streams streams) {
    const testbed::Features features = testbed::find_features();
    if (*json) {
      fmt::print(streams.out, "{}\n", record::dumped(text::doctor_document(features)));
    } else {
      fmt::print(streams.out, "{}", text::doctor_text(features));
    }
    return text::can_emulate(features) ? 0 : kNothingWorks;
  };
}

}  // namespace tw::guide
