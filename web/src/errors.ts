// SPDX-License-Identifier: Apache-2.0
// How wide intervals are, written by bench/calibrate beside src/forecast/data/errors.csv; tests/step_time.mjs holds the page's
// intervals against the program's.

/** By regime: the logarithm of what 90 % of emulated runs were not further off by, of what the network takes. */
export const FORM_ERRORS = {
  loss: 0.2202,
  queue: 0.5525,
  servers: 0.1012,
  latency: 0.1225,
  bandwidth: 0.1225,
};

/** What was measured; beyond it intervals are wider, by so much for each e-fold (src/forecast/range.h). */
export const MEASURED = { hosts: 16, leastRate_bps: 50e6, mostRate_bps: 1e9, perFold: 0.02 };
