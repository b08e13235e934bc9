#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// The little of HTTP/1.1 (RFC 9110, 9112) that a page on this machine needs: requests without a body, one to a
/// connection.
namespace thor::io::web {

struct Request {
  std::string path;                          ///< below the token: "/", "/info"
  std::map<std::string, std::string> query;  ///< decoded
};

struct Response {
  int status = 200;
  std::string type;  ///< of the body
  std::string body;
  std::string policy = "default-src 'none'; frame-ancestors 'none'";  ///< Content-Security-Policy
  std::vector<std::pair<std::string, std::string>> headers{};         ///< more of them
};

/// {"error": why} with a line feed.
Response refusal(int status, const std::string& why);

/// Who is served: those who know the token and who mean this machine. A page of somebody else's may know the port, and
/// by a name of its own that leads to 127.0.0.1 a browser would let it read the answers; its Host gives it away.
struct Gate {
  std::string token;
  int port = 0;
};

inline constexpr std::size_t longest_head = 8192;  ///< bytes

/// The request in a head, which ends in an empty line; or the refusal of one that is malformed, of another method, for
/// another host, or without the token.
std::variant<Request, Response> read_request(std::string_view head, const Gate& gate);

/// Status line, headers and body.
std::string to_bytes(const Response& response);

/// The text without %20 and the like; false if it is malformed.
bool decode(std::string_view text, std::string& out);

/// Random bytes from the system, as hexadecimal digits.
std::string random_digits(std::size_t bytes);

}  // namespace thor::io::web
