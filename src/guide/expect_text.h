// SPDX-License-Identifier: Apache-2.0
// What nccl-tests would show, in its columns, and a measured table beside it: for people and as
// documents.

#pragma once

#include "trainwire/nccl/against.h"
#include "trainwire/nccl/expect.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tw::guide {

struct ExpectRequest {
  nccl::Cluster cluster;
  nccl::Operation operation;
  std::string type;  ///< nccl-tests' name, "float"
};

/// One sentence, the table, what NCCL would choose. REQUIRES: at least one row.
std::string expect_text(const ExpectRequest& request, const std::vector<nccl::Expected>& rows);
nlohmann::ordered_json expect_document(const ExpectRequest& request,
                                       const std::vector<nccl::Expected>& rows);

/// The comparison's sentence first.
std::string against_text(const ExpectRequest& request, const nccl::Comparison& found);
/// As expect_document, with `measured` in the rows and `against` beside them.
nlohmann::ordered_json against_document(const ExpectRequest& request,
                                        const nccl::Comparison& found);

}  // namespace tw::guide
