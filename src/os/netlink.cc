// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/netlink.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace tw::os {
namespace {

constexpr std::size_t kAnswerBytes = 32768;
/// What is sent at once; the acknowledgements must fit into the socket's receive buffer.
constexpr std::size_t kBatchMessages = 128;
constexpr int kBufferBytes = 1 << 20;

NetlinkMessage batch_mark(int type) {
  NetlinkMessage mark(type, 0);
  mark.header(nfgenmsg{
      .nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)});
  // The marks themselves are not acknowledged.
  mark.get()->nlmsg_flags = NLM_F_REQUEST;
  return mark;
}

void append(std::vector<std::byte>& to, const NetlinkMessage& message) {
  const auto* const begin = reinterpret_cast<const std::byte*>(message.get());
  to.insert(to.end(), begin, begin + MNL_ALIGN(message.get()->nlmsg_len));
}

/// The last attribute of that type (libmnl's own loops are macros that only C takes).
const nlattr* find_between(const nlattr* first, const std::byte* end, int attribute) {
  const nlattr* found = nullptr;
  for (const nlattr* a = first;
       mnl_attr_ok(a, static_cast<int>(end - reinterpret_cast<const std::byte*>(a)));
       a = mnl_attr_next(a)) {
    if (mnl_attr_get_type(a) == attribute) found = a;
  }
  return found;
}

}  // namespace

NetlinkMessage::NetlinkMessage(int type, int flags) : buffer_(256) {
  nlmsghdr* const message = mnl_nlmsg_put_header(buffer_.data());
  message->nlmsg_type = static_cast<std::uint16_t>(type);
  message->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
}

const nlmsghdr* NetlinkMessage::get() const {
  return reinterpret_cast<const nlmsghdr*>(buffer_.data());
}

nlmsghdr* NetlinkMessage::get() { return reinterpret_cast<nlmsghdr*>(buffer_.data()); }

void NetlinkMessage::reserve(std::size_t more) {
  const std::size_t needed = get()->nlmsg_len + more + 2 * MNL_ALIGNTO + MNL_ATTR_HDRLEN;
  if (buffer_.size() < needed) buffer_.resize(2 * needed);
}

NetlinkMessage& NetlinkMessage::fixed_part(std::span<const std::byte> value) {
  check(get()->nlmsg_len == MNL_NLMSG_HDRLEN, "the fixed part comes before the attributes");
  return raw(value);
}

NetlinkMessage& NetlinkMessage::raw(std::span<const std::byte> value) {
  reserve(value.size());
  std::memcpy(mnl_nlmsg_put_extra_header(get(), value.size()), value.data(), value.size());
  return *this;
}

NetlinkMessage& NetlinkMessage::bytes(int attribute, std::span<const std::byte> value) {
  reserve(value.size());
  mnl_attr_put(get(), static_cast<std::uint16_t>(attribute), value.size(), value.data());
  return *this;
}

NetlinkMessage& NetlinkMessage::text(int attribute, std::string_view value) {
  const std::string with_zero(value);
  return bytes(attribute, std::as_bytes(std::span(with_zero.c_str(), with_zero.size() + 1)));
}

NetlinkMessage& NetlinkMessage::nest(int attribute,
                                     const std::function<void(NetlinkMessage&)>& fill) {
  reserve(0);
  const std::size_t at = get()->nlmsg_len;
  mnl_attr_nest_start(get(), static_cast<std::uint16_t>(attribute));
  fill(*this);
  // The buffer may have moved meanwhile.
  mnl_attr_nest_end(get(), reinterpret_cast<nlattr*>(buffer_.data() + at));
  return *this;
}

NetlinkSocket::NetlinkSocket(int protocol)
    : fd_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol)) {
  if (!fd_.is_open()) throw errno_error("opening a netlink socket", errno);
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDBUF, &kBufferBytes, sizeof kBufferBytes);
  // Acknowledgements need not carry the request back.
  const int on = 1;
  ::setsockopt(fd_.get(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
}

void NetlinkSocket::send(std::span<const std::byte> bytes, std::string_view attempt) {
  if (::send(fd_.get(), bytes.data(), bytes.size(), 0) < 0) throw errno_error(attempt, errno);
}

int NetlinkSocket::acknowledgements(std::uint32_t sequence_from, std::string_view attempt) {
  alignas(nlmsghdr) std::array<std::byte, kAnswerBytes> answer;
  std::uint32_t open = sequence_ - sequence_from + 1;
  int refusal = 0;
  while (open > 0) {
    const std::ptrdiff_t got = read_some(fd_, answer);
    if (got < 0) throw errno_error(attempt, errno);
    auto left = static_cast<int>(got);
    for (const auto* m = reinterpret_cast<const nlmsghdr*>(answer.data()); mnl_nlmsg_ok(m, left);
         m = mnl_nlmsg_next(m, &left)) {
      const bool is_ours = m->nlmsg_seq - sequence_from <= sequence_ - sequence_from;
      if (m->nlmsg_type != NLMSG_ERROR || !is_ours) continue;
      const int code = -static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(m))->error;
      if (refusal == 0) refusal = code;
      --open;
    }
  }
  return refusal;
}

