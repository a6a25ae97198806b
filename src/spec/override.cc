// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/override.h"

#include "trainwire/keys/problem.h"
#include "trainwire/spec/parse.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

namespace tw::spec {
namespace {

void list_if_single(keys::Table& table, std::string_view key) {
  keys::Node* node = keys::find(table, key);
  if (node == nullptr || !std::holds_alternative<keys::Table>(node->value)) return;
  keys::List single;
  single.push_back(std::move(*node));
  node->value = std::move(single);
}

/// A path cut at its first dot.
struct Path {
  std::string_view head;
  std::string_view rest;
};

Path cut(std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return {path, {}};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

std::optional<std::size_t> index(std::string_view text) {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

void assign(keys::Table& table, std::string_view key, const keys::Node& value) {
  if (keys::Node* node = keys::find(table, key)) {
    *node = value;
  } else {
    table.push_back({std::string(key), value});
  }
}

/// What says the same in other words: a value from outside replaces that too.
void drop_rivals(keys::Table& table, std::string_view key) {
  const auto drop = [&](std::string_view rival) {
    std::erase_if(table, [&](const auto& entry) { return entry.key == rival; });
  };
  if (key == "epochs") drop("steps");
  if (key == "model") drop("parameters");
  if (key != "steps") return;
  drop("epochs");
  drop("dataset");
}

/// As a file has it: links are the network's.
std::string whole_name(std::string_view list) {
  return list == "link" ? "network.link" : std::string(list);
}

std::string set_in(keys::Table& table, std::string_view path, const keys::Node& value);

std::string set_in_element(keys::Node& element, std::string_view path, const keys::Node& value) {
  auto* table = std::get_if<keys::Table>(&element.value);
  return table != nullptr ? set_in(*table, path, value) : "the section is not a table";
}

/// `path` starts with the number of an element, or means each of them.
std::string set_in_list(keys::List& list, std::string_view key, std::string_view path,
                        const keys::Node& value) {
  const std::string name = whole_name(key);
  if (list.empty())
    return fmt::format("there is no [[{}]] to set it in; add one to the file", name);
  const auto [head, rest] = cut(path);
  if (const auto i = index(head)) {
    if (*i >= list.size()) {
      return fmt::format("there is no {}.{}; the last one is {}.{}", name, head, name,
                         list.size() - 1);
    }
    return set_in_element(list[*i], rest, value);
  }
  for (keys::Node& element : list) {
    if (std::string problem = set_in_element(element, path, value); !problem.empty())
      return problem;
  }
  return "";
}

std::string set_in(keys::Table& table, std::string_view path, const keys::Node& value) {
  const auto [head, rest] = cut(path);
  if (head.empty()) return "a name is missing in the path; write for example network.rate";
  if (rest.empty()) {
    assign(table, head, value);
    drop_rivals(table, head);
    return "";
  }
  keys::Node* node = keys::find(table, head);
  if (node == nullptr) {
    if (index(cut(rest).head)) {
      return fmt::format("there is no [[{}]] to set it in", whole_name(head));
    }
    assign(table, head, keys::Node{.value = keys::Table{}, .place = value.place});
    node = keys::find(table, head);
  }
  if (auto* list = std::get_if<keys::List>(&node->value))
    return set_in_list(*list, head, rest, value);
  if (auto* inner = std::get_if<keys::Table>(&node->value)) return set_in(*inner, rest, value);
  return fmt::format("{} is a value, not a section", keys::in_quotes(head));
}

std::string_view unquoted(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

void list_repeated_sections(keys::Table& root) {
  for (const std::string_view key : {"job", "traffic", "fault", "expect"})
    list_if_single(root, key);
  keys::Node* network = keys::find(root, "network");
  if (network == nullptr) return;
  if (auto* table = std::get_if<keys::Table>(&network->value)) list_if_single(*table, "link");
}

std::string set_value(keys::Table& root, std::string_view path, const keys::Node& value) {
  const auto [head, rest] = cut(path);
  if (head != "sweep" || rest.empty()) return set_in(root, path, value);
  // An axis is a path itself, and one key of [sweep].
  if (keys::find(root, head) == nullptr)
    assign(root, head, keys::Node{.value = keys::Table{}, .place = value.place});
  auto* sweep = std::get_if<keys::Table>(&keys::find(root, head)->value);
  if (sweep == nullptr) return "sweep is not a section";
  assign(*sweep, unquoted(rest), value);
  return "";
}

Override parse_override(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view key = trimmed(text.substr(0, std::min(equals, text.size())));
  if (equals == std::string_view::npos || key.empty()) {
    throw SpecError(
        fmt::format("--set {}: not of the form key=value; write for example "
                    "--set network.rate=10Gbit",
                    text));
  }
  return {.key = std::string(key), .value = std::string(trimmed(text.substr(equals + 1)))};
}

}  // namespace tw::spec
