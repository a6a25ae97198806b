// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/capture_text.h"

#include "trainwire/base/bus_text.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/diagnose/finding_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tw::text {
namespace {

using summarise::CaptureResult;
using Lines = std::vector<std::string>;

constexpr std::size_t kLabelWidth = 17;
constexpr std::size_t kMostCollectives = 3;
constexpr double kWorthAWord = 0.02;  ///< probability of a runner-up
constexpr double kMuchApart = 0.02;   ///< of a step: the usual time is not the median

std::string bytes_text(double bytes) {
  return readable(Bytes(static_cast<std::int64_t>(std::llround(bytes))));
}
std::string bytes_text(std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); }
std::string time_text(double seconds) { return readable(from_seconds(seconds)); }
std::string rate_text(double bps) { return readable(BitRate(bps)); }
std::string count_text(std::uint64_t number) { return grouped(static_cast<std::int64_t>(number)); }

std::string count_of(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", count_text(number), noun, number == 1 ? "" : "s");
}

std::string percent(double share) {
  if (share == 0) return "0 %";
  return share < 1e-5 ? "< 0.001 %" : fmt::format("{:.3g} %", 100 * share);
}

void add_line(Lines& lines, std::string_view label, std::string_view text) {
  lines.push_back(fmt::format("{:<{}}{}", label, kLabelWidth, text));
}

std::string file_title(const gather::Captured& traffic) {
  if (traffic.files.empty()) return "no file";
  const std::string first = std::filesystem::path(traffic.files.front().path).filename();
  if (traffic.files.size() == 1) return printable(first == "-" ? "standard input" : first);
  return printable(fmt::format("{} and {} more", first, traffic.files.size() - 1));
}

std::string protocols(const flow::Totals& totals) {
  std::vector<std::string> shares;
  for (const auto verdict : {packet::Verdict::Tcp, packet::Verdict::Udp, packet::Verdict::Rocev2}) {
    const std::uint64_t packets = totals.by_verdict[static_cast<std::size_t>(verdict)];
    if (packets == 0) continue;
    const double share = 100 * static_cast<double>(packets) / static_cast<double>(totals.packets);
    shares.push_back(fmt::format("{} {:.3g} %",
                                 verdict == packet::Verdict::Tcp   ? "TCP"
                                 : verdict == packet::Verdict::Udp ? "UDP"
                                                                   : "RoCEv2",
                                 share));
  }
  return shares.empty() ? "no TCP or UDP" : fmt::format("{}", fmt::join(shares, ", "));
}

void add_capture(Lines& lines, const CaptureResult& result) {
  const flow::Totals& totals = result.traffic.totals;
  lines.push_back(fmt::format("{} · {} · {} · {} · {} · {}", file_title(result.traffic),
                              time_text(summarise::duration_s(totals)),
                              count_of(totals.packets, "packet"), bytes_text(totals.wire_bytes),
                              count_of(result.analysis.hosts.size(), "host"), protocols(totals)));
  std::string quality(summarise::name_of(result.analysis.quality.level));
  if (const auto lost = summarise::dropped(result.traffic))
    quality += fmt::format(" · {} dropped", count_text(*lost));
  for (const std::string& reason : result.analysis.quality.reasons) {
    quality += " · " + printable(reason);
  }
  add_line(lines, "data quality", quality);
  if (result.interrupted)
    add_line(lines, "", "interrupted: these are results of what was read until then");
}

void add_iterations(Lines& lines, const diagnose::Iterations& iterations) {
  if (iterations.steps.empty()) {
    const std::string why =
        iterations.evidence.empty() ? "" : ": " + printable(iterations.evidence);
    add_line(lines, "iterations", "none found" + why);
    return;
  }
  const std::string source = iterations.from_log
                                 ? "of the log"
                                 : fmt::format("found, confidence {:.2f}", iterations.confidence);
  // Of steps that are unlike, those most alike tell what one takes.
  const bool are_unlike =
      std::abs(iterations.median_s - iterations.usual_s) > kMuchApart * iterations.usual_s;
  const std::string interval =
      iterations.ci_low_s && iterations.ci_high_s
          ? fmt::format(" (95 % CI {} – {})", time_text(*iterations.ci_low_s),
                        time_text(*iterations.ci_high_s))
          : "";
  const std::string spread = iterations.averages
                                 ? fmt::format(" · told as {} averages", *iterations.averages)
                                 : " · p99 " + time_text(iterations.p99_s);
  add_line(
      lines, "iterations",
      fmt::format(
          "{} {} · {}{}{}{}", count_text(iterations.steps.size()), source,
          are_unlike ? fmt::format("{} most alike · median ", time_text(iterations.usual_s)) : "",
          time_text(iterations.median_s), interval, spread));
  std::vector<double> times;
  for (const diagnose::Iteration& step : iterations.steps) {
    times.push_back(static_cast<double>(step.end_ns - step.start_ns));
  }
  const std::string note = iterations.first_untypical ? "  the first is untypical" : "";
  if (times.size() > 1) add_line(lines, "", sparkline(times, 58) + note);
}