int NetlinkSocket::try_request(NetlinkMessage message) {
  message.get()->nlmsg_seq = ++sequence_;
  std::vector<std::byte> bytes;
  append(bytes, message);
  send(bytes, "asking the kernel");
  return acknowledgements(sequence_, "asking the kernel");
}

void NetlinkSocket::request(NetlinkMessage message, std::string_view attempt) {
  if (const int refusal = try_request(std::move(message)); refusal != 0) {
    throw errno_error(attempt, refusal);
  }
}

void NetlinkSocket::request_all(std::vector<NetlinkMessage> messages, std::string_view attempt) {
  for (std::size_t from = 0; from < messages.size(); from += kBatchMessages) {
    const std::uint32_t first = sequence_ + 1;
    std::vector<std::byte> bytes;
    for (std::size_t i = from; i < std::min(messages.size(), from + kBatchMessages); ++i) {
      messages[i].get()->nlmsg_seq = ++sequence_;
      append(bytes, messages[i]);
    }
    send(bytes, attempt);
    if (const int refusal = acknowledgements(first, attempt); refusal != 0) {
      throw errno_error(attempt, refusal);
    }
  }
}

void NetlinkSocket::transaction(std::vector<NetlinkMessage> messages, std::string_view attempt) {
  std::vector<std::byte> bytes;
  append(bytes, batch_mark(NFNL_MSG_BATCH_BEGIN));
  const std::uint32_t first = sequence_ + 1;
  for (NetlinkMessage& message : messages) {
    message.get()->nlmsg_seq = ++sequence_;
    append(bytes, message);
  }
  append(bytes, batch_mark(NFNL_MSG_BATCH_END));
  send(bytes, attempt);
  if (const int refusal = acknowledgements(first, attempt); refusal != 0) {
    throw errno_error(attempt, refusal);
  }
}

void NetlinkSocket::query(NetlinkMessage message, std::string_view attempt,
                          const std::function<void(const nlmsghdr&)>& take) {
  const bool is_dump = (message.get()->nlmsg_flags & NLM_F_DUMP) != 0;
  message.get()->nlmsg_seq = ++sequence_;
  std::vector<std::byte> bytes;
  append(bytes, message);
  send(bytes, attempt);
  alignas(nlmsghdr) std::array<std::byte, kAnswerBytes> answer;
  while (true) {
    const std::ptrdiff_t got = read_some(fd_, answer);
    if (got < 0) throw errno_error(attempt, errno);
    auto left = static_cast<int>(got);
    for (const auto* m = reinterpret_cast<const nlmsghdr*>(answer.data()); mnl_nlmsg_ok(m, left);
         m = mnl_nlmsg_next(m, &left)) {
      if (m->nlmsg_seq != sequence_) continue;
      if (m->nlmsg_type == NLMSG_DONE) return;
      if (m->nlmsg_type != NLMSG_ERROR) {
        take(*m);
        continue;
      }
      const int code = -static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(m))->error;
      if (code != 0) throw errno_error(attempt, code);
      if (!is_dump) return;
    }
  }
}

const nlattr* find_attribute(const nlmsghdr& message, std::size_t header_bytes, int attribute) {
  const auto* const first =
      static_cast<const nlattr*>(mnl_nlmsg_get_payload_offset(&message, header_bytes));
  const auto* const end = reinterpret_cast<const std::byte*>(&message) + message.nlmsg_len;
  return find_between(first, end, attribute);
}

const nlattr* find_nested(const nlattr* inside, int attribute) {
  if (inside == nullptr) return nullptr;
  const auto* const first = static_cast<const nlattr*>(mnl_attr_get_payload(inside));
  const auto* const end = reinterpret_cast<const std::byte*>(inside) + inside->nla_len;
  return find_between(first, end, attribute);
}

std::span<const std::byte> value_of(const nlattr* attribute) {
  if (attribute == nullptr) return {};
  return {static_cast<const std::byte*>(mnl_attr_get_payload(attribute)),
          mnl_attr_get_payload_len(attribute)};
}

}  // namespace tw::os
