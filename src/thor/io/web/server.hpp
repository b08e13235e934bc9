#pragma once
#include <functional>

#include "thor/io/web/http.hpp"

namespace thor::io::web {

/// May be called by several threads at once.
using Handler = std::function<Response(const Request&)>;

/// Serves this machine alone, on 127.0.0.1, at an address that nobody can guess. What is served is what the handler
/// returns: the server itself opens no file. Nothing that a client sends, or leaves out, ends it.
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
  void talk(int client) const;

  Handler handler_;
  Gate gate_;
  int listener_ = -1;
};

}  // namespace thor::io::web
