// SPDX-License-Identifier: Apache-2.0
#include "trainwire/tables/flow_records.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/result/json_text.h"
#include "trainwire/tables/columns.h"
#include "trainwire/tables/conversations.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace tw::tables {
namespace {

enum Column {
  kFrom,
  kTo,
  kPackets,
  kPacketsBack,
  kBytes,
  kBytesBack,
  kPayload,
  kPayloadBack,
  kBothBytes,
  kColumns
};

struct Name {
  std::string_view name;
  Column column;
};
/// In small letters.
constexpr std::array<Name, 37> kNames{{
    {"id.orig_h", kFrom},
    {"id.resp_h", kTo},
    {"orig_pkts", kPackets},
    {"resp_pkts", kPacketsBack},
    {"orig_ip_bytes", kBytes},
    {"resp_ip_bytes", kBytesBack},
    {"orig_bytes", kPayload},
    {"resp_bytes", kPayloadBack},  // Zeek
    {"sa", kFrom},
    {"da", kTo},
    {"ipkt", kPackets},
    {"opkt", kPacketsBack},
    {"ibyt", kBytes},
    {"obyt", kBytesBack},  // nfdump to 1.7.2
    {"srcaddr", kFrom},
    {"dstaddr", kTo},
    {"packets", kPackets},
    {"bytes", kBytes},  // and after; Argus has the addresses' names too
    {"saddr", kFrom},
    {"daddr", kTo},
    {"srcpkts", kPackets},
    {"dstpkts", kPacketsBack},
    {"srcbytes", kBytes},
    {"dstbytes", kBytesBack},
    {"spkts", kPackets},
    {"dpkts", kPacketsBack},
    {"sbytes", kBytes},
    {"dbytes", kBytesBack},
    {"sappbytes", kPayload},
    {"dappbytes", kPayloadBack},
    {"totbytes", kBothBytes},  // Argus
    {"ip.src", kFrom},
    {"ip.dst", kTo},
    {"ipv6.src", kFrom},
    {"ipv6.dst", kTo},
    {"frame.len", kBytes},
    {"tcp.len", kPayload},  // tshark
}};

std::string small_letters(std::string_view text) {
  std::string made;
  for (const char c : text) made += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

/// Where each column stands; several places for one that has names for both families of addresses.
using Places = std::array<std::vector<std::size_t>, kColumns>;

Places places_of(const std::vector<std::string_view>& header) {
  Places places;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string name = small_letters(header[i]);
    for (const Name& known : kNames) {
      if (known.name == name) places[known.column].push_back(i);
    }
  }
  return places;
}

std::string_view program_of_header(const std::vector<std::string_view>& header) {
  const auto has = [&](std::string_view name) {
    return std::any_of(header.begin(), header.end(),
                       [&](std::string_view each) { return small_letters(each) == name; });
  };
  if (has("id.orig_h")) return "zeek";
  if (has("frame.len")) return "tshark";
  return has("sa") || (has("srcaddr") && !has("srcbytes") && !has("totbytes")) ? "nfdump" : "argus";
}

/// A header's line, and what separates its fields.
struct Header {
  std::vector<std::string_view> names = {};
  char separator = ',';
  Places places = {};
};

std::vector<std::string_view> split(std::string_view line, char separator) {
  return separator == ' ' ? words_of(line) : fields_of(line, separator);
}

/// Columns of `ra` as it prints them by itself, which no other line has.
bool is_of_ra(const std::vector<std::string_view>& names) {
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return has("SrcAddr") && has("DstAddr");
}

std::optional<Header> header_in(std::string_view line) {
  constexpr std::string_view kFields = "#fields";
  const bool is_zeek = line.starts_with(kFields);
  if (is_zeek) line.remove_prefix(std::min(kFields.size() + 1, line.size()));
  if (line.starts_with('#')) return {};
  for (const char separator : {'\t', ',', ';', '|', ' '}) {
    Header header{.names = split(line, separator), .separator = separator};
    header.places = places_of(header.names);
    const bool has_ends = !header.places[kFrom].empty() && !header.places[kTo].empty();
    if (separator == ' ' && !is_zeek && !is_of_ra(header.names)) continue;  // Zeek's tabs get lost
    if (has_ends && header.names.size() > 2) return header;
  }
  return {};
}

std::string_view field(const std::vector<std::string_view>& fields,
                       const std::vector<std::size_t>& places) {
  for (const std::size_t place : places) {
    if (place < fields.size() && !fields[place].empty()) return fields[place];
  }
  return {};
}

std::uint64_t amount(std::string_view text) {
  const auto number = count_in(text);
  return number ? static_cast<std::uint64_t>(*number) : 0;
}

void add_row(FlowRecords& into, const std::array<std::string_view, kColumns>& row) {
  const bool per_packet = into.program == "tshark";
  if (row[kFrom].empty() || row[kTo].empty()) {
    ++into.skipped["rows without addresses"];
    return;
  }
  if (!count_in(row[kBytes])) {
    ++into.skipped["rows without an amount"];
    return;
  }
  ++into.records;
  add_flow(into, row[kFrom], row[kTo],
           {per_packet ? 1 : amount(row[kPackets]), amount(row[kBytes]), amount(row[kPayload])});
  Sent back{amount(row[kPacketsBack]), amount(row[kBytesBack]), amount(row[kPayloadBack])};
  const std::uint64_t both = amount(row[kBothBytes]);
  if (row[kBytesBack].empty() && both > amount(row[kBytes]))
    back.bytes = both - amount(row[kBytes]);
  if (back.bytes > 0 || back.packets > 0) add_flow(into, row[kTo], row[kFrom], back);
}

void read_delimited(std::string_view text, FlowRecords& into) {
  std::optional<Header> header;
  bool ended = false;
  for_lines(text, [&](std::string_view line) {
    if (auto found = header_in(line)) {
      header = std::move(found);
      return;
    }
    // nfdump ends with a summary, whose lines have fewer fields.
    ended = ended || (into.program == "nfdump" && line.starts_with("Summary"));
    if (!header || ended || line.empty() || line.starts_with('#')) return;
    const auto fields = split(line, header->separator);
    // Between blanks an empty field is not seen: only rows that have all of them can be told.
    if (header->separator == ' ' && fields.size() != header->names.size()) {
      ++into.skipped["rows with empty fields"];
      return;
    }
    if (fields.size() + 2 < header->names.size()) {
      const bool begins_as_row =
          into.program == "zeek" || (line.front() >= '0' && line.front() <= '9');
      if (begins_as_row || fields.size() > 6) ++into.skipped["rows that are cut off"];
      return;
    }
    std::array<std::string_view, kColumns> row;
    for (std::size_t i = 0; i < kColumns; ++i) row[i] = field(fields, header->places[i]);
    add_row(into, row);
  });
  if (header && header->places[kBytes].empty() && into.program == "argus") {
    into.limits.emplace_back(
        "its amounts are of both directions together: ask ra for -s saddr daddr spkts dpkts sbytes "
        "dbytes");
  }
}

/// Zeek's JSON lines.
void read_json_lines(std::string_view text, FlowRecords& into) {
  for_lines(text, [&](std::string_view line) {
    if (line.find('{') == std::string_view::npos) return;
    const auto object = result::parse_json(line);
    if (!object.is_object()) {
      ++into.skipped["rows that are cut off"];
      return;
    }
    std::array<std::string, kColumns> values;
    for (const Name& known : kNames) {
      const auto found = object.find(std::string(known.name));
      if (found == object.end()) continue;
      if (found->is_string()) values[known.column] = found->get<std::string>();
      if (found->is_number_unsigned())
        values[known.column] = std::to_string(found->get<std::uint64_t>());
    }
    std::array<std::string_view, kColumns> row;
    std::copy(values.begin(), values.end(), row.begin());
    add_row(into, row);
  });
}

bool is_address(std::string_view text) {
  return text.size() >= 2 && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdefABCDEF:.%") == std::string_view::npos &&
         (text.find('.') != std::string_view::npos || text.find(':') != std::string_view::npos);
}

/// Lines of JSON, perhaps behind the command that shows them.
bool is_zeek_json(std::string_view text) {
  const std::size_t brace = text.find_first_of("{#");
  return brace != std::string_view::npos && text[brace] == '{' &&
         text.find("\"id.orig_h\"") != std::string_view::npos &&
         text.find("\"id.resp_h\"") != std::string_view::npos;
}

}  // namespace

