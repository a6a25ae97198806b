// SPDX-License-Identifier: Apache-2.0
#include "trainwire/keys/tree.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace tw::keys {
namespace {

/// Where `key` stands in the file; entries are put back into that order.
struct Placed {
  toml::source_position at;
  Entry entry;
};

int line_of(const toml::source_region& region) {
  return std::max(1, static_cast<int>(region.begin.line));
}

Node convert(const toml::node& node);

Table convert_table(const toml::table& table) {
  std::vector<Placed> placed;
  placed.reserve(table.size());
  for (const auto& [key, node] : table) {
    placed.push_back({key.source().begin, {std::string(key.str()), convert(node)}});
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const Placed& a, const Placed& b) { return a.at < b.at; });
  Table result;
  result.reserve(placed.size());
  for (Placed& p : placed) result.push_back(std::move(p.entry));
  return result;
}

List convert_list(const toml::array& array) {
  List list;
  list.reserve(array.size());
  for (const toml::node& node : array) list.push_back(convert(node));
  return list;
}

Node convert(const toml::node& node) {
  Node result{.value = {}, .place = {.line = line_of(node.source())}};
  if (const auto* table = node.as_table()) result.value = convert_table(*table);
  if (const auto* array = node.as_array()) result.value = convert_list(*array);
  if (const auto* text = node.as_string()) result.value = text->get();
  if (const auto* whole = node.as_integer()) result.value = whole->get();
  if (const auto* real = node.as_floating_point()) result.value = real->get();
  if (const auto* flag = node.as_boolean()) result.value = flag->get();
  return result;
}

void place_all(Node& node, Place place) {
  node.place = place;
  if (auto* list = std::get_if<List>(&node.value)) {
    for (Node& element : *list) place_all(element, place);
  }
  if (auto* table = std::get_if<Table>(&node.value)) {
    for (Entry& entry : *table) place_all(entry.node, place);
  }
}

// The library bounds nested values but not dotted keys, and each dot costs it stack: some 30,000 of
// them crash it. No text but a dotted key has this many dots between two other punctuation marks.
constexpr int kMostDots = 500;

bool is_part_of_key(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter || c == '.' || c == '_' || c == '-' || c == '"' || c == '\'' || c == ' ' ||
         c == '\t' || static_cast<unsigned char>(c) >= 0x80;
}

/// Line of a key with too many dots, or 0.
int line_of_too_deep_key(std::string_view text) {
  int line = 1;
  int dots = 0;
  for (const char c : text) {
    if (c == '\n') ++line;
    dots = is_part_of_key(c) ? dots + (c == '.') : 0;
    if (dots > kMostDots) return line;
  }
  return 0;
}

/// The value of a document "v = ...", if it is one and nothing but that.
std::optional<Node> only_value(const std::string& document) {
  if (line_of_too_deep_key(document) != 0) return {};
  try {
    const toml::table table = toml::parse(std::string_view(document));
    const toml::node* node = table.get("v");
    // A line break followed by a table header would smuggle in more than a value.
    if (table.size() != 1 || node == nullptr) return {};
    return convert(*node);
  } catch (const toml::parse_error&) {
    return {};
  }
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string print_number(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return fmt::format("{}", number);
}

template <typename Items, typename Print>
std::string joined(const Items& items, Print print_one) {
  std::string out;
  for (const auto& item : items) {
    if (!out.empty()) out += ", ";
    out += print_one(item);
  }
  return out;
}

struct Printer {
  std::string operator()(Absent) const { return ""; }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int64_t whole) const { return fmt::format("{}", whole); }
  std::string operator()(double number) const { return print_number(number); }
  std::string operator()(const std::string& text) const { return quote(text); }
  std::string operator()(const List& list) const {
    return fmt::format("[{}]", joined(list, [](const Node& node) { return print(node); }));
  }
  std::string operator()(const Table& table) const {
    const auto print_entry = [](const Entry& entry) {
      return fmt::format("{} = {}", print_key(entry.key), print(entry.node));
    };
    return fmt::format("{{{}}}", joined(table, print_entry));
  }
};

}  // namespace

const Node* find(const Table& table, std::string_view key) {
  const auto at = std::find_if(table.begin(), table.end(),
                               [&](const Entry& entry) { return entry.key == key; });
  return at == table.end() ? nullptr : &at->node;
}

Node* find(Table& table, std::string_view key) {
  return const_cast<Node*>(find(std::as_const(table), key));
}

Table read_tree(std::string_view text, std::string_view file) {
  if (const int line = line_of_too_deep_key(text); line != 0) {
    throw SpecError(
        fmt::format("{}:{}: a key with more than {} dots; no section is nested so deeply", file,
                    line, kMostDots));
  }
  try {
    return convert_table(toml::parse(text));
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw SpecError(fmt::format("{}:{}:{}: {}", file, at.line, at.column, error.description()));
  }
}

std::optional<Node> read_value(std::string_view text, Place place) {
  std::optional<Node> node = only_value(fmt::format("v = {}", text));
  if (!node) node = only_value("v = " + quote(text));
  if (node) place_all(*node, place);
  return node;
}

std::string print(const Node& node) { return std::visit(Printer{}, node.value); }

std::string print_key(std::string_view key) {
  constexpr std::string_view kBare =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const bool is_bare = !key.empty() && key.find_first_not_of(kBare) == std::string_view::npos;
  return is_bare ? std::string(key) : quote(key);
}

}  // namespace tw::keys
