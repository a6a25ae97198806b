// SPDX-License-Identifier: Apache-2.0
#include "trainwire/guide/glossary.h"

#include "trainwire/collective/strategies.h"
#include "trainwire/diagnose/finding_kinds.h"
#include "trainwire/record/check_kinds.h"
#include "trainwire/result/schema.h"
#include "trainwire/spec/reference.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace tw::guide {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

bool explains(std::string_view word, std::string_view kind) {
  const std::vector<Entry> entries = find(word);
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.kind == kind && !entry.facts.empty();
  });
}

std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

TEST(Glossary, ExplainsEveryWordThatThereIs) {
  for (const spec::SectionText& section : spec::reference()) {
    for (const spec::KeyText& key : section.keys) EXPECT_TRUE(explains(key.key, "key")) << key.key;
  }
  for (const result::Table& table : result::tables()) {
    EXPECT_TRUE(explains(table.name, "table")) << table.name;
    for (const result::Column& column : table.columns) {
      EXPECT_TRUE(explains(column.name, "column")) << column.name;
    }
  }
  for (const auto& kind : record::check_kinds()) EXPECT_TRUE(explains(kind.name, "check"));
  for (const auto& kind : diagnose::finding_kinds()) EXPECT_TRUE(explains(kind.name, "finding"));
  for (const auto& strategy : collective::catalogue()) {
    EXPECT_TRUE(explains(strategy.name, "strategy")) << strategy.name;
  }
}

TEST(Glossary, HasEachNameOfAKindOnceAndNoEmptyText) {
  std::set<std::string> seen;
  for (const Entry& entry : glossary()) {
    EXPECT_TRUE(seen.insert(entry.kind + " " + entry.name).second) << entry.name;
    for (const auto& [label, text] : entry.facts) EXPECT_FALSE(text.empty()) << entry.name << label;
  }
}

TEST(Glossary, TakesNamesAsTheyAreMet) {
  EXPECT_THAT(names_of(find("job.0.model")), ElementsAre("job.model"));
  EXPECT_THAT(names_of(find("[[network.link]].rate")), ElementsAre("network.link.rate"));
  EXPECT_THAT(names_of(find("FLOWS.csv")), Contains("flows"));
  EXPECT_THAT(names_of(find("rate")), Contains("network.rate"));
  EXPECT_THAT(names_of(find("rate")), Contains("network.link.rate"));
  EXPECT_THAT(find(""), IsEmpty());
}

TEST(Glossary, HasTheDefaultAsItWouldBeWritten) {
  const Entry hosts = find("network.hosts").front();
  EXPECT_THAT(hosts.facts, Contains(testing::Pair("default", "4")));
  EXPECT_THAT(hosts.facts, Contains(testing::Pair("value", "whole number")));
}

TEST(Glossary, KnowsWhatWasPerhapsMeant) {
  EXPECT_THAT(find("netwrok.rate"), IsEmpty());
  EXPECT_THAT(near("netwrok.rate"), Contains("network.rate"));
  EXPECT_THAT(near("slowlink"), Contains("slow_link"));
  EXPECT_THAT(near("xyzzyxyzzy"), IsEmpty());
}

}  // namespace
}  // namespace tw::guide