void add_flow(FlowRecords& into, std::string_view from, std::string_view to, const Sent& sent) {
  if (!is_address(from) || !is_address(to)) {
    ++into.skipped["rows without addresses"];
    return;
  }
  std::pair<std::string, std::string> key(from, to);
  if (into.pairs.size() >= kMostPairs && !into.pairs.contains(key)) {
    ++into.skipped["rows beyond a million pairs"];
    return;
  }
  Sent& sum = into.pairs[std::move(key)];
  sum.packets += sent.packets;
  sum.bytes += sent.bytes;
  sum.payload_bytes += sent.payload_bytes;
}

std::string_view flow_program_of(std::string_view text) {
  if (is_conversations(text)) return "tshark";
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  if (is_zeek_json(text)) return "zeek";
  if (text[first] == '{') return "";
  std::string_view program;
  int lines = 0;
  for_lines(text.substr(0, 16 << 10), [&](std::string_view line) {
    if (!program.empty() || ++lines > 64) return;
    const auto header = header_in(line);
    if (header) program = program_of_header(header->names);
  });
  return program;
}

FlowRecords parse_flow_records(std::string_view text, std::string_view name) {
  FlowRecords made{.program = std::string(flow_program_of(text)), .layer = "IP packets"};
  if (made.program == "argus" || made.program == "tshark") made.layer = "frames";
  if (is_conversations(text)) {
    read_conversations(text, made);
  } else if (is_zeek_json(text)) {
    read_json_lines(text, made);
  } else {
    read_delimited(text, made);
  }
  if (!made.pairs.empty()) return made;
  throw DataError(fmt::format(
      "reading {}: {}", printable(name),
      !made.limits.empty()
          ? made.limits.front()
          : "no row tells who sent how much to whom; docs/imports.md has how to ask for it"));
}

}  // namespace tw::tables
