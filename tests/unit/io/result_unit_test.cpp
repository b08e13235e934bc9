#include "thor/io/result/unit.hpp"

namespace thor::io {
namespace {

TEST(ResultUnit, IsWrittenInOneOrder) {
  for (const char* text : {"erg s-1 kpc-2 / (km s-1)", "kpc-2 erg s-1 / (km s-1)", "erg/s/kpc2/(km/s)",
                           "erg s^-1 kpc**-2 / (km s-1)", "(erg/s) kpc-2 / (km s-1)"}) {
    EXPECT_EQ(Unit(text).text(), "erg s-1 kpc-2 / (km s-1)") << text;
  }
  EXPECT_EQ(Unit("Angstrom-1 arcsec-2 cm-2 s-1 erg").text(), "erg s-1 cm-2 arcsec-2 Angstrom-1");
  EXPECT_EQ(Unit("").text(), "");
  EXPECT_EQ(Unit("km s-1").text(), "km s-1");
  EXPECT_EQ(Unit("foo2 / bar").text(), "bar-1 foo2");
}

TEST(ResultUnit, LightIsThatOfTheBins) {
  const Unit cube("kpc-2 erg s-1 / (km s-1)");
  EXPECT_EQ((cube * Unit("km s-1")).text(), "erg s-1 kpc-2");
  EXPECT_EQ((cube * Unit("km s-1") * Unit("kpc") * Unit("kpc")).text(), "erg s-1");
  EXPECT_EQ((Unit("erg s-1 cm-2 arcsec-2") * Unit("arcsec").power(2)).text(), "erg s-1 cm-2");
  EXPECT_EQ((Unit("erg s-1 Hz-1") * Unit("Hz")).text(), "erg s-1");
  EXPECT_NE(cube * Unit("Hz"), Unit("erg s-1 kpc-2"));
}

TEST(ResultUnit, VariancesAreSquares) {
  EXPECT_EQ(Unit("erg s-1 kpc-2 / (km s-1)").power(2).text(), "erg2 s-2 kpc-4 / (km2 s-2)");
  EXPECT_EQ(Unit("erg s-1 cm-2 arcsec-2").power(2).text(), "erg2 s-2 cm-4 arcsec-4");
}

TEST(ResultUnit, StrangeTextDoesNoHarm) {
  for (const char* text : {"(", ")", "((km", "/", "//", "-2", "**", "km-", "erg (", "1", "^2", "a99999999999999"}) {
    static_cast<void>(Unit(text).text());
  }
}

}  // namespace
}  // namespace thor::io
