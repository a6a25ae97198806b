// SPDX-License-Identifier: Apache-2.0
// What was measured, as the tables under data/: the program carries them inside.

#pragma once

#include <string_view>

namespace tw::zoo {

/// model,device,batch,forward_ms,backward_ms,optimizer_ms
std::string_view step_table();
/// model,batch,elements,ready_ms
std::string_view gradient_table();

}  // namespace tw::zoo
