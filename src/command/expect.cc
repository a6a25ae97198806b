// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/expect.h"

#include "trainwire/base/nearest.h"
#include "trainwire/base/printable.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/record/json.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tw::command {
namespace {

using nlohmann::ordered_json;

const ordered_json* child(const ordered_json& node, std::string_view key) {
  if (node.is_object()) {
    const auto found = node.find(std::string(key));
    return found == node.end() ? nullptr : &*found;
  }
  std::size_t index = 0;
  const auto [rest, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error != std::errc() || rest != key.data() + key.size()) return nullptr;
  return node.is_array() && index < node.size() ? &node[index] : nullptr;
}

/// What stands where the path leads no further; `at` is the path up to there.
std::string why_no_child(const ordered_json& node, std::string_view at, std::string_view key) {
  const std::string where = at.empty() ? "the document" : fmt::format("\"{}\"", at);
  if (node.is_array()) return fmt::format("{} is a list of {}", where, node.size());
  if (!node.is_object()) return fmt::format("{} is {}", where, node.is_null() ? "null" : "a value");
  std::vector<std::string_view> keys;
  for (const auto& item : node.items()) keys.push_back(item.key());
  if (const auto near = nearest(key, keys)) {
    return fmt::format("did you mean \"{}{}{}\"?", at, at.empty() ? "" : ".", *near);
  }
  return "--json shows what there is";
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

ordered_json to_json(const Judged& one) {
  return {{"metric", one.metric},
          {"ok", one.ok},
          {"expected", one.expected},
          {"found", one.found ? ordered_json(*one.found) : ordered_json()},
          {"text", one.text}};
}

}  // namespace

Lookup look_up(const ordered_json& document, std::string_view path) {
  const ordered_json* node = &document;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view key = path.substr(begin, end - begin);
    const ordered_json* next = child(*node, key);
    if (next == nullptr) {
      return {.problem = why_no_child(*node, path.substr(0, begin == 0 ? 0 : begin - 1), key)};
    }
    node = next;
    begin = end + 1;
  }
  if (node->is_number()) return {.number = node->get<double>()};
  return {.problem = fmt::format("it is {}", node->is_null()     ? "null"
                                             : node->is_object() ? "an object"
                                             : node->is_array()  ? "a list"
                                                                 : "no number")};
}

Judged judge(const spec::Expectation& expectation, const ordered_json& document) {
  const Lookup at = look_up(document, expectation.metric);
  Judged judged{.metric = expectation.metric,
                .ok = at.number && holds(expectation, *at.number),
                .expected = bound_text(expectation),
                .found = at.number,
                .text = {}};
  judged.text =
      fmt::format("{}: expected {}, found {}", judged.metric, judged.expected,
                  at.number ? fmt::format("{}", *at.number) : "no number there: " + at.problem);
  return judged;
}

std::vector<Judged> judge_all(std::span<const spec::Expectation> expectations,
                              std::string_view command, ordered_json& document) {
  std::vector<Judged> judged;
  ordered_json list = ordered_json::array();
  for (const spec::Expectation& expectation : expectations) {
    if (expectation.of != command) continue;
    list.push_back(to_json(judged.emplace_back(judge(expectation, document))));
  }
  document["expectations"] = std::move(list);
  return judged;
}

std::vector<Judged> judge_all(std::span<const spec::Expectation> expectations,
                              std::string_view command, record::Run& run) {
  const bool has_any = std::any_of(expectations.begin(), expectations.end(),
                                   [&](const auto& each) { return each.of == command; });
  run.expectations.emplace();
  if (!has_any) return {};  // a large record costs time as a document
  ordered_json document = record::to_json(run);
  std::vector<Judged> judged = judge_all(expectations, command, document);
  run.expectations = judged;
  return judged;
}

std::string expectations_text(std::span<const Judged> judged) {
  if (judged.empty()) return {};
  std::string text = "expectations\n";
  for (const Judged& one : judged) {
    text += fmt::format("  {}  {}\n", one.ok ? "ok  " : "FAIL", printable(one.text));
  }
  return text;
}

int expectations_code(std::span<const Judged> judged, std::ostream& err) {
  int code = kDone;
  for (const Judged& one : judged) {
    if (one.ok) continue;
    fmt::print(err, "trainwire: NOT AS EXPECTED: {}\n", printable(one.text));
    code = kExpectationFailed;
  }
  return code;
}

}  // namespace tw::command
