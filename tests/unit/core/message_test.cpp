#include "thor/core/message.hpp"

#include <gtest/gtest.h>

namespace thor {
namespace {

TEST(Message, WhatCommandsATerminalIsShown) {
  EXPECT_EQ(printable("\x1b]0;x\x07"), "\\x1b]0;x\\x07");
  EXPECT_EQ(printable("a\r\x7f\b"), "a\\x0d\\x7f\\x08");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // CSI of C1
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");  // the same as a byte alone
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "fdp"),
            "\\xe2\\x80\\xae"
            "fdp");  // right to left
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
}

TEST(Message, TextStays) {
  const std::string text = "\xce\xbb = 1215.67 \xc3\x85, 3\xe2\x80\xb2, \xf0\x9f\x8c\x8c\ta\nb";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable_line("a\nb\tc"), "a\\nb\tc");
}

/// Overlong forms, surrogates, and ends that are missing are no text.
TEST(Message, BytesThatAreNotTextAreShown) {
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(printable("\xff"
                      "a"),
            "\\xff"
            "a");
}

}  // namespace
}  // namespace thor
