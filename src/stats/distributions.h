// SPDX-License-Identifier: Apache-2.0
// Distributions of test statistics. What Boost.Math does here is behind these few functions, since
// its headers take long to compile.

#pragma once

namespace tw::stats {

/// The value that Student's t with `degrees` of freedom stays below with probability `p`.
double student_quantile(double degrees, double p);

/// The value that it exceeds with probability `p`, also where 1 - `p` would lose digits.
double student_upper_quantile(double degrees, double p);

/// The probability that it exceeds `t`.
double student_tail(double degrees, double t);

/// The value that F with these degrees of freedom stays below with probability `p`.
double f_quantile(double numerator, double denominator, double p);

/// The probability that it exceeds `f`. REQUIRES: f >= 0.
double f_tail(double numerator, double denominator, double f);

/// The probability that chi squared with `degrees` of freedom exceeds `x`. REQUIRES: x >= 0.
double chi_squared_tail(double degrees, double x);

/// The value that a beta variable with parameters `a` and `b` stays below with probability `p`.
double beta_quantile(double a, double b, double p);

}  // namespace tw::stats
