// SPDX-License-Identifier: Apache-2.0
// Rules between settings: fills in what follows from others and refuses what cannot be.
//
// Each function takes what was read and the Section it was read from, completes the former and
// reports to the latter. None of them stops at the first problem. Settings that could not be read
// are left alone, except that a queue is judged by the default rate beside a rate that could not be
// read.

#pragma once

#include "trainwire/keys/problem.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/spec/parse.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::spec {

/// REQUIRES: one Section for each of the network's overrides.
void resolve_network(Network& network, keys::Section& section, std::span<keys::Section> links);

/// What jobs and traffic are checked against.
struct Surroundings {
  const Network& network;
  const Vocabulary& vocabulary;
  /// False when the number of hosts could not be read: then host names are not judged.
  bool hosts_known;
};

/// All but the lists that fill_lists() makes. `number` is the job's place among the jobs.
void resolve_job(Job& job, int number, const Surroundings& around, keys::Section& section);

/// What concerns the jobs together: names are unique, ranks are not too many.
void resolve_jobs(std::span<const Job> jobs, std::span<keys::Section> sections);

void resolve_traffic(const Traffic& traffic, const Surroundings& around, keys::Section& section);
/// REQUIRES: the jobs are resolved.
void resolve_fault(Fault& fault, std::span<const Job> jobs, const Surroundings& around,
                   keys::Section& section);
void resolve_expectation(const Expectation& expectation, keys::Section& section);

/// The job's hosts and placement where they follow from the rest: apart, because they are as long
/// as the job is large and no rule needs them. REQUIRES: the job is otherwise resolved.
void fill_lists(Job& job, const Network& network);

/// What is wrong with a link of that name: "" when it exists.
std::string link_problem(const Network& network, const std::string& name);
/// What is wrong with a host of that name: "" when it exists.
std::string host_problem(const Network& network, std::string_view name);

/// True when somebody wrote it down.
template <typename T>
bool is_explicit(const Setting<T>& setting) {
  return setting.origin == Origin::File || setting.origin == Origin::Override;
}

/// Sets what nobody wrote down.
template <typename T>
void derive(Setting<T>& setting, T value) {
  if (!is_explicit(setting)) setting = {std::move(value), Origin::Derived};
}

}  // namespace tw::spec
