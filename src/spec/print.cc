// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/print.h"

#include "trainwire/spec/fields.h"
#include "trainwire/spec/links.h"
#include "trainwire/spec/scale.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>

namespace tw::spec {
namespace {

constexpr std::size_t kLongList = 16;
constexpr std::size_t kMostLinksExplained = 100;

/// Remarks behind the lines of single keys.
using Remarks = std::map<std::string_view, std::string>;

struct Style {
  /// Presets as comments, so that an axis over frameworks still brings each one's own.
  bool presets_as_comments;
};

/// A list too long to be shown whole: its first and last entries and its length.
std::string shortened(const keys::List& list) {
  return fmt::format("[{}, ..., {}]  {} entries", keys::print(list.front()),
                     keys::print(list.back()), list.size());
}

std::string shown(const Held& held) {
  const auto* list = std::get_if<keys::List>(&held.written.value);
  const bool is_long = list != nullptr && list->size() > kLongList;
  return is_long && held.origin == Origin::Derived ? shortened(*list) : keys::print(held.written);
}

std::string line(std::string_view key, const Held& held, Style style, const Remarks& remarks) {
  // Derived values are comments: written as keys they would no longer follow what they derive from.
  const bool is_comment = held.origin == Origin::Derived ||
                          (held.origin == Origin::Preset && style.presets_as_comments);
  std::vector<std::string> notes;
  if (held.origin != Origin::File) notes.emplace_back(name(held.origin));
  if (const auto at = remarks.find(key); at != remarks.end()) notes.push_back(at->second);
  std::string text = fmt::format("{}{} = {}", is_comment ? "# " : "", key, shown(held));
  if (!notes.empty()) text = fmt::format("{:<31} # {}", text, fmt::join(notes, ": "));
  return text + '\n';
}

template <typename S>
std::string lines(const std::vector<Field<S>>& fields, const S& section, Style style,
                  const Remarks& remarks = {}) {
  std::string out;
  for (const Field<S>& field : fields) {
    const std::optional<Held> held = field.held(section);
    if (!held) continue;
    const bool was_set = held->origin != Origin::Default && held->origin != Origin::Derived;
    const bool applies = !field.about.applies || field.about.applies(section);
    // Members that record no origin count as set, so that for them only `applies` decides.
    if (!applies && (!was_set || std::is_same_v<S, Expectation>)) continue;
    if (!std::holds_alternative<keys::Absent>(held->written.value)) {
      out += line(field.key, *held, style, remarks);
    } else if (!field.about.otherwise.empty()) {
      out += fmt::format("{:<31} # {}\n", fmt::format("# {} is not set", field.key),
                         field.about.otherwise);
    }
  }
  return out;
}

Remarks network_remarks(const Experiment& experiment) {
  const double scale = *experiment.run.scale;
  if (scale == 1) return {};
  const auto remark = [&](BitRate rate) {
    return fmt::format("/ scale {} = {} on the emulated network", scale, exact(rate));
  };
  const Network small = scaled(experiment).network;
  return {{"rate", remark(*small.link.rate)}, {"core_rate", remark(*small.core_rate)}};
}

std::string queue_facts(const Network& network, const LinkSettings& from, const LinkSettings& to) {
  return fmt::format("# queues hold {} bytes from_host, {} bytes to_host\n",
                     queue_bytes(network, from).count(), queue_bytes(network, to).count());
}

std::string queue_facts(const Network& network, const std::string& at) {
  const auto link = [&](Direction direction) {
    const std::optional<int> host = host_number(network, at);
    return host ? host_link(network, *host, direction) : core_link(network, at, direction);
  };
  return queue_facts(network, link(Direction::FromHost), link(Direction::ToHost));
}

std::string network_text(const Experiment& experiment, Style style) {
  const Network& network = experiment.network;
  std::string out = "\n[network]\n";
  out += lines(network_fields(), network, style, network_remarks(experiment));
  out += fmt::format("# round trip {} between the hosts farthest apart\n",
                     exact(longest_round_trip(network)));
  out += queue_facts(network, network.link, network.link);
  for (const LinkOverride& override : network.overrides) {
    out += "\n[[network.link]]\n" + lines(link_fields(), override, style);
    if (network.overrides.size() <= kMostLinksExplained) out += queue_facts(network, *override.at);
  }
  return out;
}

Remarks job_remarks(const Job& job) {
  Remarks remarks;
  if (*job.framework) {
    for (const Field<Job>& field : job_fields()) {
      const bool is_preset = field.held(job)->origin == Origin::Preset;
      if (is_preset) remarks.emplace(field.key, **job.framework);
    }
  }
  if (*job.epochs && *job.dataset) {
    remarks["steps"] = fmt::format("{} epochs of {} samples, {} a step", **job.epochs,
                                   **job.dataset, std::int64_t{*job.batch} * *job.workers);
  }
  return remarks;
}

/// One axis, or several that go together.
std::string axis_text(std::span<const SweepAxis> axes) {
  std::vector<std::string> names;
  for (const SweepAxis& axis : axes) names.push_back(axis.key);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < axes.front().values.size(); ++i) {
    std::vector<std::string> one;
    for (const SweepAxis& axis : axes) one.push_back(axis.values[i]);
    values.push_back(one.size() == 1 ? one.front() : fmt::format("[{}]", fmt::join(one, ", ")));
  }
  // Always quoted: an axis is one key, whatever dots it has.
  return fmt::format("{} = [{}]\n",
                     keys::print({.value = fmt::format("{}", fmt::join(names, ", "))}),
                     fmt::join(values, ", "));
}

std::string sweep_text(const std::vector<SweepAxis>& sweep) {
  if (sweep.empty()) return "";
  std::string out = "\n[sweep]\n";
  for (std::size_t begin = 0, end = 0; begin < sweep.size(); begin = end) {
    while (end < sweep.size() && sweep[end].group == sweep[begin].group) ++end;
    out += axis_text(std::span(sweep).subspan(begin, end - begin));
  }
  return out;
}

Style style_for(const Experiment& experiment) {
  const auto sets_framework = [](const SweepAxis& axis) {
    return axis.key.ends_with(".framework");
  };
  const auto& sweep = experiment.sweep;
  return {.presets_as_comments = std::any_of(sweep.begin(), sweep.end(), sets_framework)};
}

}  // namespace

std::string to_toml(const Experiment& experiment) {
  const Style style = style_for(experiment);
  std::string out = lines(experiment_fields(), experiment, style);
  out += network_text(experiment, style);
  for (const Job& job : experiment.jobs) {
    out += "\n[[job]]\n" + lines(job_fields(), job, style, job_remarks(job));
  }
  for (const Traffic& traffic : experiment.traffic) {
    out += "\n[[traffic]]\n" + lines(traffic_fields(), traffic, style);
  }
  for (const Fault& fault : experiment.faults) {
    out += "\n[[fault]]\n" + lines(fault_fields(), fault, style);
  }
  out += "\n[capture]\n" + lines(capture_fields(), experiment.capture, style);
  out += sweep_text(experiment.sweep);
  out += "\n[run]\n" + lines(run_fields(), experiment.run, style);
  for (const Expectation& expectation : experiment.expectations) {
    out += "\n[[expect]]\n" + lines(expectation_fields(), expectation, style);
  }
  return out;
}

}  // namespace tw::spec
