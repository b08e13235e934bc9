# Warnings and the floating-point model, which is strict: no reassociation, no reciprocals, no finite-math; contraction
# is off and fma is explicit, so that one lane and many give the same photons.
# -Wno-restrict and so on: false positives of gcc 12 on std::string (PR 105651, 105329), and of gcc 13 on references looked
# up by name.
set(THOR_FLAGS -Wall -Wextra -Wno-restrict -Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow
               -Wno-dangling-reference -fno-math-errno -fno-trapping-math -ffp-contract=off)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  list(APPEND THOR_FLAGS -Wno-psabi)
endif()
if(THOR_WERROR)
  list(APPEND THOR_FLAGS -Werror)
endif()
if(THOR_SANITIZE)
  list(APPEND THOR_FLAGS -fsanitize=${THOR_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${THOR_SANITIZE})
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${THOR_FLAGS}>")
