// SPDX-License-Identifier: Apache-2.0
// What `predict` prints for people.

#pragma once

#include "trainwire/guide/predict_document.h"

#include <string>

namespace tw::guide {

/// Some 30 lines; of what-ifs the fastest ones where there are many. The last line says what to do next.
std::string predict_text(const Predicted& predicted);

}  // namespace tw::guide
