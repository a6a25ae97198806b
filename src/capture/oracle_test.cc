// SPDX-License-Identifier: Apache-2.0
// Our reading of files against tshark's and capinfos': the same packets, bytes, times and fields.

#include "trainwire/capture/test_files.h"
#include "trainwire/packet/frame.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>
#include <sstream>

namespace tw::capture {
namespace {

std::string output_of(const std::string& command) {
  const auto close = [](std::FILE* file) { ::pclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(::popen(command.c_str(), "r"), close);
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    output.append(buffer.data(), n);
  return output;
}

bool has(const std::string& program) { return !output_of("command -v " + program).empty(); }

/// One line for each packet, of fields that both sides know. Sequence numbers are absolute.
std::vector<std::string> tshark_lines(const std::string& path) {
  std::string command = fmt::format(
      "tshark -n -r {} -o ip.defragment:FALSE -o tcp.desegment_tcp_streams:FALSE -T fields -E "
      "separator=' '",
      path);
  for (const char* field : {"frame.time_epoch",
                            "frame.len",
                            "frame.cap_len",
                            "ip.src",
                            "ipv6.src",
                            "tcp.srcport",
                            "tcp.dstport",
                            "udp.srcport",
                            "udp.dstport",
                            "tcp.seq_raw",
                            "tcp.ack_raw",
                            "tcp.len",
                            "tcp.flags",
                            "tcp.window_size_value",
                            "tcp.options.timestamp.tsval",
                            "tcp.options.mss_val",
                            "infiniband.bth.opcode",
                            "infiniband.bth.psn",
                            "infiniband.bth.destqp",
                            "udp.length"}) {
    command += std::string(" -e ") + field;
  }
  std::istringstream output(output_of(command + " 2>/dev/null"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(output, line);) lines.push_back(line);
  return lines;
}

std::string time_text(std::int64_t ns) {
  return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

std::string or_nothing(std::uint32_t value) { return value == 0 ? "" : std::to_string(value); }

/// The same line from our packet. tshark prints nothing where a field does not occur.
std::string our_line(const packet::Packet& p, const packet::AddressTable& addresses) {
  const bool tcp = p.verdict == packet::Verdict::Tcp;
  const bool udp = p.verdict == packet::Verdict::Udp || p.verdict == packet::Verdict::Rocev2;
  const bool rdma = p.verdict == packet::Verdict::Rocev2;
  const packet::Address& source = addresses[p.source];
  const bool is_ip = p.source != 0;
  const auto only = [](bool there, auto value) {
    return there ? fmt::format("{}", value) : std::string();
  };
  std::string line = fmt::format("{} {} {} ", time_text(p.time_ns), p.wire_bytes, p.captured_bytes);
  line += fmt::format("{} {} ", only(is_ip && source.is_v4(), source.text()),
                      only(is_ip && !source.is_v4(), source.text()));
  line += fmt::format("{} {} {} {} ", only(tcp, p.source_port), only(tcp, p.destination_port),
                      only(udp, p.source_port), only(udp, p.destination_port));
  line += fmt::format("{} {} {} {} {} ", only(tcp, p.sequence), only(tcp, p.acknowledgement),
                      only(tcp, p.payload_bytes), tcp ? fmt::format("0x{:04x}", p.tcp_flags) : "",
                      only(tcp, p.window));
  line += fmt::format("{} {} ", or_nothing(p.timestamp_value), or_nothing(p.segment_bytes));
  line += fmt::format("{} {} {} ", only(rdma, int{p.tcp_flags}), only(rdma, p.sequence),
                      rdma ? fmt::format("0x{:06x}", p.acknowledgement) : "");
  line += only(p.verdict == packet::Verdict::Udp, p.payload_bytes + 8);
  return line;
}

/// udp.length is compared for plain UDP only: our payload of RoCEv2 counts message bytes.
std::string without_rdma_length(const std::string& line) {
  const bool rdma =
      line.find(" 0x00") != std::string::npos && line.find(" 4791 ") != std::string::npos;
  return rdma ? line.substr(0, line.rfind(' ') + 1) : line;
}

/// Packets on which the two disagree; all are printed.
int disagreements(const std::string& path) {
  const auto reader = open_capture(path);
  std::vector<packet::Packet> packets;
  std::array<packet::Packet, 64> batch;
  while (const std::size_t n = reader->read(batch))
    packets.insert(packets.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(n));
  const auto lines = tshark_lines(path);
  EXPECT_EQ(lines.size(), packets.size()) << path;
  int count = 0;
  for (std::size_t i = 0; i < std::min(lines.size(), packets.size()); ++i) {
    const std::string ours = our_line(packets[i], reader->addresses());
    const std::string theirs = without_rdma_length(lines[i]);
    if (ours == theirs) continue;
    ++count;
    ADD_FAILURE() << path << " packet " << i + 1 << "\n  ours   " << ours << "\n  tshark "
                  << theirs;
  }
  return count;
}

/// capinfos' packets, data bytes, first and last time; it prints no more decimals than the file
/// has.
std::vector<std::string> capinfos_facts(const std::string& path) {
  std::istringstream output(
      output_of(fmt::format("capinfos -T -r -N -m -c -d -a -e -S {} 2>/dev/null", path)));
  std::vector<std::string> facts;
  for (std::string fact; std::getline(output, fact, ',');) {
    fact = fact.substr(0, fact.find('\n'));
    const auto point = fact.find('.');
    if (!facts.empty() && point != std::string::npos) fact.resize(point + 10, '0');
    facts.push_back(fact);
  }
  return {facts.begin() + 1, facts.end()};  // the first is the file name
}

std::vector<std::string> our_facts(const std::string& path) {
  const auto reading = read_all(*open_capture(path));
  std::uint64_t bytes = 0;
  for (const packet::Packet& packet : reading.packets) bytes += packet.wire_bytes;
  return {std::to_string(reading.packets.size()), std::to_string(bytes),
          time_text(reading.packets.front().time_ns), time_text(reading.packets.back().time_ns)};
}

constexpr std::string_view kConversation = R"(
    0.000000001  a > b  S  mss 1460 wscale 7 ts 100 0
    0.000010000  b > a  S  ack 1  mss 1460 wscale 7 ts 900 100
    0.000020000  a > b  .  ts 101 900
    0.000030000  a > b  1:1449  ts 102 900  id 1
    0.000031000  a > b  1449:2897  ts 102 900  id 2 ecn 3
    0.000040000  b > a  ack 2897  E  ts 903 102
    0.000050000  a > b  2897:32897  ts 104 903
    0.000060000  a.1000 > c.2000  udp 700
    0.000070000  a > c  roce 10 1234 77 1022
    0.000080000  c > a  roce 17 1234 78 0
    0.100000000  a > b  F  ts 200 903
    0.200000000  b > a  R)";

/// The conversation in several manners, one after another. REQUIRES: one link type for all.
FileBytes one_file(const std::vector<LadderOptions>& manners) {
  FileBytes file;
  Writer writer(memory_sink(file), {.format = FileFormat::Pcap,
                                    .interfaces = {{.link_type = manners.at(0).link_type}}});
  for (const LadderOptions& manner : manners) {
    for (const LadderFrame& frame : ladder(kConversation, manner)) writer.write(record_of(frame));
  }
  writer.finish();
  return file;
}

/// Every kind of file that we write, by name.
std::map<std::string, FileBytes> files() {
  std::map<std::string, FileBytes> result;
  for (const FileFormat format : {FileFormat::Pcap, FileFormat::Pcapng}) {
    for (const std::int64_t ticks : {1'000'000, 1'000'000'000}) {
      const bool big = (format == FileFormat::Pcap) == (ticks == 1'000'000);
      const auto name = fmt::format("{}_{}.pcap", big ? "big" : "little", ticks) +
                        (format == FileFormat::Pcap ? "" : "ng");
      result[name] = written(
          kConversation,
          {.format = format,
           .interfaces =
               {{.link_type = 1, .snaplen = 150, .name = "eth0", .ticks_per_second = ticks}},
           .order = big ? std::endian::big : std::endian::little});
    }
  }
  for (const std::uint32_t link_type : {0, 101, 108, 113, 276}) {
    result[fmt::format("link_{}.pcap", link_type)] =
        one_file({{.link_type = link_type}, {.link_type = link_type, .v6 = true}});
  }
  std::vector<LadderOptions> isns;
  for (const std::uint32_t isn : kTryingIsns)
    isns.push_back({.isn = isn, .reply_isn = ~isn, .snaplen = 100});
  result["isns.pcap"] = one_file(isns);
  result["snap_54.pcap"] = ladder_pcap("0 a > b 1:1449\n0.1 b > a ack 1449", {.snaplen = 54});
  return result;
}

/// Interfaces with clocks of 2^-20 s and microseconds, in two sections of different byte order.
FileBytes mixed_clocks() {
  const std::vector<Interface> interfaces = {{.link_type = 1, .ticks_per_second = 1 << 20},
                                             {.link_type = 1, .ticks_per_second = 1'000'000},
                                             {.link_type = 1}};
  return joined(written(kConversation, {.interfaces = interfaces, .order = std::endian::little}),
                written(kConversation, {.interfaces = interfaces, .order = std::endian::big}));
}

/// Frames that a ladder does not write.
FileBytes odd_frames() {
  const packet::Address a = packet::parse_address("10.0.0.1"),
                        b = packet::parse_address("10.0.0.2");
  const packet::Address a6 = packet::parse_address("fd00::1"),
                        b6 = packet::parse_address("fd00::2");
  const packet::FrameSpec base{
      .source = a, .destination = b, .source_port = 1, .destination_port = 2, .payload_bytes = 100};
  std::vector<packet::FrameSpec> specs(7, base);
  specs[0].v4_option_bytes = 8;
  specs[1].vlans = {100};
  specs[2].vlans = {100, 200};
  specs[3].payload_bytes = 1;
  specs[3].least_bytes = 60;
  specs[4].fragment_offset = 1480;
  specs[5].source = a6;
  specs[5].destination = b6;
  specs[5].extensions = {0, 60, 43};
  specs[6] = specs[5];
  specs[6].extensions = {44};
  specs[6].fragment_offset = 1480;
  FileBytes file;
  Writer writer(memory_sink(file), {});
  for (const packet::FrameSpec& spec : specs) {
    const packet::Frame frame = packet::make_frame(spec);
    writer.write({.bytes = frame.bytes,
                  .original_bytes = frame.original_bytes,
                  .time_ns = 1,
                  .interface = 0,
                  .link = packet::Link::Ethernet});
  }
  writer.finish();
  return file;
}

TEST(Oracle, TsharkReadsTheSamePacketsFromEveryKindOfFile) {
  if (!has("tshark")) GTEST_SKIP() << "tshark is not installed";
  const TemporaryFolder folder;
  auto all = files();
  all["mixed_clocks.pcapng"] = mixed_clocks();
  all["odd_frames.pcapng"] = odd_frames();
  int wrong = 0;
  for (const auto& [name, bytes] : all) wrong += disagreements(folder.file(name, bytes));
  fmt::print("{} files compared with tshark, {} packets disagree\n", all.size(), wrong);
  EXPECT_EQ(wrong, 0);
}

TEST(Oracle, TsharkFindsNoWrongChecksumOrLength) {
  if (!has("tshark")) GTEST_SKIP() << "tshark is not installed";
  const TemporaryFolder folder;
  for (const bool v6 : {false, true}) {
    const std::string path = folder.file("x.pcap", ladder_pcap(kConversation, {.v6 = v6}));
    // 1: error, 2: unverified, 0: bad is shown by an expert item of severity "error" or "warn".
    const std::string complaints =
        output_of(fmt::format("tshark -n -r {} -o tcp.check_checksum:TRUE -o "
                              "ip.check_checksum:TRUE -o udp.check_checksum:TRUE -Y "
                              "'ip.checksum.status==0 || tcp.checksum.status==0 || "
                              "udp.checksum.status==0 || _ws.malformed' 2>/dev/null",
                              path));
    EXPECT_EQ(complaints, "") << (v6 ? "IPv6" : "IPv4");
  }
}

TEST(Oracle, CapinfosCountsTheSame) {
  if (!has("capinfos")) GTEST_SKIP() << "capinfos is not installed";
  const TemporaryFolder folder;
  auto all = files();
  all["mixed_clocks.pcapng"] = mixed_clocks();
  for (const auto& [name, bytes] : all) {
    const std::string path = folder.file(name, bytes);
    EXPECT_EQ(our_facts(path), capinfos_facts(path)) << name;
  }
}

}  // namespace
}  // namespace tw::capture
