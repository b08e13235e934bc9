#include "thor/io/web/server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <system_error>
#include <thread>

#include "thor/core/error.hpp"

namespace thor::io::web {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// A client that is slower than this is left alone; others wait for at most as long.
constexpr milliseconds longest_read{5000}, longest_write{20000}, longest_goodbye{1000};
constexpr std::size_t most_clients = 16;

/// Waits until a socket can be read from (or written to); false if that takes too long.
bool wait_for(int socket, short events, Clock::time_point end) {
  while (true) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd entry{socket, events, 0};
    const int ready = poll(&entry, 1, int(left));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

/// Appends what has arrived; false at the end, of the connection or of the time.
bool receive(int socket, std::string& bytes, std::size_t most, Clock::time_point end) {
  char buffer[4096];
  while (wait_for(socket, POLLIN, end)) {
    const ssize_t count = recv(socket, buffer, std::min(most, sizeof(buffer)), 0);
    if (count > 0) {
      bytes.append(buffer, std::size_t(count));
      return true;
    }
    if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return false;
  }
  return false;
}

void send_all(int socket, const std::string& bytes) {
  const auto end = Clock::now() + longest_write;
  for (std::size_t sent = 0; sent < bytes.size() && wait_for(socket, POLLOUT, end);) {
    const ssize_t count = send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += std::size_t(count);
    } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      return;
    }
  }
}

/// Closing a socket that still has something to read would take the answer from the client.
void say_goodbye(int socket) {
  shutdown(socket, SHUT_WR);
  const auto end = Clock::now() + longest_goodbye;
  std::string rest;
  for (int i = 0; i < 256 && receive(socket, rest, 4096, end); ++i) rest.clear();
  shutdown(socket, SHUT_RDWR);
}

}  // namespace

Server::Server(int port, Handler handler) : handler_(std::move(handler)), gate_{random_digits(20), port} {
  const auto refuse = [&](const char* what) {
    const std::string why = std::strerror(errno);
    if (listener_ >= 0) close(listener_);
    throw Error(ExitCode::usage, fmt::format("--port {}: {} ({}); without it a free one is taken", port, what, why));
  };
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) refuse("there is no socket");
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(std::uint16_t(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, place, sizeof(address)) != 0) refuse("the port cannot be used");
  socklen_t size = sizeof(address);
  if (listen(listener_, 128) != 0 || getsockname(listener_, place, &size) != 0) refuse("the port cannot be used");
  gate_.port = ntohs(address.sin_port);
}

Server::~Server() { close(listener_); }

std::string Server::address() const { return fmt::format("http://127.0.0.1:{}/{}/", gate_.port, gate_.token); }

void Server::talk(int client) const {
  const auto end = Clock::now() + longest_read;
  std::string head;
  std::size_t head_end = std::string::npos;
  while (head_end == std::string::npos && head.size() <= longest_head) {
    if (!receive(client, head, longest_head + 1 - head.size(), end)) break;
    head_end = head.find("\r\n\r\n");
  }
  Response response;
  if (head_end != std::string::npos) {
    try {
      const auto request = read_request(std::string_view(head).substr(0, head_end + 4), gate_);
      const auto* const asked = std::get_if<Request>(&request);
      response = asked ? handler_(*asked) : std::get<Response>(request);
    } catch (const std::exception& e) {
      response = refusal(500, e.what());
    }
  } else if (head.size() > longest_head) {
    response = refusal(431, "the request is too long");
  } else if (!head.empty() && Clock::now() >= end) {
    response = refusal(408, "the request took too long");
  } else {  // nobody is there any more, or a browser has connected in advance
    return;
  }
  send_all(client, to_bytes(response));
  say_goodbye(client);
}

void Server::serve(const std::function<bool()>& stopped) {
  struct Connection {
    int socket = -1;
    std::atomic<bool> done = false;
    std::thread thread{};
  };
  std::list<Connection> open;  // whose sockets are closed here alone, so that no number is used twice
  const auto tidy = [&](bool all) {
    for (auto c = open.begin(); c != open.end();) {
      if (all || c->done) {
        if (all) shutdown(c->socket, SHUT_RDWR);
        if (c->thread.joinable()) c->thread.join();
        close(c->socket);
        c = open.erase(c);
      } else {
        ++c;
      }
    }
  };
  while (!stopped()) {
    tidy(false);
    if (open.size() >= most_clients) {  // others wait in the queue of the system
      std::this_thread::sleep_for(milliseconds(2));
      continue;
    }
    pollfd entry{listener_, POLLIN, 0};
    if (poll(&entry, 1, 100) <= 0) continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) {
      if (errno != EAGAIN && errno != ECONNABORTED) std::this_thread::sleep_for(milliseconds(20));  // no descriptors
      continue;
    }
    const int on = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    Connection& connection = open.emplace_back();
    connection.socket = client;
    try {
      connection.thread = std::thread([this, &connection] {
        try {
          talk(connection.socket);
        } catch (const std::exception&) {  // no memory for the answer: this client gets none
        }
        shutdown(connection.socket, SHUT_RDWR);
        connection.done = true;
      });
    } catch (const std::system_error&) {  // no more threads
      connection.done = true;
    }
  }
  for (const Connection& connection : open) shutdown(connection.socket, SHUT_RDWR);
  tidy(true);
}

}  // namespace thor::io::web
