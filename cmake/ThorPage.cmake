# The page of `thor view`, built into the program.
function(thor_add_page target)
  set(page ${PROJECT_SOURCE_DIR}/src/thor/drivers/view/page.html)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  file(READ ${page} THOR_VIEW_PAGE)
  configure_file(${PROJECT_SOURCE_DIR}/src/thor/drivers/view/page.cpp.in ${PROJECT_BINARY_DIR}/view_page.cpp @ONLY)
  target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/view_page.cpp)
endfunction()
