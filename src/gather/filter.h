// SPDX-License-Identifier: Apache-2.0
// A BPF expression, in tcpdump's words, as a predicate on captured records.

#pragma once

#include "trainwire/packet/record.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace tw::gather {

class Filter {
 public:
  /// Throws SpecError with libpcap's words when the expression is wrong.
  explicit Filter(std::string expression);
  ~Filter();

  /// `link_type`: the LINKTYPE_ number of the record's interface. Throws SpecError when the
  /// expression means nothing on such a link.
  bool matches(const packet::Record& record, std::uint32_t link_type);

 private:
  struct Program;  ///< libpcap's, compiled for one link type
  std::unique_ptr<Program> compiled(std::uint32_t link_type) const;

  std::string expression_;
  std::map<std::uint32_t, std::unique_ptr<Program>> programs_;  ///< by link type
};

}  // namespace tw::gather
