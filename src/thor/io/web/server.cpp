#include "thor/io/web/server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <thread>

#include "thor/core/error.hpp"
#include "thor/io/web/connection.hpp"

namespace thor::io::web {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_connections = 128;
constexpr int most_new = 64;  ///< between two looks at the others

/// In the order of their arrival.
using Connections = std::list<Connection>;

auto oldest_stranger(Connections& open) {
  return std::ranges::find_if(open, [](const Connection& c) { return c.is_stranger(); });
}

/// Until the time of the first one is over; `stopped` is asked ten times a second.
int milliseconds_to_wait(const Connections& open) {
  const auto now = Connection::Clock::now();
  auto wait = milliseconds(100);
  for (const Connection& c : open) {
    if (c.end() < now + wait) wait = std::chrono::ceil<milliseconds>(std::max(c.end(), now) - now);
  }
  return int(wait.count());
}

}  // namespace

/// A number that poll() can wait for.
class Exchange::Bell {
 public:
  Bell() : file_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (file_ < 0) throw Error(ExitCode::internal, fmt::format("no file to wait for: {}", std::strerror(errno)));
  }
  ~Bell() { close(file_); }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  int file() const { return file_; }
  void ring() const { eventfd_write(file_, 1); }
  void hush() const {
    eventfd_t count = 0;
    eventfd_read(file_, &count);
  }

 private:
  int file_;
};

void Exchange::answer(Response response) {
  {
    const std::lock_guard lock(mutex_);
    response_ = std::move(response);
  }
  bell_->ring();
}

std::optional<Response> Exchange::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(response_, std::nullopt);
}

Server::Server(int port, Handler handler)
    : handler_(std::move(handler)), gate_{random_digits(20), port}, bell_(std::make_shared<Exchange::Bell>()) {
  const auto refuse = [&](const char* what) {
    const std::string why = std::strerror(errno);
    if (listener_ >= 0) close(listener_);
    throw Error(ExitCode::usage, fmt::format("--port {}: {} ({}); without it a free one is taken", port, what, why));
  };
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) refuse("no socket available");
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(std::uint16_t(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, place, sizeof(address)) != 0) refuse("the port cannot be used");
  socklen_t size = sizeof(address);
  if (listen(listener_, SOMAXCONN) != 0 || getsockname(listener_, place, &size) != 0) refuse("the port cannot be used");
  gate_.port = ntohs(address.sin_port);
}

Server::~Server() { close(listener_); }

std::string Server::address() const { return fmt::format("http://127.0.0.1:{}/{}/", gate_.port, gate_.token); }

void Server::serve(const std::function<bool()>& stopped) {
  Connections open;
  const auto handle = [&](const Request& request) {
    auto exchange = std::make_shared<Exchange>(bell_);
    try {
      handler_(request, exchange);
    } catch (const std::exception& e) {
      exchange->answer(refusal(500, e.what()));
    }
    return exchange;
  };
  const auto proceed = [&](Connection& connection, short events) {
    try {
      connection.proceed(events, gate_, handle);
      return !connection.is_over();
    } catch (const std::exception&) {  // no memory for the answer: this client gets none
      return false;
    }
  };
  const auto take_new = [&] {
    for (int i = 0; i < most_new; ++i) {
      const bool is_full = open.size() >= most_connections;
      const auto oldest = oldest_stranger(open);
      if (is_full && oldest == open.end()) return;
      const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (client < 0 && errno != EMFILE && errno != ENFILE) return;
      if (client < 0 && oldest == open.end()) {  // no more files can be opened
        std::this_thread::sleep_for(milliseconds(20));
        return;
      }
      if (client < 0 || is_full) open.erase(oldest);
      if (client < 0) continue;
      Connection& connection = open.emplace_back(client);
      if (!proceed(connection, 0)) open.pop_back();  // what has been sent with it is read before others can come
    }
  };
  std::vector<pollfd> entries;
  while (!stopped()) {
    const bool has_room = open.size() < most_connections || oldest_stranger(open) != open.end();
    entries = {{bell_->file(), POLLIN, 0}, {listener_, short(has_room ? POLLIN : 0), 0}};
    for (const Connection& connection : open) entries.push_back({connection.socket(), connection.events(), 0});
    if (poll(entries.data(), entries.size(), milliseconds_to_wait(open)) < 0) continue;
    bell_->hush();
    auto entry = entries.begin() + 2;
    for (auto c = open.begin(); c != open.end(); ++entry)
      c = proceed(*c, entry->revents) ? std::next(c) : open.erase(c);
    if (entries[1].revents != 0) take_new();
  }
}

}  // namespace thor::io::web
