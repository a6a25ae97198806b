// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/read.h"

#include "trainwire/base/shipped.h"
#include "trainwire/spec/fields.h"
#include "trainwire/spec/resolve.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::spec {
namespace {

std::string where_keys_are() { return shipped("docs/experiment-file.md"); }

template <typename S>
std::vector<std::string_view> keys_of(const std::vector<Field<S>>& fields) {
  std::vector<std::string_view> keys;
  for (const Field<S>& field : fields) keys.push_back(field.key);
  return keys;
}

/// Reads the section's keys; `also` are known keys that somebody else reads.
template <typename S>
void read_fields(keys::Section& section, const std::vector<Field<S>>& fields, S& into,
                 std::span<const std::string_view> also = {}) {
  for (const keys::Entry& entry : section.table()) {
    if (std::find(also.begin(), also.end(), entry.key) != also.end()) continue;
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field<S>& f) { return f.key == entry.key; });
    std::string problem;
    if (field == fields.end()) {
      std::vector<std::string_view> known = keys_of(fields);
      known.insert(known.end(), also.begin(), also.end());
      problem = "unknown key; " + keys::remedy(entry.key, known, where_keys_are());
    } else {
      problem = field->read(into, entry.node);
    }
    if (!problem.empty()) section.refuse(entry.key, std::move(problem));
  }
}

/// The tables of a section that may be repeated, one Section each. "job" when it is alone, "job.0",
/// "job.1" when not: the paths that --set takes.
std::vector<keys::Section> repeated(const keys::Table& parent, std::string_view key,
                                    const std::string& path, std::vector<keys::Problem>& problems) {
  const keys::Node* node = keys::find(parent, key);
  if (node == nullptr) return {};
  const auto* list = std::get_if<keys::List>(&node->value);
  if (list == nullptr) {
    problems.push_back({node->place, path, fmt::format("not a section; write [[{}]]", path)});
    return {};
  }
  std::vector<keys::Section> sections;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const keys::Node& element = (*list)[i];
    const std::string name = list->size() == 1 ? path : fmt::format("{}.{}", path, i);
    if (const auto* table = std::get_if<keys::Table>(&element.value)) {
      sections.emplace_back(name, *table, element.place, problems);
    } else {
      problems.push_back({element.place, name, fmt::format("not a section; write [[{}]]", path)});
    }
  }
  return sections;
}

/// The section of that name, empty when the file lacks it.
keys::Section single(const keys::Table& root, std::string_view key,
                     std::vector<keys::Problem>& problems) {
  static const keys::Table empty;
  const std::string name(key);
  const keys::Node* node = keys::find(root, key);
  if (node == nullptr) return {name, empty, {}, problems};
  if (const auto* table = std::get_if<keys::Table>(&node->value)) {
    return {name, *table, node->place, problems};
  }
  problems.push_back({node->place, name, fmt::format("not a section; write [{}]", key)});
  return {name, empty, node->place, problems};
}

template <typename S>
std::vector<S> read_repeated(std::span<keys::Section> sections,
                             const std::vector<Field<S>>& fields) {
  std::vector<S> values(sections.size());
  for (std::size_t i = 0; i < sections.size(); ++i) read_fields(sections[i], fields, values[i]);
  return values;
}

/// "network.rate" for "rate": a key written outside its section.
template <typename S>
void suggest(std::string_view key, std::string_view section, const std::vector<Field<S>>& fields,
             std::string& found) {
  const bool is_here = std::any_of(fields.begin(), fields.end(),
                                   [&](const Field<S>& field) { return field.key == key; });
  if (is_here && found.empty()) found = fmt::format("{}.{}", section, key);
}

std::string unknown_section(std::string_view key, std::span<const std::string_view> known) {
  std::string path;
  suggest(key, "network", network_fields(), path);
  suggest(key, "job", job_fields(), path);
  suggest(key, "traffic", traffic_fields(), path);
  suggest(key, "fault", fault_fields(), path);
  suggest(key, "capture", capture_fields(), path);
  suggest(key, "run", run_fields(), path);
  if (!path.empty()) return fmt::format("unknown key; did you mean \"{}\"?", path);
  return "unknown section or key; " + keys::remedy(key, known, where_keys_are());
}

void read_top(const keys::Table& root, Experiment& into, std::vector<keys::Problem>& problems) {
  keys::Section top("", root, {}, problems);
  std::vector<std::string_view> known = keys_of(experiment_fields());
  known.insert(known.end(), kSections.begin(), kSections.end());
  std::vector<std::string_view> elsewhere(kSections.begin(), kSections.end());
  for (const keys::Entry& entry : root) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    top.refuse(entry.key, unknown_section(entry.key, known));
    elsewhere.push_back(entry.key);
  }
  read_fields(top, experiment_fields(), into, elsewhere);
}

/// Whether the network's number of hosts could be read.
bool read_network(const keys::Table& root, Network& into, std::vector<keys::Problem>& problems) {
  static constexpr std::array<std::string_view, 1> kAlso{"link"};
  keys::Section section = single(root, "network", problems);
  std::vector<keys::Section> links = repeated(section.table(), "link", "network.link", problems);
  read_fields(section, network_fields(), into, kAlso);
  into.overrides = read_repeated(links, link_fields());
  resolve_network(into, section, links);
  return section.readable({"hosts"});
}

/// At most so many when they end by themselves.
constexpr int kUsualRepeats = 10;

}  // namespace

Experiment read_experiment(const keys::Table& root, const Vocabulary& vocabulary,
                           std::vector<keys::Problem>& problems) {
  Experiment experiment;
  read_top(root, experiment, problems);
  const bool hosts_known = read_network(root, experiment.network, problems);
  const Surroundings around{experiment.network, vocabulary, hosts_known};

  std::vector<keys::Section> jobs = repeated(root, "job", "job", problems);
  experiment.jobs = read_repeated(jobs, job_fields());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    resolve_job(experiment.jobs[i], static_cast<int>(i), around, jobs[i]);
  }
  resolve_jobs(experiment.jobs, jobs);

  std::vector<keys::Section> traffic = repeated(root, "traffic", "traffic", problems);
  experiment.traffic = read_repeated(traffic, traffic_fields());
  for (std::size_t i = 0; i < traffic.size(); ++i) {
    resolve_traffic(experiment.traffic[i], around, traffic[i]);
  }

  std::vector<keys::Section> faults = repeated(root, "fault", "fault", problems);
  experiment.faults = read_repeated(faults, fault_fields());
  for (std::size_t i = 0; i < faults.size(); ++i) {
    resolve_fault(experiment.faults[i], experiment.jobs, around, faults[i]);
  }

  keys::Section capture = single(root, "capture", problems);
  read_fields(capture, capture_fields(), experiment.capture);
  keys::Section run = single(root, "run", problems);
  read_fields(run, run_fields(), experiment.run);
  if (*experiment.run.repeat_until) derive(experiment.run.repeats, kUsualRepeats);

  std::vector<keys::Section> expectations = repeated(root, "expect", "expect", problems);
  experiment.expectations = read_repeated(expectations, expectation_fields());
  for (std::size_t i = 0; i < expectations.size(); ++i) {
    resolve_expectation(experiment.expectations[i], expectations[i]);
  }
  return experiment;
}

}  // namespace tw::spec
