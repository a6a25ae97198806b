// SPDX-License-Identifier: Apache-2.0
#include "trainwire/chakra/et_file.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"

#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include <algorithm>

namespace tw::chakra {
namespace {

using Tag = protozero::pbf_tag_type;
constexpr Tag kVersion = 1;  // of GlobalMetadata
struct OfNode {
  static constexpr Tag kId = 1, kName = 2, kType = 3, kControl = 4, kData = 5, kStart = 6;
  static constexpr Tag kDuration = 7, kAttribute = 10;
};
struct OfAttribute {
  static constexpr Tag kName = 1, kInt32 = 7, kInt64 = 9, kUint32 = 11, kUint64 = 13;
  static constexpr Tag kSint32 = 15, kSint64 = 17, kBool = 27, kString = 29;
};

struct Attribute {
  std::string_view name = {};
  std::optional<std::int64_t> number = {};
  std::string_view text = {};
};

bool is_text(const protozero::pbf_reader& message) {
  return message.wire_type() == protozero::pbf_wire_type::length_delimited;
}

bool is_number(const protozero::pbf_reader& message) {
  return message.wire_type() == protozero::pbf_wire_type::varint;
}

Attribute attribute_of(protozero::pbf_reader message) {
  Attribute made;
  while (message.next()) {
    const bool is_named =
        message.tag() == OfAttribute::kName || message.tag() == OfAttribute::kString;
    if (is_named ? !is_text(message) : !is_number(message)) {
      message.skip();
    } else if (message.tag() == OfAttribute::kName) {
      const auto view = message.get_view();
      made.name = {view.data(), view.size()};
    } else if (message.tag() == OfAttribute::kString) {
      const auto view = message.get_view();
      made.text = {view.data(), view.size()};
    } else if (message.tag() == OfAttribute::kInt32) {
      made.number = message.get_int32();
    } else if (message.tag() == OfAttribute::kInt64) {
      made.number = message.get_int64();
    } else if (message.tag() == OfAttribute::kUint32) {
      made.number = message.get_uint32();
    } else if (message.tag() == OfAttribute::kUint64) {
      const std::uint64_t number = message.get_uint64();
      if (number < (std::uint64_t{1} << 62)) made.number = static_cast<std::int64_t>(number);
    } else if (message.tag() == OfAttribute::kSint32) {
      made.number = message.get_sint32();
    } else if (message.tag() == OfAttribute::kSint64) {
      made.number = message.get_sint64();
    } else if (message.tag() == OfAttribute::kBool) {
      made.number = message.get_uint64() != 0 ? 1 : 0;
    } else {
      message.skip();
    }
  }
  return made;
}

void put(const Attribute& attribute, Node& into) {
  if (attribute.name == "pg_name") into.group = attribute.text.substr(0, 256);
  if (!attribute.number) return;
  if (attribute.name == "comm_type") into.collective = attribute.number;
  if (attribute.name == "comm_size") into.bytes = attribute.number;
  if (attribute.name == "comm_src") into.from = attribute.number;
  if (attribute.name == "comm_dst") into.to = attribute.number;
  if (attribute.name == "comm_tag") into.tag = attribute.number;
  if (attribute.name == "is_cpu_op") into.on_host = *attribute.number != 0;
}

/// Whether the field has the form that its number stands for.
bool is_expected(const protozero::pbf_reader& message) {
  switch (message.tag()) {
    case OfNode::kName:
    case OfNode::kAttribute:
      return is_text(message);
    case OfNode::kData:
      return is_text(message) || is_number(message);
    default:
      return is_number(message);
  }
}

Node node_of(protozero::pbf_reader message) {
  Node made;
  while (message.next()) {
    if (!is_expected(message)) {
      message.skip();
      continue;
    }
    switch (message.tag()) {
      case OfNode::kId:
        made.id = message.get_uint64();
        break;
      case OfNode::kName: {
        const auto view = message.get_view();
        made.name.assign(view.data(), std::min<std::size_t>(view.size(), 1024));
        break;
      }
      case OfNode::kType: {
        const int type = message.get_enum();
        made.type = type >= 0 && type <= 7 ? static_cast<NodeType>(type) : NodeType::Invalid;
        break;
      }
      case OfNode::kData:
        if (message.wire_type() == protozero::pbf_wire_type::length_delimited) {
          for (const std::uint64_t id : message.get_packed_uint64()) made.waits_for.push_back(id);
        } else {
          made.waits_for.push_back(message.get_uint64());
        }
        break;
      case OfNode::kStart:
        made.start_us = message.get_uint64();
        break;
      case OfNode::kDuration:
        made.duration_us = message.get_uint64();
        break;
      case OfNode::kAttribute:
        put(attribute_of(message.get_message()), made);
        break;
      default:
        message.skip();
    }
  }
  return made;
}

/// The next message behind its length; nothing where the file ends before it does.
std::optional<std::string_view> next_message(std::string_view& rest) {
  const char* at = rest.data();
  const char* const end = rest.data() + rest.size();
  const std::uint64_t size = protozero::decode_varint(&at, end);
  const auto left = static_cast<std::size_t>(end - at);
  if (size > kMostMessage) throw protozero::invalid_length_exception();
  if (size > left) return {};
  rest = {at + size, left - size};
  return std::string_view(at, size);
}

void add_number(protozero::pbf_writer& node, std::string_view name, Tag tag, std::int64_t value) {
  protozero::pbf_writer attribute(node, OfNode::kAttribute);
  attribute.add_string(OfAttribute::kName, name.data(), name.size());
  attribute.add_int64(tag, value);
}

std::string message_of(const Node& node) {
  std::string bytes;
  protozero::pbf_writer message(bytes);
  message.add_uint64(OfNode::kId, node.id);
  message.add_string(OfNode::kName, node.name);
  message.add_enum(OfNode::kType, static_cast<int>(node.type));
  if (!node.waits_for.empty())
    message.add_packed_uint64(OfNode::kData, node.waits_for.begin(), node.waits_for.end());
  if (node.start_us > 0) message.add_uint64(OfNode::kStart, node.start_us);
  if (node.duration_us > 0) message.add_uint64(OfNode::kDuration, node.duration_us);
  const auto add = [&](std::string_view name, Tag tag, const std::optional<std::int64_t>& value) {
    if (value) add_number(message, name, tag, *value);
  };
  if (node.on_host) {
    protozero::pbf_writer attribute(message, OfNode::kAttribute);
    attribute.add_string(OfAttribute::kName, "is_cpu_op");
    attribute.add_bool(OfAttribute::kBool, *node.on_host);
  }
  add("comm_type", OfAttribute::kInt64, node.collective);
  add("comm_size", OfAttribute::kInt64, node.bytes);
  add("comm_src", OfAttribute::kInt32, node.from);
  add("comm_dst", OfAttribute::kInt32, node.to);
  add("comm_tag", OfAttribute::kInt32, node.tag);
  if (!node.group.empty()) {
    protozero::pbf_writer attribute(message, OfNode::kAttribute);
    attribute.add_string(OfAttribute::kName, "pg_name");
    attribute.add_string(OfAttribute::kString, node.group);
  }
  return bytes;
}

void add_message(std::string& to, const std::string& message) {
  protozero::write_varint(std::back_inserter(to), message.size());
  to += message;
}

}  // namespace

bool is_et(std::string_view beginning) {
  // A length, then the metadata: field 1, a version like 0.0.4.
  if (beginning.size() < 5) return false;
  const auto length = static_cast<unsigned char>(beginning[0]);
  const auto version = static_cast<unsigned char>(beginning[2]);
  return length >= 2 && beginning[1] == '\x0a' && version >= 1 && version <= 32 &&
         length >= version + 2 && beginning[3] >= '0' && beginning[3] <= '9' &&
         (version == 1 || beginning[4] == '.');
}

EtFile parse_et(std::string_view bytes, std::string_view name) {
  EtFile made;
  std::string_view rest = bytes;
  try {
    bool is_first = true;
    while (!rest.empty()) {
      const auto message = next_message(rest);
      if (!message) {
        made.cut_off = true;
        break;
      }
      protozero::pbf_reader reader(message->data(), message->size());
      if (is_first) {
        while (reader.next()) {
          if (reader.tag() != kVersion || !is_text(reader)) {
            reader.skip();
            continue;
          }
          made.version = reader.get_string().substr(0, 32);
        }
        is_first = false;
        continue;
      }
      if (made.nodes.size() >= kMostNodes) break;
      made.nodes.push_back(node_of(reader));
    }
  } catch (const protozero::end_of_buffer_exception&) {
    made.cut_off = true;
  } catch (const protozero::exception& error) {
    throw DataError(fmt::format("reading {}: byte {}: no Chakra trace ({}); was it copied as text?",
                                printable(name), bytes.size() - rest.size(), error.what()));
  }
  return made;
}

std::string et_bytes(const std::vector<Node>& nodes) {
  std::string bytes;
  std::string metadata;
  protozero::pbf_writer(metadata).add_string(kVersion, "0.0.4");
  add_message(bytes, metadata);
  for (const Node& node : nodes) add_message(bytes, message_of(node));
  return bytes;
}

}  // namespace tw::chakra
