// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/schedule.h"

#include "trainwire/collective/cursor.h"

#include <algorithm>
#include <utility>

namespace tw::collective {
namespace {

int wrapped(std::int64_t value, int modulus) {
  const std::int64_t rest = value % modulus;
  return static_cast<int>(rest < 0 ? rest + modulus : rest);
}

}  // namespace

std::string_view name_of(Combine combine) {
  switch (combine) {
    case Combine::Replace:
      return "replace";
    case Combine::Sum:
      return "sum";
    case Combine::Average:
      return "average";
  }
  return {};
}

Transfer transfer(const Schedule& schedule, const Strand& strand, std::int64_t i) {
  return {.round = strand.round + i * strand.round_stride,
          .from = wrapped(strand.from + i * strand.from_stride, schedule.ranks),
          .to = wrapped(strand.to + i * strand.to_stride, schedule.ranks),
          .chunk = wrapped(strand.chunk + i * strand.chunk_stride, schedule.chunks),
          .width = strand.width,
          .combine = strand.combine};
}

std::vector<Transfer> transfers_of(const Schedule& schedule, int rank) {
  std::vector<Transfer> all;
  for (Cursor cursor(schedule, rank); !cursor.done(); cursor.advance()) {
    all.push_back(cursor.transfer());
  }
  return all;
}

std::int64_t chunk_begin(std::int64_t elements, int chunks, int chunk) {
  return chunk * (elements / chunks) + std::min<std::int64_t>(chunk, elements % chunks);
}

std::int64_t chunk_elements(std::int64_t elements, int chunks, int chunk) {
  return elements / chunks + (chunk < elements % chunks ? 1 : 0);
}

Range range_of(const Schedule& schedule, const Transfer& transfer, std::int64_t elements) {
  const std::int64_t first = chunk_begin(elements, schedule.chunks, transfer.chunk);
  const std::int64_t end = chunk_begin(elements, schedule.chunks, transfer.chunk + transfer.width);
  return {.first = first, .elements = end - first};
}

Schedule distribution(Schedule schedule) {
  schedule.program = [all = std::move(schedule.program)](int rank) {
    Program program = all(rank);
    std::erase_if(program, [](const Strand& s) { return s.combine != Combine::Replace; });
    return program;
  };
  schedule.depth = std::min<std::int64_t>(schedule.depth, 1);
  return schedule;
}

}  // namespace tw::collective