void add_split(Lines& lines, const diagnose::Analysis& analysis) {
  const diagnose::Iterations& iterations = analysis.iterations;
  if (iterations.steps.empty()) return;
  // Exchanges of hosts that are not in step overlap: no more than all the time is left then.
  const double share =
      iterations.median_s > 0 ? std::min(1.0, iterations.exchange_s / iterations.median_s) : 0;
  std::string text =
      fmt::format("compute gap {} · exchange {} ({:.0f} %)", time_text(iterations.compute_gap_s),
                  time_text(iterations.exchange_s), 100 * share);
  if (analysis.model_bytes)
    text += fmt::format(" · {} of gradients", bytes_text(*analysis.model_bytes));
  add_line(lines, "  per iteration", text);
}

void add_traffic(Lines& lines, const CaptureResult& result, const summarise::HostNames& names) {
  const summarise::RateFigures& rates = result.rates;
  std::string text = fmt::format("mean {}, peak ({}) {}", rate_text(rates.mean_bps),
                                 exact(Duration(rates.window_ns)), rate_text(rates.peak_bps));
  if (!rates.busiest_host.empty()) {
    text += fmt::format(" · {} {}: {}, peak {}", rates.busiest_sends ? "from" : "to",
                        printable(rates.busiest_host), rate_text(rates.busiest_mean_bps),
                        rate_text(rates.busiest_peak_bps));
  }
  add_line(lines, "traffic", text);
  const record::FlowClasses flows = summarise::class_counts(result.traffic, result.analysis);
  add_line(
      lines, "flows",
      fmt::format(
          "{}: {} gradient, {} acknowledgement, {} control, {} tiny · {}", count_text(flows.sum()),
          count_text(flows.gradient), count_text(flows.acknowledgement), count_text(flows.control),
          count_text(flows.tiny),
          count_of(summarise::host_pairs(result.traffic, names).size(), "directed host pair")));
}

void add_bursts(Lines& lines, const CaptureResult& result) {
  const std::string again =
      fmt::format("retransmitted {}", percent(summarise::retransmitted_share(result.traffic)));
  const summarise::BurstFigures& bursts = result.bursts;
  if (bursts.count == 0) return add_line(lines, "bursts", "no gradient flows · " + again);
  add_line(lines, "bursts",
           fmt::format("{} · median {} · time p50 {}, p99 {} · {}", count_text(bursts.count),
                       bytes_text(bursts.median_bytes), time_text(bursts.p50_s),
                       time_text(bursts.p99_s), again));
}

std::string order_text(const diagnose::Collective& collective) {
  const bool ring = collective::shape_of(collective.strategy) == collective::Shape::Ring;
  std::string text = fmt::format("{}", fmt::join(collective.order, ring ? " → " : ", "));
  if (ring && !collective.order.empty()) text += " → " + collective.order.front();
  return printable(text);
}

/// What else it could be; nothing where that is not worth a word.
std::string runner_up_text(const diagnose::Collective& collective) {
  const auto& other = collective.runner_up;
  if (!other || other->probability < kWorthAWord) return "";
  const std::string what = other->strategy == "unknown" ? other->operation : other->strategy;
  const std::string ranks = other->ranks_on_each > 1
                                ? fmt::format(" with {} ranks on each host", other->ranks_on_each)
                                : "";
  return fmt::format("    or {}{} of {} (probability {:.2f})", printable(what), ranks,
                     bytes_text(other->bytes_per_iteration), other->probability);
}

void add_collective(Lines& lines, const diagnose::Collective& collective,
                    const diagnose::Analysis& analysis) {
  std::string time = "-";
  std::string algbw = "-";
  std::string busbw = "-";
  std::string line_rate;
  if (const auto timing = summarise::timing_of(collective, analysis)) {
    time = fmt::format("{:.4g} ±{:.2g}", 1e3 * timing->time_s.value,
                       1e3 * (timing->time_s.high - timing->time_s.low) / 2);
    algbw = fmt::format("{:.3g}", timing->algbw_bps / 8e9);
    busbw = fmt::format("{:.3g}", timing->busbw_bps / 8e9);
    line_rate = fmt::format(" · busbw {} ({})", bus_text(timing->busbw_bps),
                            readable(BitRate(timing->busbw_bps)));
  }
  lines.push_back(fmt::format("  {:<17} {:<17} {:>12} {:>7} {:>16} {:>8} {:>8} {:>5.2f}",
                              printable(collective.operation), printable(collective.strategy),
                              collective.bytes_per_iteration, collective.count, time, algbw, busbw,
                              collective.confidence));
  lines.push_back("    " + order_text(collective) + line_rate);
  const std::string other = runner_up_text(collective);
  if (!other.empty()) lines.push_back(other);
}

