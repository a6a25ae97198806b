// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/account.h"

namespace tw::record {

double part_s(const Accounting& accounting, std::string_view name) {
  for (const AccountPart& part : accounting.parts) {
    if (part.name == name) return part.seconds;
  }
  return 0;
}

}  // namespace tw::record
