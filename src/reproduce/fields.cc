// SPDX-License-Identifier: Apache-2.0
#include "trainwire/reproduce/fields.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tw::reproduce {
namespace {

std::optional<double> number_in(const keys::Node& node) {
  if (const auto* whole = std::get_if<std::int64_t>(&node.value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* real = std::get_if<double>(&node.value)) return *real;
  return {};
}

std::optional<Tolerance> tolerance_in(const keys::Node& node) {
  if (const auto number = number_in(node)) return Tolerance{.amount = *number};
  const auto* text = std::get_if<std::string>(&node.value);
  if (text == nullptr || !text->ends_with('%')) return {};
  double percent = 0;
  const char* end = text->data() + text->size() - 1;
  const auto [rest, error] = std::from_chars(text->data(), end, percent);
  if (error != std::errc() || rest != end || percent < 0) return {};
  return Tolerance{.amount = percent / 100, .is_share = true};
}

std::optional<std::string> text_in(const keys::Node& node) {
  if (const auto* text = std::get_if<std::string>(&node.value)) return *text;
  return {};
}

/// One, or a list of them. Nothing when some are of another kind.
template <typename Of, typename In>
std::optional<std::vector<Of>> all_in(const keys::Node& node, const In& in) {
  std::vector<Of> all;
  const auto* list = std::get_if<keys::List>(&node.value);
  const keys::List alone = list == nullptr ? keys::List{node} : keys::List{};
  for (const keys::Node& each : list == nullptr ? alone : *list) {
    const auto one = in(each);
    if (!one) return {};
    all.push_back(*one);
  }
  return all;
}

}  // namespace

void Problems::throw_if_any() const {
  if (!found_.empty()) throw SpecError(keys::message(found_, file_, {}));
}

const keys::Node* Fields::find(std::string_view key) {
  asked_.emplace_back(key);
  return keys::find(table_, key);
}

void Fields::refuse(std::string_view key, std::string text) {
  const keys::Node* node = keys::find(table_, key);
  const std::string dot = path_.empty() ? "" : ".";
  problems_.add(node != nullptr ? node->place.line : line_, path_ + dot + std::string(key),
                std::move(text));
}

std::string Fields::text(std::string_view key) {
  const keys::Node* node = find(key);
  if (node == nullptr) return {};
  const auto text = text_in(*node);
  if (!text) refuse(key, "write a text, in quotes");
  return text.value_or("");
}

std::string Fields::needed(std::string_view key) {
  std::string found = text(key);
  if (keys::find(table_, key) == nullptr) refuse(key, "it is missing; write a text");
  return found;
}

bool Fields::yes(std::string_view key) {
  const keys::Node* node = find(key);
  if (node == nullptr) return false;
  const bool* value = std::get_if<bool>(&node->value);
  if (value == nullptr) refuse(key, "write true or false");
  return value != nullptr && *value;
}

std::vector<std::string> Fields::texts(std::string_view key) {
  const keys::Node* node = find(key);
  if (node == nullptr) return {};
  auto all = all_in<std::string>(*node, text_in);
  if (!all) refuse(key, "write texts, in quotes: [\"one\", \"two\"]");
  return all.value_or(std::vector<std::string>{});
}

std::vector<double> Fields::numbers(std::string_view key) {
  const keys::Node* node = find(key);
  if (node == nullptr) return {};
  auto all = all_in<double>(*node, number_in);
  if (!all) refuse(key, "write a number, or a list of them");
  return all.value_or(std::vector<double>{});
}

std::vector<Tolerance> Fields::tolerances(std::string_view key) {
  const keys::Node* node = find(key);
  if (node == nullptr) return {};
  auto all = all_in<Tolerance>(*node, tolerance_in);
  if (!all) refuse(key, "write a number in the unit, a share such as \"5%\", or a list of them");
  return all.value_or(std::vector<Tolerance>{});
}

std::optional<Expression> Fields::expression(std::string_view key) {
  const keys::Node* node = find(key);
  if (node == nullptr) return {};
  const auto text = text_in(*node);
  if (!text) {
    refuse(key, "write arithmetic, in quotes");
    return {};
  }
  try {
    return Expression(*text);
  } catch (const SpecError& error) {
    refuse(key, error.what());
    return {};
  }
}

Expression Fields::needed_expression(std::string_view key) {
  const auto found = expression(key);
  if (keys::find(table_, key) == nullptr) refuse(key, "it is missing; write arithmetic, in quotes");
  return found.value_or(Expression("0"));
}

std::vector<std::pair<std::string, std::vector<std::string>>> Fields::lists_of_values(
    std::string_view key) {
  const keys::Node* node = find(key);
  if (node == nullptr) return {};
  const auto* lists = std::get_if<keys::Table>(&node->value);
  if (lists == nullptr) {
    refuse(key, "write { \"network.loss\" = [0, \"1%\"] }");
    return {};
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  for (const keys::Entry& entry : *lists) {
    const auto* list = std::get_if<keys::List>(&entry.node.value);
    if (list == nullptr) {
      refuse(key, fmt::format("write a list of values for {}", keys::in_quotes(entry.key)));
      continue;
    }
    std::vector<std::string> values;
    for (const keys::Node& value : *list) values.push_back(keys::print(value));
    all.emplace_back(entry.key, std::move(values));
  }
  return all;
}

void Fields::each_table(std::string_view key, const std::function<void(Fields&)>& take) {
  const keys::Node* node = find(key);
  if (node == nullptr) return;
  const auto* list = std::get_if<keys::List>(&node->value);
  if (list == nullptr) {
    refuse(key, fmt::format("write [[{}]], a table for each", key));
    return;
  }
  for (const keys::Node& each : *list) {
    const auto* entries = std::get_if<keys::Table>(&each.value);
    if (entries == nullptr) {
      refuse(key, fmt::format("write [[{}]], a table for each", key));
      return;
    }
    Fields fields(*entries, path_ + (path_.empty() ? "" : ".") + std::string(key), each.place.line,
                  problems_);
    take(fields);
  }
}

void Fields::table(std::string_view key, const std::function<void(Fields&)>& take) {
  const keys::Node* node = find(key);
  if (node == nullptr) return;
  const auto* entries = std::get_if<keys::Table>(&node->value);
  if (entries == nullptr) {
    refuse(key, fmt::format("write [{}], a table", key));
    return;
  }
  Fields fields(*entries, std::string(key), node->place.line, problems_);
  take(fields);
}

void Fields::refuse_others() {
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const keys::Entry& entry : table_) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    refuse(entry.key, "unknown key; " + keys::remedy(entry.key, known, "docs/reproduce.md"));
  }
}

}  // namespace tw::reproduce
