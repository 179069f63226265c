// Text from outside as UTF-8 for terminal, log and JSON.
#include "kernels/base/shown_text.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

#include "kernels/base/error.hpp"

namespace starpmc {
namespace {

TEST(ShownText, LeavesValidTextAlone) {
  for (const char* text : {"", "water", "S\xc3\xa4ure", "\xe2\x82\xac", "\xf0\x9f\x92\xa7", "a\tb",
                           "back\\slash", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(shown_text(text), text);
  }
}

TEST(ShownText, EscapesWhatIsNotUtf8) {
  EXPECT_EQ(shown_text("S\xe4ure"), "S\\xe4ure");            // Latin-1
  EXPECT_EQ(shown_text("\xc3"), "\\xc3");                    // cut short
  EXPECT_EQ(shown_text("\xe2\x82"), "\\xe2\\x82");           // cut short
  EXPECT_EQ(shown_text("\xc0\xaf"), "\\xc0\\xaf");           // longer than needed
  EXPECT_EQ(shown_text("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf");  // longer than needed
  EXPECT_EQ(shown_text("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half a surrogate pair
  EXPECT_EQ(shown_text("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(shown_text("\xff\xc3\xa4"), "\\xff\xc3\xa4");
}

TEST(ShownText, EscapesControlCharacters) {
  EXPECT_EQ(shown_text("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(shown_text("\xc2\x9b"
                       "2J"),
            "\\xc2\\x9b"
            "2J");
  EXPECT_EQ(shown_text("a\nb"), "a\\x0ab");
  EXPECT_EQ(shown_text("a\nb", "\n"), "a\nb");
  EXPECT_EQ(shown_text(std::string_view("\0", 1)), "\\x00");
}

TEST(ShownText, ShownTwiceIsShownAlike) {
  std::mt19937 generator(1);
  for (int i = 0; i < 10000; ++i) {
    std::string bytes;
    for (int k = 0; k < 12; ++k) bytes += static_cast<char>(generator() % 256);
    const std::string once = shown_text(bytes);
    ASSERT_EQ(shown_text(once), once);
  }
}

TEST(ShownText, ErrorsShowEveryPart) {
  const InputError error("S\xe4ure.gro:3", "no \x1b[1m atom", "\xe4", "rename \xff");
  EXPECT_STREQ(error.what(),
               "S\\xe4ure.gro:3: no \\x1b[1m atom, found '\\xe4'\n  remedy: rename \\xff");
}

TEST(ShownText, ErrorsKeepLines) {
  const InputError error("a.cfg:2", "column 3:\n    x^\x07", "", "write\n    x");
  EXPECT_STREQ(error.what(), "a.cfg:2: column 3:\n    x^\\x07\n  remedy: write\n    x");
}

}  // namespace
}  // namespace starpmc
