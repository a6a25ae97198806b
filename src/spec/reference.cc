// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/reference.h"

#include "trainwire/spec/fields.h"

#include <fmt/format.h>

namespace tw::spec {
namespace {

template <typename S>
std::string default_of(const Field<S>& field) {
  if (!field.about.otherwise.empty()) return std::string(field.about.otherwise);
  const std::optional<Held> held = field.held(S{});
  const bool is_set = held && !std::holds_alternative<keys::Absent>(held->written.value);
  return is_set ? fmt::format("`{}`", keys::print(held->written)) : "not set";
}

template <typename S>
SectionText section(std::string header, const std::vector<Field<S>>& fields) {
  SectionText text{.header = std::move(header), .keys = {}};
  for (const Field<S>& field : fields) {
    text.keys.push_back(
        {std::string(field.key), field.type, default_of(field), std::string(field.about.help)});
  }
  return text;
}

}  // namespace

std::vector<SectionText> reference() {
  return {section("", experiment_fields()),           section("[network]", network_fields()),
          section("[[network.link]]", link_fields()), section("[[job]]", job_fields()),
          section("[[traffic]]", traffic_fields()),   section("[[fault]]", fault_fields()),
          section("[capture]", capture_fields()),     section("[run]", run_fields()),
          section("[[expect]]", expectation_fields())};
}

std::string reference_markdown() {
  std::string out;
  for (const SectionText& section : reference()) {
    const std::string title =
        section.header.empty() ? "Top level" : fmt::format("`{}`", section.header);
    out += fmt::format("### {}\n\n| key | type | default | meaning |\n|---|---|---|---|\n", title);
    for (const KeyText& key : section.keys) {
      out += fmt::format("| `{}` | {} | {} | {} |\n", key.key, key.type, key.otherwise, key.help);
    }
    out += '\n';
  }
  return out;
}

}  // namespace tw::spec
