// SPDX-License-Identifier: Apache-2.0
// What becomes of results that are where new ones are to go.

#pragma once

namespace tw::result {

enum class IfThere { Refuse, Replace };

}  // namespace tw::result
