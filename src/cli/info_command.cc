// SPDX-License-Identifier: Apache-2.0
// The facts that capinfos prints, in its order, and what is in the packets.
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/record/json.h"
#include "trainwire/result/input_file.h"
#include "trainwire/summarise/describe.h"
#include "trainwire/terminal/interrupt.h"
#include "trainwire/terminal/progress.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace tw::cli {
namespace {

using nlohmann::ordered_json;

constexpr int kUnreadable = 3;

struct InfoOptions {
  std::vector<std::string> files;
  std::string filter;
  bool json = false;
  bool no_progress = false;
};

/// One file and everything that was counted in it.
struct Info {
  result::InputFile input;
  gather::Captured traffic;

  const gather::FileSummary& file() const { return traffic.files.front(); }
  const flow::Totals& totals() const { return traffic.totals; }
  std::uint64_t flows() const { return traffic.flows.size() + traffic.retired_flows; }
  double per_second(double amount) const {
    const double seconds = summarise::duration_s(traffic.totals);
    return seconds > 0 ? amount / seconds : 0;
  }
};

std::string link_name(std::uint32_t link_type) {
  static constexpr std::array<std::pair<std::uint32_t, std::string_view>, 8> kNames{
      {{0, "NULL/Loopback"},
       {1, "Ethernet"},
       {101, "Raw IP"},
       {108, "OpenBSD loopback"},
       {113, "Linux cooked-mode capture v1"},
       {228, "Raw IPv4"},
       {229, "Raw IPv6"},
       {276, "Linux cooked-mode capture v2"}}};
  for (const auto& [type, name] : kNames) {
    if (type == link_type) return std::string(name);
  }
  return fmt::format("link type {}", link_type);
}

std::string encapsulation(const capture::FileFacts& facts) {
  std::vector<std::string> names;
  for (const capture::Interface& interface : facts.interfaces) {
    const std::string name = link_name(interface.link_type);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names.empty() ? "unknown" : fmt::format("{}", fmt::join(names, ", "));
}

std::string precision(std::int64_t ticks_per_second) {
  switch (ticks_per_second) {
    case 1'000:
      return "milliseconds (3)";
    case 1'000'000:
      return "microseconds (6)";
    case 1'000'000'000:
      return "nanoseconds (9)";
    default:
      return fmt::format("{} ticks per second", ticks_per_second);
  }
}

/// The finest of the interfaces.
std::int64_t finest_ticks(const capture::FileFacts& facts) {
  std::int64_t ticks = 0;
  for (const capture::Interface& interface : facts.interfaces) {
    ticks = std::max(ticks, interface.ticks_per_second);
  }
  return ticks;
}

std::string snap_length(const capture::FileFacts& facts) {
  std::uint32_t least = 0;
  for (const capture::Interface& interface : facts.interfaces) {
    if (interface.snaplen > 0 && (least == 0 || interface.snaplen < least))
      least = interface.snaplen;
  }
  return least == 0 ? "none" : fmt::format("{} bytes", least);
}

std::string moment(std::int64_t ns) {
  const std::int64_t second = ns / 1'000'000'000 - (ns % 1'000'000'000 < 0 ? 1 : 0);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:09} UTC",
                     fmt::gmtime(static_cast<std::time_t>(second)), ns - second * 1'000'000'000);
}

std::string count_text(std::uint64_t number) { return grouped(static_cast<std::int64_t>(number)); }

void print_field(std::ostream& out, std::string_view name, std::string_view value) {
  fmt::print(out, "{:<21}{}\n", fmt::format("{}:", name), value);
}

