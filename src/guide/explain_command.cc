// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/guide/commands.h"
#include "trainwire/guide/glossary.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tw::guide {
namespace {

using nlohmann::ordered_json;

struct ExplainOptions {
  std::string word;
  bool json = false;
};

std::vector<Entry> found(const std::string& word) {
  std::vector<Entry> entries = find(word);
  if (!entries.empty()) return entries;
  const std::vector<std::string> names = near(word);
  throw SpecError(fmt::format(
      "nothing is called \"{}\"; {}", printable(word),
      names.empty() ? std::string("`trainwire explain` lists every word")
                    : fmt::format("did you mean \"{}\"?", fmt::join(names, "\" or \""))));
}

ordered_json document_of(const ExplainOptions& options, const std::vector<Entry>& entries) {
  ordered_json document{{"schema", 1},
                        {"command", "explain"},
                        {"word", options.word},
                        {"entries", ordered_json::array()}};
  for (const Entry& entry : entries) {
    ordered_json made{{"kind", entry.kind}, {"name", entry.name}};
    for (const auto& [label, text] : entry.facts) made[label] = text;
    document["entries"].push_back(std::move(made));
  }
  return document;
}

void print_entry(const Entry& entry, std::ostream& out) {
  fmt::print(out, "{}: {}\n", entry.kind, entry.name);
  for (const auto& [label, text] : entry.facts) fmt::print(out, "  {:<11} {}\n", label, text);
}

/// Every word, kind by kind.
void print_words(std::ostream& out) {
  std::string kind;
  for (const Entry& entry : glossary()) {
    if (entry.kind != kind) fmt::print(out, "{}{}\n", kind.empty() ? "" : "\n", entry.kind);
    kind = entry.kind;
    fmt::print(out, "  {:<34} {}\n", entry.name, entry.facts.front().second);
  }
  fmt::print(out, "\nnext: trainwire explain WORD\n");
}

/// Of what it was about: one more place to look.
std::string_view next_of(const Entry& entry) {
  if (entry.kind == "key") return "trainwire show FILE prints every key with its value";
  if (entry.kind == "column" || entry.kind == "table") return "trainwire schema lists every table";
  if (entry.kind == "strategy") return "trainwire plan FILE --set job.strategy=NAME";
  if (entry.kind == "finding") return "trainwire analyze CAPTURE --cut finding:1=FILE.pcapng";
  return "trainwire explain lists every word";
}

int explain(const ExplainOptions& options, command::Streams streams) {
  const std::vector<Entry> entries = options.word.empty() ? glossary() : found(options.word);
  if (options.json) {
    fmt::print(streams.out, "{}\n", document_of(options, entries).dump(2));
    return command::kDone;
  }
  if (options.word.empty()) {
    print_words(streams.out);
    return command::kDone;
  }
  for (const Entry& entry : entries) {
    print_entry(entry, streams.out);
    fmt::print(streams.out, "\n");
  }
  fmt::print(streams.out, "next: {}\n", next_of(entries.front()));
  return command::kDone;
}

std::vector<std::string> words() {
  std::vector<std::string> names;
  for (const Entry& entry : glossary()) names.push_back(entry.name);
  return names;
}

}  // namespace

command::Body declare_explain(command::CommandLine& app) {
  const auto options = std::make_shared<ExplainOptions>();
  app.add_option("WORD", options->word,
                 "a key (network.rate), check (clock), finding (slow_link), table or column "
                 "(flows.class), strategy or model; without one, all there are")
      .type_name("")
      .suggests(words());
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return explain(*options, streams); };
}

}  // namespace tw::guide
