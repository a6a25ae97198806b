// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/metrics.h"

#include "trainwire/base/error.h"
#include "trainwire/serve/desk.h"
#include "trainwire/serve/refusal.h"

#include <fmt/format.h>

#include <utility>

namespace tw::serve {
namespace {

constexpr std::size_t kAskers = 4;
constexpr const char* kPlain = "text/plain; charset=utf-8";

}  // namespace

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

class MetricsServer::Parts {
 public:
  explicit Parts(const MetricsOptions& options)
      : options_(options), desk_(options.address, options.port, kAskers) {
    check(!options_.token.empty() || is_loopback(options_.address),
          "metrics for other machines have a token");
    desk_.http().set_payload_max_length(0);
    desk_.http().set_default_headers(
        {{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-store"}});
    // Before any handler is looked for, so that nothing of a stranger's is looked at.
    desk_.http().set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          answer(request, response);
          return httplib::Server::HandlerResponse::Handled;
        });
    desk_.open();
  }

  std::string address() const {
    const bool v6 = options_.address.find(':') != std::string::npos;
    return fmt::format("http://{}{}{}:{}/metrics", v6 ? "[" : "", options_.address, v6 ? "]" : "",
                       desk_.port());
  }

 private:
  void answer(const httplib::Request& request, httplib::Response& response) const {
    try {
      require_metrics({.port = desk_.port(), .token = options_.token}, head_of(request));
      // The library would copy the answer once for each of many ranges.
      if (request.has_header("Range")) throw Refusal(400, "ask for the whole, without a Range");
      response.set_content(options_.text(), options_.content_type);
      response.status = 200;
    } catch (const Refusal& refusal) {
      response.status = refusal.status();
      if (refusal.status() == 401) response.set_header("WWW-Authenticate", "Bearer");
      response.set_content(std::string(refusal.what()) + "\n", kPlain);
    } catch (const std::exception& error) {
      response.status = 500;
      response.set_content(std::string(error.what()) + "\n", kPlain);
    }
  }

  MetricsOptions options_;
  Desk desk_;  ///< last: its threads use all of the above
};

MetricsServer::MetricsServer(const MetricsOptions& options)
    : parts_(std::make_unique<Parts>(options)) {}
MetricsServer::~MetricsServer() = default;

std::string MetricsServer::address() const { return parts_->address(); }

}  // namespace tw::serve
