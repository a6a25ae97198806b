// SPDX-License-Identifier: Apache-2.0
// What ends a request without ending the server.

#pragma once

#include "trainwire/base/error.h"

namespace tw::serve {

/// Answered with `status` and {"error": what()}.
class Refusal : public Error {
 public:
  Refusal(int status, const std::string& text) : Error(text), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

}  // namespace tw::serve
