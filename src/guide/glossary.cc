// SPDX-License-Identifier: Apache-2.0
#include "trainwire/guide/glossary.h"

#include "trainwire/base/nearest.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/diagnose/finding_kinds.h"
#include "trainwire/record/check_kinds.h"
#include "trainwire/result/schema.h"
#include "trainwire/spec/reference.h"
#include "trainwire/zoo/zoo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tw::guide {
namespace {

using Entries = std::vector<Entry>;
using Facts = std::vector<std::pair<std::string, std::string_view>>;

void add(Entries& entries, std::string kind, std::string name, const Facts& facts) {
  Entry& entry = entries.emplace_back(Entry{std::move(kind), std::move(name), {}});
  for (const auto& [label, text] : facts) {
    if (!text.empty()) entry.facts.emplace_back(label, text);
  }
}

/// "network.link." for "[[network.link]]".
std::string path_of(const std::string& header) {
  std::string path = header;
  std::erase_if(path, [](char c) { return c == '[' || c == ']'; });
  return path.empty() ? path : path + ".";
}

/// The reference sets values in backquotes, as its document does.
std::string bare(std::string text) {
  std::erase(text, '`');
  return text;
}

void add_keys(Entries& entries) {
  for (const spec::SectionText& section : spec::reference()) {
    for (const spec::KeyText& key : section.keys) {
      const std::string otherwise = bare(key.otherwise);
      add(entries, "key", path_of(section.header) + key.key,
          {{"meaning", key.help},
           {"value", key.type},
           {"default", otherwise},
           {"section", section.header.empty() ? "top level" : section.header}});
    }
  }
}

void add_tables(Entries& entries) {
  for (const result::Table& table : result::tables()) {
    add(entries, "table", std::string(table.name),
        {{"meaning", table.meaning}, {"file", fmt::format("{}.csv", table.name)}});
    for (const result::Column& column : table.columns) {
      add(entries, "column", fmt::format("{}.{}", table.name, column.name),
          {{"meaning", column.meaning},
           {"unit", column.unit},
           {"type", name_of(column.type)},
           {"table", table.name}});
    }
  }
}

void add_judgements(Entries& entries) {
  for (const record::CheckKind& check : record::check_kinds()) {
    add(entries, "check", std::string(check.name),
        {{"judged", check.judged},
         {"ok", check.ok},
         {"warn", check.warn},
         {"FAIL", check.failed},
         {"what to do", check.remedy}});
  }
  for (const diagnose::FindingKind& finding : diagnose::finding_kinds()) {
    add(entries, "finding", std::string(finding.name),
        {{"claim", finding.claim}, {"known by", finding.known_by}, {"what to do", finding.remedy}});
  }
}

void add_names(Entries& entries) {
  for (const collective::Strategy& strategy : collective::catalogue()) {
    add(entries, "strategy", std::string(strategy.name),
        {{"meaning", strategy.summary},
         {"operation", collective::name_of(strategy.operation)},
         {"rounds", strategy.rounds},
         {"bytes", strategy.bytes}});
  }
  for (const std::string_view model : zoo::names()) {
    const std::string where = fmt::format("`trainwire models {}` has its layers", model);
    add(entries, "model", std::string(model), {{"meaning", where}});
  }
}

/// As names are compared: lower case, without numbers of entries, brackets and ".csv".
std::string normal(std::string_view word) {
  std::string text;
  for (const char c : word) {
    if (c == '[' || c == ']' || c == '`') continue;
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (text.ends_with(".csv")) text.resize(text.size() - 4);
  std::string path;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    const std::string part = text.substr(at, end - at);
    const bool is_number = !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
    if (!is_number) path += (path.empty() ? "" : ".") + part;
    at = end + 1;
  }
  return path;
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

const std::vector<Entry>& glossary() {
  static const Entries entries = [] {
    Entries all;
    add_keys(all);
    add_judgements(all);
    add_names(all);
    add_tables(all);
    return all;
  }();
  return entries;
}

std::vector<Entry> find(std::string_view word) {
  const std::string wanted = normal(word);
  Entries found;
  for (const Entry& entry : glossary()) {
    const bool ends_so = entry.name.size() > wanted.size() && entry.name.ends_with("." + wanted);
    if (!wanted.empty() && (entry.name == wanted || ends_so)) found.push_back(entry);
  }
  return found;
}

std::vector<std::string> near(std::string_view word) {
  const std::string wanted = normal(word);
  std::vector<std::pair<int, std::string>> candidates;
  for (const Entry& entry : glossary()) {
    for (const std::string_view name : {std::string_view(entry.name), last_part(entry.name)}) {
      const std::string_view one[] = {name};
      if (nearest(wanted, one)) candidates.emplace_back(edit_distance(wanted, name), entry.name);
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& candidate : candidates) {
    const bool is_new = std::find(names.begin(), names.end(), candidate.second) == names.end();
    if (is_new && names.size() < 3) names.push_back(candidate.second);
  }
  return names;
}

}  // namespace tw::guide
