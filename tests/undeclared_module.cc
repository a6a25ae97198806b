// SPDX-License-Identifier: Apache-2.0
// Compiled with the include folders of `zoo`, which does not declare `spec`: must fail.
#include "trainwire/spec/experiment.h"
