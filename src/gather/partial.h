// SPDX-License-Identifier: Apache-2.0
// What was read from captures before it is combined, as a small file: made where a capture lies, and
// merged with the others' elsewhere.
//
// A part holds views (flow/view.h), each with its files and addresses. Merging collects views and
// combines them all at once, in an order of their own: so it does not matter in which order, or in
// how many steps, parts were put together, and the result is that of reading all captures at once
// in the order of their names. Times are those of the first file by name.
//
// Limits: where captures are so long that a table halves its resolution, a part alone keeps a finer
// one than all captures together would: counts and pairs are the same, series and bursts finer. Of
// small flows that are only counted 10,000 a part are remembered one by one.

#pragma once

#include "trainwire/flow/view.h"
#include "trainwire/gather/captured.h"
#include "trainwire/packet/address.h"
#include "trainwire/packet/address_table.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::gather {

/// One point of view.
struct PartialView {
  std::vector<packet::Address> addresses = {};  ///< by number in here; the first is "::"
  flow::View view = {};
  std::vector<FileSummary> files = {};
  std::vector<packet::Address> home = {};  ///< of the host that captured, as glimpse.h tells
  std::vector<flow::Flow> small = {};      ///< that are only counted in `view`, without series
};

/// Of captures, and of parts, whose views are passed on. Throws what read_traffic throws, and
/// DataError for a part that is none.
std::vector<PartialView> read_partial(std::span<const std::string> paths,
                                      const ReadOptions& options = {});
/// What read_traffic gives of all their captures. Of the options table budgets, one_clock and
/// retired count.
Captured merge(std::vector<PartialView> parts, const ReadOptions& options = {});

/// Whether a file is a part, by its first bytes. False too when it cannot be read.
bool is_partial(const std::string& path);
std::string encode_partial(const std::vector<PartialView>& parts);
/// `name` is for messages. Throws DataError for bytes that are none, cut off or changed.
std::vector<PartialView> decode_partial(std::string_view bytes, const std::string& name);

/// A part of these bytes in place of views, with the sum that fits them: what a reader must survive.
std::string sealed(std::string_view body);

// One numbering of addresses for what was read apart, each under its own.

/// Common numbers by own ones.
using Numbers = std::vector<std::uint32_t>;

/// Those of addresses in the order of their own numbers, the first of which is "::"; new ones get
/// one.
Numbers numbers_in(packet::AddressTable& table, std::span<const packet::Address> addresses);
std::vector<packet::Address> all_of(const packet::AddressTable& table);

/// Flows are in the order of their keys again.
void renumber(PartialView& part, const Numbers& numbers);

/// Leaves out addresses that nothing names; numbers keep their order.
void compact(PartialView& part);
/// The bytes of a file. Throws SystemError.
std::string text_of(const std::string& path);

}  // namespace tw::gather