void add_collectives(Lines& lines, const diagnose::Analysis& analysis, std::size_t most) {
  lines.emplace_back();
  if (analysis.collectives.empty()) {
    lines.emplace_back("collectives      none recognised");
    return;
  }
  lines.push_back(fmt::format("{:<37} {:>12} {:>7} {:>16} {:>8} {:>8} {:>5}",
                              "collectives (inferred)", "size", "count", "time", "algbw", "busbw",
                              "conf."));
  lines.push_back(fmt::format("{:<37} {:>12} {:>7} {:>16} {:>8} {:>8}", "", "(B)", "", "(ms)",
                              "(GB/s)", "(GB/s)"));
  const std::size_t shown = std::min(most, analysis.collectives.size());
  for (std::size_t i = 0; i < shown; ++i) add_collective(lines, analysis.collectives[i], analysis);
  if (shown < analysis.collectives.size()) {
    lines.push_back(fmt::format("    and {} more: --json or collectives.csv",
                                analysis.collectives.size() - shown));
  }
}

Lines closing_lines(const CaptureResult& result, const std::string& folder) {
  Lines lines{""};
  if (!folder.empty()) {
    lines.push_back(fmt::format("tables: {}/*.csv and run.json", printable(folder)));
  }
  if (result.analysis.iterations.steps.empty()) {
    lines.push_back(
        "next: trainwire analyze --log STEPS.csv with the program's own steps, or a longer "
        "capture");
  } else {
    lines.push_back(
        "next: trainwire schema iterations for the columns, trainwire analyze --json for "
        "programs");
  }
  return lines;
}

/// What there is to say of a job beside the first: what it is, and who slows it.
bool is_of_the_job(const diagnose::Finding& finding) {
  return finding.kind == diagnose::kSteps || finding.kind == diagnose::kSlowLink ||
         finding.kind == diagnose::kStraggler;
}

Lines finding_lines(const CaptureResult& result) {
  Lines lines;
  const auto add = [&](const std::string& job, const std::string& text) {
    lines.push_back(fmt::format("  {}  {}{}", lines.size() + 1, job.empty() ? "" : job + ": ",
                                printable(text)));
  };
  for (const diagnose::Finding& finding : result.analysis.findings) add(result.job, finding.text);
  for (const summarise::JobAnalysis& job : result.other_jobs) {
    for (const diagnose::Finding& finding : job.analysis.findings) {
      if (is_of_the_job(finding)) add(job.name, finding.text);
    }
  }
  return lines;
}

/// Everything up to the findings.
Lines leading_lines(const CaptureResult& result, std::size_t most_collectives) {
  const summarise::HostNames names(result.traffic, result.analysis);
  Lines lines;
  add_capture(lines, result);
  lines.emplace_back();
  add_iterations(lines, result.analysis.iterations);
  add_split(lines, result.analysis);
  add_traffic(lines, result, names);
  add_bursts(lines, result);
  add_collectives(lines, result.analysis, most_collectives);
  lines.emplace_back();
  lines.emplace_back("findings");
  return lines;
}

}  // namespace

std::string capture_text(const summarise::CaptureResult& result, const std::string& folder,
                         const std::string& verdict) {
  const auto above = static_cast<std::size_t>(std::count(verdict.begin(), verdict.end(), '\n'));
  const Lines closing = closing_lines(result, folder);
  Lines findings = finding_lines(result);
  Lines lines;
  // Findings matter more than the third collective.
  for (std::size_t most = kMostCollectives; most > 0; --most) {
    lines = leading_lines(result, most);
    if (kMostLines >= above + lines.size() + closing.size() + findings.size()) break;
  }
  const std::size_t taken = above + lines.size() + closing.size();
  if (taken + findings.size() > kMostLines && above > 0) {
    findings.resize(std::max<std::size_t>(1, kMostLines - std::min(taken, kMostLines)));
  }
  lines.insert(lines.end(), findings.begin(), findings.end());
  lines.insert(lines.end(), closing.begin(), closing.end());
  return fmt::format("{}{}\n", verdict, fmt::join(lines, "\n"));
}

}  // namespace tw::text
