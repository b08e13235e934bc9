# The line list: built into the program, and also installed as a file.
function(thor_add_lines target)
  set(list ${PROJECT_SOURCE_DIR}/src/thor/line/lines.yaml)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(READ ${list} THOR_LINES)
  configure_file(${PROJECT_SOURCE_DIR}/src/thor/line/lines.cpp.in ${PROJECT_BINARY_DIR}/lines.cpp @ONLY)
  target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/lines.cpp)
endfunction()