void print_packets(std::ostream& out, const Info& info) {
  const flow::Totals& totals = info.totals();
  const double bytes = static_cast<double>(totals.wire_bytes);
  const std::uint64_t twice = info.file().duplicates;
  print_field(out, "Number of packets",
              twice == 0 ? count_text(totals.packets)
                         : fmt::format("{}, and {} second records of one packet that are left out",
                                       count_text(totals.packets), count_text(twice)));
  print_field(out, "File size",
              info.input.bytes ? fmt::format("{} bytes", grouped(*info.input.bytes)) : "unknown");
  print_field(out, "Data size", fmt::format("{} bytes", count_text(totals.wire_bytes)));
  if (totals.packets == 0) return;
  print_field(out, "Capture duration",
              fmt::format("{:.9f} seconds", summarise::duration_s(totals)));
  print_field(out, "First packet time", moment(totals.first_ns));
  print_field(out, "Last packet time", moment(totals.last_ns));
  print_field(out, "Data byte rate", readable(Bytes(std::llround(info.per_second(bytes)))) + "/s");
  print_field(out, "Data bit rate", readable(BitRate(info.per_second(8 * bytes))));
  print_field(out, "Average packet size",
              fmt::format("{:.2f} bytes", bytes / static_cast<double>(totals.packets)));
  print_field(
      out, "Average packet rate",
      fmt::format("{:.0f} packets/s", info.per_second(static_cast<double>(totals.packets))));
}

void print_interfaces(std::ostream& out, const capture::FileFacts& facts) {
  print_field(out, "Interfaces", count_text(facts.interfaces.size()));
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < std::min(kShown, facts.interfaces.size()); ++i) {
    const capture::Interface& interface = facts.interfaces[i];
    std::string text = fmt::format(
        "{}{}, {}, snap length {}", interface.name.empty() ? "" : printable(interface.name) + ": ",
        link_name(interface.link_type), precision(interface.ticks_per_second),
        interface.snaplen == 0 ? "none" : std::to_string(interface.snaplen));
    if (interface.dropped) text += fmt::format(", {} dropped", count_text(*interface.dropped));
    print_field(out, fmt::format("  #{}", i), text);
  }
  if (facts.interfaces.size() > kShown) {
    print_field(out, "", fmt::format("and {} more", facts.interfaces.size() - kShown));
  }
}

std::string verdict_text(const flow::Totals& totals) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < totals.by_verdict.size(); ++i) {
    if (totals.by_verdict[i] == 0) continue;
    parts.push_back(fmt::format("{} {}", count_text(totals.by_verdict[i]),
                                summarise::name_of(static_cast<packet::Verdict>(i))));
  }
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

void print_info(std::ostream& out, const Info& info) {
  const gather::FileSummary& file = info.file();
  print_field(out, "File name", printable(file.path));
  print_field(out, "File type",
              file.facts.compression == "none"
                  ? file.facts.format
                  : fmt::format("{} in {}", file.facts.format, file.facts.compression));
  print_field(out, "File encapsulation", encapsulation(file.facts));
  print_field(out, "Timestamp precision", precision(finest_ticks(file.facts)));
  print_field(out, "Packet size limit", snap_length(file.facts));
  print_packets(out, info);
  if (!info.input.hash.empty())
    print_field(out, "Hash", fmt::format("{} ({})", info.input.hash, result::kHashName));
  print_field(out, "Strict time order",
              info.totals().backward_times == 0
                  ? "true"
                  : fmt::format("false: {} packets are stamped earlier than the one before",
                                count_text(info.totals().backward_times)));
  print_interfaces(out, file.facts);
  print_field(out, "Flows", fmt::format("{} (directed five-tuples)", count_text(info.flows())));
  print_field(
      out, "Pairs",
      fmt::format("{} (directed pairs of addresses)", count_text(info.traffic.pairs.size())));
  print_field(out, "Packets by kind", verdict_text(info.totals()));
  print_field(out, "Super-frames", count_text(info.totals().super_frames));
  print_field(out, "Dropped", file.dropped ? count_text(*file.dropped) : "the file does not say");
  print_field(out, "Damage",
              file.damage
                  ? fmt::format("at byte {}: {}", file.damage->offset, printable(file.damage->text))
                  : "none");
}

