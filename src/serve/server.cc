// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/server.h"

#include "trainwire/base/error.h"
#include "trainwire/base/shipped.h"
#include "trainwire/report/template.h"
#include "trainwire/serve/analyses.h"
#include "trainwire/serve/capture_name.h"
#include "trainwire/serve/desk.h"
#include "trainwire/serve/guard.h"
#include "trainwire/serve/live.h"
#include "trainwire/serve/page.h"
#include "trainwire/serve/refusal.h"
#include "trainwire/serve/root.h"
#include "trainwire/serve/run_list.h"
#include "trainwire/serve/upload.h"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <charconv>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tw::serve {
namespace {

using httplib::Request;
using httplib::Response;
using nlohmann::ordered_json;

/// More than a browser opens, and than uploads may wait.
constexpr std::size_t kThreads = 32;
constexpr std::size_t kMostRunsOnAPage = 8;
constexpr const char* kJson = "application/json; charset=utf-8";

void put(Response& response, int status, const ordered_json& document) {
  response.status = status;
  response.set_content(document.dump(-1, ' ', false, ordered_json::error_handler_t::replace),
                       kJson);
}

void put_error(Response& response, int status, const std::string& text) {
  put(response, status, {{"error", text}});
}

/// Calls `answer`; whatever it throws is told to who asked, and then it returns false.
bool answered(Response& response, const std::function<void()>& answer) {
  try {
    answer();
    return true;
  } catch (const Refusal& refusal) {
    put_error(response, refusal.status(), refusal.what());
  } catch (const DataError& error) {
    put_error(response, 422, error.what());
  } catch (const Error& error) {
    put_error(response, 500, error.what());
  } catch (const std::exception& error) {
    put_error(response, 500, fmt::format("internal error: {}; please report it", error.what()));
  }
  return false;
}

std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    throw Refusal(400, "`from` is no number of bytes; give back `next` of the last answer");
  }
  return number;
}

std::string only_id(const Request& request) {
  const std::vector<std::string> ids = values(request.params, "id");
  if (ids.size() != 1) throw Refusal(400, "give one id, from /api/runs");
  return ids.front();
}

/// What is to be known before the body is read. The library would take forms apart, and unpack.
void require_plain_body(const Request& request, Bytes limit) {
  if (request.has_header("Content-Encoding") ||
      request.get_header_value("Content-Type").starts_with("multipart/")) {
    throw Refusal(415, "send the capture's bytes as they are, not a form or an encoding of them");
  }
  if (request.get_header_value("Transfer-Encoding") == "chunked") return;
  const std::string length = request.get_header_value("Content-Length");
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (length.empty() || end != length.data() + length.size()) {
    throw Refusal(411, "send the capture with its Content-Length");
  }
  if (error != std::errc() || bytes > static_cast<std::uint64_t>(limit.count())) {
    refuse_size(limit);
  }
}

}  // namespace

class Server::Parts {
 public:
  explicit Parts(const Options& options)
      : options_(options),
        root_(options.folder),
        page_(served_page(report::page_template(), options.maker, options.folder,
                          options.upload_limit.count())),
        runs_(root_),
        analyses_(root_, options.program, options.analysis_limits) {
    remove_abandoned_uploads(options.folder);
    configure();
    add_routes();
    guard_.port = desk_.port();
    desk_.open();
  }

  ~Parts() {
    stopping_ = true;
    desk_.close();
  }

  const Guard& guard() const { return guard_; }

