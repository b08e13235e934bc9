#include <gtest/gtest.h>

#include "thor/io/web/http.hpp"

namespace thor::io::web {
namespace {

const Gate gate{"0123456789abcdef", 8000};

std::variant<Request, Response> read(const std::string& target, const std::string& rest = "Host: 127.0.0.1:8000\r\n") {
  return read_request("GET " + target + " HTTP/1.1\r\n" + rest + "\r\n", gate);
}
int status_of(const std::variant<Request, Response>& read) {
  return std::holds_alternative<Request>(read) ? 200 : std::get<Response>(read).status;
}

TEST(Http, ARequestHasAPathAndAQuery) {
  const auto got = read("/0123456789abcdef/frame?field=density+*%20dust&empty=&low=1e-3");
  ASSERT_EQ(status_of(got), 200);
  const auto& request = std::get<Request>(got);
  EXPECT_EQ(request.path, "/frame");
  const std::map<std::string, std::string> expected{{"field", "density * dust"}, {"empty", ""}, {"low", "1e-3"}};
  EXPECT_EQ(request.query, expected);
}

TEST(Http, OnlyWhoKnowsTheTokenIsServed) {
  EXPECT_EQ(status_of(read("/0123456789abcdef/")), 200);
  for (const char* target : {"/", "/info", "/0123456789abcdee/", "/0123456789abcde/", "/0123456789abcdef0/", "//"}) {
    EXPECT_EQ(status_of(read(target)), 404) << target;
  }
  EXPECT_EQ(status_of(read("/0123456789abcdef")), 308);
}

TEST(Http, OnlyThisHostIsMeant) {
  const std::string target = "/0123456789abcdef/";
  EXPECT_EQ(status_of(read(target, "hOST: LOCALHOST:8000\r\n")), 200);
  for (const char* host : {"evil:8000", "127.0.0.1", "127.0.0.1:80000", "127.0.0.1:8001", ""}) {
    EXPECT_EQ(status_of(read(target, "Host: " + std::string(host) + "\r\n")), 403) << host;
  }
  EXPECT_EQ(status_of(read(target, "")), 400);
  EXPECT_EQ(status_of(read(target, "Host: 127.0.0.1:8000\r\nhost: evil\r\n")), 400);
}

TEST(Http, EveryHeadGetsAnAnswer) {
  const std::string good = "GET /0123456789abcdef/info?a=b HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nA: b\r\n\r\n";
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_EQ(status_of(read_request(good.substr(0, length), gate)), 400) << length;
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'\0', '\r', '\n', ' ', ':', '%', '?', '&', '\x7f', '\xff'}) {
      std::string changed = good;
      changed[i] = c;
      const int status = status_of(read_request(changed, gate));
      EXPECT_TRUE(status == 200 || status == 308 || (status >= 400 && status < 500)) << changed;
    }
  }
}

TEST(Http, AHeaderCannotHoldAnother) {
  Response response{200, "text/plain", "body"};
  response.headers.emplace_back("X-Units", "cm\r\nSet-Cookie: a");
  const std::string bytes = to_bytes(response);
  EXPECT_EQ(bytes.find("\r\nSet-Cookie"), std::string::npos);
  EXPECT_TRUE(bytes.ends_with("\r\n\r\nbody"));
}

TEST(Http, ARefusalIsOneLineOfJson) {
  EXPECT_EQ(refusal(400, "a \"b\" \\ \n c\x01\xff").body, "{\"error\": \"a \\\"b\\\" \\\\   c??\"}\n");
}

TEST(Http, RandomDigitsDiffer) {
  EXPECT_EQ(random_digits(20).size(), 40u);
  EXPECT_NE(random_digits(20), random_digits(20));
}

}  // namespace
}  // namespace thor::io::web
