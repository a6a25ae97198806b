// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/filter.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <pcap/pcap.h>

#include <utility>

namespace tw::gather {
namespace {

constexpr int kSnapBytes = 262'144;

/// libpcap's numbers inside a program differ from those in files for raw IP.
int pcap_number_of(std::uint32_t link_type) {
  constexpr std::uint32_t kRawInFiles = 101;
  return link_type == kRawInFiles ? DLT_RAW : static_cast<int>(link_type);
}

}  // namespace

struct Filter::Program {
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { pcap_freecode(&code); }

  bpf_program code = {};
};

Filter::~Filter() = default;

Filter::Filter(std::string expression) : expression_(std::move(expression)) {
  try {
    programs_[DLT_EN10MB] = compiled(DLT_EN10MB);
  } catch (const SpecError&) {
    // "inbound" and its like are known on Linux cooked captures only.
    constexpr std::uint32_t kLinuxCooked = 113;
    try {
      programs_[kLinuxCooked] = compiled(kLinuxCooked);
      return;
    } catch (const SpecError&) {
    }
    throw;
  }
}

std::unique_ptr<Filter::Program> Filter::compiled(std::uint32_t link_type) const {
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> handle(
      pcap_open_dead(pcap_number_of(link_type), kSnapBytes), &pcap_close);
  check(handle != nullptr, "libpcap has memory for a handle");
  auto program = std::make_unique<Program>();
  if (pcap_compile(handle.get(), &program->code, expression_.c_str(), 1, PCAP_NETMASK_UNKNOWN) !=
      0) {
    throw SpecError(
        fmt::format("filter \"{}\": {}; it takes tcpdump's expressions, such as \"tcp port "
                    "29500 and host 10.0.0.1\"",
                    expression_, pcap_geterr(handle.get())));
  }
  return program;
}

bool Filter::matches(const packet::Record& record, std::uint32_t link_type) {
  auto at = programs_.find(link_type);
  if (at == programs_.end()) at = programs_.emplace(link_type, compiled(link_type)).first;
  const pcap_pkthdr header{.ts = {},
                           .caplen = static_cast<bpf_u_int32>(record.bytes.size()),
                           .len = record.original_bytes};
  return pcap_offline_filter(&at->second->code, &header,
                             reinterpret_cast<const u_char*>(record.bytes.data())) != 0;
}

}  // namespace tw::gather
