// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/kineto_fields.h"

#include "trainwire/readers/json_pieces.h"

namespace tw::readers {
namespace {

/// Elements of the first tensor of "Input Dims": [[513000], []] or [[[513000]], []].
std::optional<std::int64_t> first_elements(std::string_view dims) {
  Elements outer(dims);
  if (!outer.next()) return {};
  std::string_view shape = outer.value();
  for (Elements inner(shape); inner.next();) {
    if (!inner.value().starts_with('[')) break;
    shape = inner.value();
    break;
  }
  std::int64_t elements = 1;
  bool any = false;
  for (Elements sides(shape); sides.next();) {
    const auto side = whole_of(sides.value());
    const auto more = side ? operations::product(elements, *side) : std::nullopt;
    if (!more) return {};
    elements = *more;
    any = true;
  }
  return any ? std::optional(elements) : std::nullopt;
}

std::string first_type(std::string_view types) {
  Elements each(types);
  return each.next() ? std::string(string_of(each.value())) : std::string();
}

}  // namespace

KinetoFields kineto_fields(std::string_view args) {
  KinetoFields fields;
  std::optional<std::int64_t> dims;
  std::string type;
  std::optional<std::int64_t> source;
  for (Members each(args); each.next();) {
    const std::string_view key = each.key();
    if (key == "Collective name") fields.collective = string_of(each.value());
    if (key == "dtype") fields.dtype = string_of(each.value());
    if (key == "Process Group Name") fields.group = string_of(each.value());
    if (key == "Process Group Ranks") fields.ranks = string_of(each.value());
    if (key == "In msg nelems") fields.in = whole_of(each.value());
    if (key == "Out msg nelems") fields.out = whole_of(each.value());
    if (key == "Group size") fields.group_size = whole_of(each.value());
    if (key == "Seq") fields.sequence = whole_of(each.value());
    if (key == "Rank") fields.rank = whole_of(each.value());
    if (key == "Dst Rank") fields.peer = whole_of(each.value());
    if (key == "Src Rank") source = whole_of(each.value());
    if (key == "External id" || key == "external id") fields.id = whole_of(each.value());
    if (key == "Input Dims" || key == "Input dims") dims = first_elements(each.value());
    if (key == "Input type") type = first_type(each.value());
  }
  if (!fields.in) fields.in = dims;
  if (fields.dtype.empty()) fields.dtype = type;
  if (operations::canonical_op(fields.collective) == "recv" && source) fields.peer = source;
  return fields;
}

bool is_kernel_of_nccl(std::string_view name) {
  // Templates show what they return: "void rcclGenericKernel<1, false>(..)".
  if (name.starts_with("void ")) name.remove_prefix(5);
  return name.starts_with("nccl") || name.starts_with("rccl") || name.starts_with("mscclKernel") ||
         name.starts_with("oneccl_");
}

std::string op_of_kernel(std::string_view name) {
  const std::size_t kernel = name.find("Kernel");
  if (kernel == std::string_view::npos) return {};
  std::string_view rest = name.substr(kernel + 6);
  while (rest.starts_with('_')) rest.remove_prefix(1);
  return operations::canonical_op(rest.substr(0, rest.find_first_of("_(<")));
}

std::string algorithm_of_kernel(std::string_view name) {
  if (name.find("_RING") != std::string_view::npos) return "ring";
  if (name.find("_TREE") != std::string_view::npos) return "tree";
  if (name.find("_NVLS") != std::string_view::npos) return "nvls";
  if (name.find("_COLLNET") != std::string_view::npos) return "collnet";
  if (name.find("_PAT") != std::string_view::npos) return "pat";
  return {};
}

bool is_small(std::optional<std::int64_t> number) {
  return number && *number >= 0 && *number < 10'000'000;
}

void put_fields(const KinetoFields& fields, operations::Operation& into) {
  if (const std::string op = operations::canonical_op(fields.collective); !op.empty()) into.op = op;
  into.dtype = fields.dtype;
  into.group = fields.group;
  if (!fields.ranks.empty()) into.group += " " + fields.ranks.substr(0, 256);
  if (is_small(fields.group_size)) into.group_size = static_cast<int>(*fields.group_size);
  if (is_small(fields.peer)) into.peer = static_cast<int>(*fields.peer);
  into.sequence = fields.sequence;
  if (fields.enqueue_ns >= 0) into.enqueue_ns = fields.enqueue_ns;
  const auto element = operations::element_bytes(fields.dtype);
  if (!element || (!fields.in && !fields.out)) return;
  const auto elements = operations::message_elements(into.op, fields.in.value_or(0),
                                                     fields.out.value_or(0), into.group_size);
  if (elements) into.bytes = operations::product(*elements, *element);
}

}  // namespace tw::readers
