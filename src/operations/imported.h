// SPDX-License-Identifier: Apache-2.0
// Everything that files of other programs say of a job together, and as part of its record: figures, findings, verdict.

#pragma once

#include "trainwire/operations/agreement.h"
#include "trainwire/operations/arrivals.h"
#include "trainwire/operations/balance.h"
#include "trainwire/operations/missing.h"
#include "trainwire/operations/same_axis.h"
#include "trainwire/operations/told.h"
#include "trainwire/operations/wired.h"
#include "trainwire/record/run.h"
#include "trainwire/record/run_folder.h"

#include <vector>

namespace tw::operations {

/// What one direction of a connection carried without a pause.
struct Moved {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::int64_t bytes;
};

/// One direction of a connection, as packets show it.
struct Connection {
  std::int64_t bytes = 0;          ///< each once
  std::int64_t missing_bytes = 0;  ///< that the capture lost, beside those
  bool is_one_way = false;         ///< nothing comes back
  std::vector<Moved> moved = {};
};

struct Imported {
  std::vector<Told> told = {};  ///< on one clock
  std::vector<Arrival> arrivals = {};
  std::optional<Balance> balance = {};
  std::vector<Hang> hangs = {};
  std::vector<Agreement> agreements = {};
  Wiring wiring = {};
  std::optional<Steps> steps = {};
  std::optional<WireClock> wire_clock = {};  ///< of packets against files
  std::vector<Span> wire_steps = {};         ///< that packets alone show
  std::vector<Connection> connections = {};  ///< of packets, those of TCP
};

Imported imported(std::vector<Told> told);

/// Ranks of the job; 0 where no file tells.
int ranks_of(const Imported& imported);

/// Whether a file that tells of operations ends in the middle.
bool is_cut_off(const Imported& imported);

/// Moves everything that files told to the packets' clock where that is another. `wire`: when packets carry bytes, disjoint, in
/// order.
void put_on_axis_of(const std::vector<Span>& wire, Imported& imported);

/// Puts it into the record, beside what packets showed where there were any; the verdict then rests on both.
void add_to(record::Run& run, const Imported& imported);

/// The table `operations`. Throws SystemError.
void write_table(const Imported& imported, record::RunFolder& folder);
/// The table `pairs` of flow records, where there are no packets. Throws SystemError.
void write_pairs(const record::Run& run, record::RunFolder& folder);

}  // namespace tw::operations
