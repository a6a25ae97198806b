// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/distributions.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>

namespace tw::stats {

double student_quantile(double degrees, double p) {
  return boost::math::quantile(boost::math::students_t(degrees), p);
}

double student_upper_quantile(double degrees, double p) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), p));
}

double student_tail(double degrees, double t) {
  return boost::math::cdf(boost::math::complement(boost::math::students_t(degrees), t));
}

double f_quantile(double numerator, double denominator, double p) {
  return boost::math::quantile(boost::math::fisher_f(numerator, denominator), p);
}

double f_tail(double numerator, double denominator, double f) {
  return boost::math::cdf(
      boost::math::complement(boost::math::fisher_f(numerator, denominator), f));
}

double chi_squared_tail(double degrees, double x) {
  return boost::math::cdf(boost::math::complement(boost::math::chi_squared(degrees), x));
}

double beta_quantile(double a, double b, double p) { return boost::math::ibeta_inv(a, b, p); }

}  // namespace tw::stats
