#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "thor/io/web/http.hpp"

namespace thor::io::web {

/// A request on its way to an answer, shared by the server and whoever answers. It may outlive the server.
class Exchange {
 public:
  class Bell;  ///< wakes the server
  explicit Exchange(std::shared_ptr<Bell> bell) : bell_(std::move(bell)) {}

  /// False once the client has left: the answer need not be made.
  bool is_wanted() const { return wanted_; }
  void leave() { wanted_ = false; }

  /// Called once, by any thread.
  void answer(Response response);
  /// The answer, when it is there.
  std::optional<Response> take();

 private:
  std::shared_ptr<Bell> bell_;
  std::atomic<bool> wanted_ = true;
  std::mutex mutex_;
  std::optional<Response> response_;
};

/// Answers the exchange at once or later; the server waits for nothing but its return.
using Handler = std::function<void(const Request&, const std::shared_ptr<Exchange>&)>;

/// Serves this machine alone, on 127.0.0.1, at an address that nobody can guess. What is served is what the handler
/// answers: the server itself opens no file. Nothing that a client sends, or leaves out, ends it or keeps others from
/// being served: one thread reads and writes for all of them, whoever has not shown the token within two seconds is
/// refused, and when there are too many connections the oldest of those is closed.
class Server {
 public:
  /// Port 0: any that is free. Throws an Error(usage) if the port cannot be had.
  Server(int port, Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const { return gate_.port; }
  std::string address() const;  ///< http://127.0.0.1:PORT/TOKEN/

  /// Serves until `stopped`, which is asked some times a second and whenever a signal arrives.
  void serve(const std::function<bool()>& stopped);

 private:
  Handler handler_;
  Gate gate_;
  std::shared_ptr<Exchange::Bell> bell_;
  int listener_ = -1;
};

}  // namespace thor::io::web