 private:
  void configure() {
    desk_.http().set_payload_max_length(static_cast<std::size_t>(options_.upload_limit.count()));
    desk_.http().set_default_headers({{"X-Content-Type-Options", "nosniff"},
                                      {"Referrer-Policy", "no-referrer"},
                                      {"Cache-Control", "no-store"},
                                      {"Cross-Origin-Resource-Policy", "same-origin"}});
    desk_.http().set_pre_routing_handler([this](const Request& request, Response& response) {
      const bool allowed = answered(response, [&] {
        require_allowed(guard_, head_of(request));
        // The library would copy the answer once for each of many ranges.
        if (request.has_header("Range")) throw Refusal(400, "ask for the whole, without a Range");
      });
      return allowed ? httplib::Server::HandlerResponse::Unhandled
                     : httplib::Server::HandlerResponse::Handled;
    });
    desk_.http().set_error_handler([](const Request&, Response& response) {
      if (response.body.empty()) {
        put_error(response, response.status,
                  "the request is not understood; see " + shipped("docs/serve.md"));
      }
    });
  }

  void get(const char* path, ordered_json (Parts::*document)(const Request&)) {
    desk_.http().Get(path, [this, document](const Request& request, Response& response) {
      answered(response, [&] { put(response, 200, (this->*document)(request)); });
    });
  }

  void add_routes() {
    desk_.http().Get("/", [this](const Request&, Response& response) {
      response.set_header("Content-Security-Policy", page_.policy);
      response.set_content(page_.html, "text/html; charset=utf-8");
    });
    get("/api/runs", &Parts::runs);
    get("/api/page", &Parts::page);
    get("/api/live", &Parts::live);
    get("/api/tasks", &Parts::tasks);
    desk_.http().Post("/api/upload", [this](const Request& request, Response& response,
                                            const httplib::ContentReader& read) {
      answered(response, [&] { put(response, 202, uploaded(request, read)); });
    });
  }

  ordered_json runs(const Request&) { return runs_.document(); }

  ordered_json page(const Request& request) {
    const auto ids = values(request.params, "id");
    if (ids.empty() || ids.size() > kMostRunsOnAPage) {
      throw Refusal(400, fmt::format("give 1 to {} ids, from /api/runs", kMostRunsOnAPage));
    }
    std::vector<std::string> folders;
    for (const std::string& id : ids) {
      folders.push_back(root_.folder_of(id));
      read_modest_run(folders.back());  // what cannot be shown is refused here
    }
    return report::run_document(folders, report::Detail::Reduced, options_.maker,
                                options_.comparisons ? options_.comparisons(folders) : nullptr);
  }

  ordered_json live(const Request& request) {
    const std::string id = only_id(request);
    const std::string folder = root_.folder_of(id);
    LivePosition position;
    if (request.has_param("from")) position.from = number_of(request.get_param_value("from"));
    if (request.has_param("point")) position.point = request.get_param_value("point");
    ordered_json document = live_document(folder, position);
    document["running"] = runs_.is_running(id);
    return document;
  }

  ordered_json tasks(const Request&) { return analyses_.document(); }

  ordered_json uploaded(const Request& request, const httplib::ContentReader& read) {
    require_plain_body(request, options_.upload_limit);
    Analyses::Place place(analyses_);
    Upload upload(options_.folder, options_.upload_limit);
    const bool whole = read([&](const char* data, std::size_t length) {
      upload.write(std::as_bytes(std::span(data, length)));
      return !stopping_;
    });
    if (!whole) throw Refusal(400, "the capture was cut off; send it again");
    const std::string name = upload.keep_as(capture_name(request.get_param_value("name")));
    return {{"schema", 1}, {"task", analyses_.add(place, name)}};
  }

  Options options_;
  Root root_;
  ServedPage page_;
  RunList runs_;
  Analyses analyses_;
  Guard guard_{.port = 0, .token = options_.token};
  std::atomic<bool> stopping_ = false;
  Desk desk_{kLoopback, options_.port, kThreads};  ///< last: its threads use all of the above
};

Server::Server(const Options& options) : parts_(std::make_unique<Parts>(options)) {}
Server::~Server() = default;

int Server::port() const { return parts_->guard().port; }

std::string Server::address() const {
  return fmt::format("http://127.0.0.1:{}/?token={}", port(), parts_->guard().token);
}

}  // namespace tw::serve
