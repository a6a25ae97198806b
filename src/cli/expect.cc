// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/expect.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <charconv>
#include <cmath>

namespace tw::cli {
namespace {

const nlohmann::ordered_json* child(const nlohmann::ordered_json& node, std::string_view key) {
  if (node.is_object()) {
    const auto found = node.find(std::string(key));
    return found == node.end() ? nullptr : &*found;
  }
  std::size_t index = 0;
  const auto [rest, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error != std::errc() || rest != key.data() + key.size()) return nullptr;
  return node.is_array() && index < node.size() ? &node[index] : nullptr;
}

std::string bound_text(const spec::Expectation& e) {
  if (e.equals) return fmt::format("{} \u00b1{}%", *e.equals, e.tolerance * 100);
  if (e.at_least && e.at_most) return fmt::format("{} to {}", *e.at_least, *e.at_most);
  return e.at_least ? fmt::format("at least {}", *e.at_least)
                    : fmt::format("at most {}", *e.at_most);
}

bool holds(const spec::Expectation& e, double found) {
  if (e.equals) return std::fabs(found - *e.equals) <= e.tolerance * std::fabs(*e.equals);
  return (!e.at_least || found >= *e.at_least) && (!e.at_most || found <= *e.at_most);
}

}  // namespace

double metric(const nlohmann::ordered_json& document, std::string_view path) {
  const nlohmann::ordered_json* node = &document;
  for (std::string_view rest = path; !rest.empty() && node != nullptr;) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    node = child(*node, rest.substr(0, dot));
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  if (node == nullptr || !node->is_number()) {
    throw SpecError(
        fmt::format("expect: the result has no number at \"{}\"; --json shows what it has", path));
  }
  return node->get<double>();
}

Outcome judge(const spec::Expectation& expectation, const nlohmann::ordered_json& document) {
  const double found = metric(document, expectation.metric);
  return {.ok = holds(expectation, found),
          .text = fmt::format("{}: expected {}, found {}", expectation.metric,
                              bound_text(expectation), found)};
}

int judge_all(std::span<const spec::Expectation> expectations, std::string_view command,
              const nlohmann::ordered_json& document, std::ostream& err) {
  int code = 0;
  for (const spec::Expectation& expectation : expectations) {
    if (expectation.of != command) continue;
    const Outcome outcome = judge(expectation, document);
    fmt::print(err, "{} {}\n", outcome.ok ? "as expected:" : "NOT AS EXPECTED:", outcome.text);
    if (!outcome.ok) code = 1;
  }
  return code;
}

}  // namespace tw::cli