ordered_json interface_document(const capture::Interface& interface) {
  const auto or_null = [](const auto& value) {
    return value ? ordered_json(*value) : ordered_json();
  };
  return {{"name", interface.name},
          {"link_type", interface.link_type},
          {"encapsulation", link_name(interface.link_type)},
          {"snaplen", interface.snaplen},
          {"ticks_per_second", interface.ticks_per_second},
          {"received", or_null(interface.received)},
          {"dropped", or_null(interface.dropped)}};
}

ordered_json info_document(const Info& info) {
  const flow::Totals& totals = info.totals();
  const double bytes = static_cast<double>(totals.wire_bytes);
  ordered_json document = record::to_json(summarise::described(info.file()));
  document["hash"] = info.input.hash.empty() ? ordered_json() : ordered_json(info.input.hash);
  document["encapsulation"] = encapsulation(info.file().facts);
  document["duration_s"] = summarise::duration_s(totals);
  document["first_ns"] = totals.first_ns;
  document["last_ns"] = totals.last_ns;
  document["bit_rate_bps"] = info.per_second(8 * bytes);
  document["average_packet_bytes"] = totals.packets > 0
                                         ? ordered_json(bytes / static_cast<double>(totals.packets))
                                         : ordered_json();
  document["packets_per_s"] = info.per_second(static_cast<double>(totals.packets));
  document["strict_time_order"] = totals.backward_times == 0;
  document["interfaces"] = ordered_json::array();
  for (const capture::Interface& interface : info.file().facts.interfaces) {
    document["interfaces"].push_back(interface_document(interface));
  }
  document["flows"] = info.flows();
  document["pairs"] = info.traffic.pairs.size();
  document["verdicts"] = record::to_json(summarise::verdict_counts(totals));
  document["super_frames"] = totals.super_frames;
  return document;
}

Info read_info(const std::string& path, const InfoOptions& options,
               const terminal::InterruptGuard& guard, command::Streams streams) {
  terminal::Progress progress(streams.err,
                              !options.no_progress && terminal::is_terminal(streams.err));
  gather::ReadOptions how;
  how.filter = options.filter;
  how.progress = [&](std::int64_t done, std::int64_t all) { progress.update(done, all); };
  how.stop = [&] { return guard.interrupted(); };
  Info info{.input = result::describe_input(path), .traffic = {}};
  info.traffic = gather::read_traffic(std::span(&path, 1), how);
  return info;
}

/// A file that cannot be read is told and the next one tried.
int print_infos(const InfoOptions& options, command::Streams streams) {
  const terminal::InterruptGuard guard;
  int code = 0;
  ordered_json files = ordered_json::array();
  bool first = true;
  for (const std::string& path : options.files) {
    if (guard.interrupted()) break;
    try {
      const Info info = read_info(path, options, guard, streams);
      if (options.json) {
        files.push_back(info_document(info));
      } else {
        if (!std::exchange(first, false)) fmt::print(streams.out, "\n");
        print_info(streams.out, info);
      }
    } catch (const SpecError&) {
      throw;
    } catch (const Error& error) {
      fmt::print(streams.err, "trainwire: {}\n", error.what());
      code = kUnreadable;
    }
  }
  if (options.json) {
    fmt::print(streams.out, "{}\n",
               record::dumped({{"schema", 1}, {"command", "info"}, {"files", std::move(files)}}));
  } else if (!first) {
    fmt::print(streams.out, "\nnext: trainwire analyze {}\n", printable(options.files.front()));
  }
  if (!guard.interrupted()) return code;
  fmt::print(streams.err, "trainwire: interrupted; the last file was read in part\n");
  return command::kInterrupted;
}

}  // namespace

command::Body declare_info(command::CommandLine& app) {
  const auto options = std::make_shared<InfoOptions>();
  app.add_option("FILE", options->files, "capture files; - for standard input")
      .type_name("")
      .required();
  app.add_option("-f,--filter", options->filter, "take packets that pass, in tcpdump's words")
      .type_name("EXPR");
  app.add_flag("--json", options->json, "print one JSON document");
  app.add_flag("--no-progress", options->no_progress, "no progress bar");
  return [options](command::Streams streams) { return print_infos(*options, streams); };
}

}  // namespace tw::cli
