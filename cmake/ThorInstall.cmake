# Files installed by `cmake --install`, and the CMake package: find_package(thor) gives the target thor::thor.
include(CMakePackageConfigHelpers)
set(THOR_PYTHON_DIR lib/python3/dist-packages CACHE STRING
    "Where the Python package goes, below the prefix; Debian's python3 finds the default when the prefix is /usr")
set(thor_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/thor)

target_compile_definitions(thor_command PRIVATE "THOR_PYTHON_DIR=\"${THOR_PYTHON_DIR}\"")  # for `thor fit`
install(TARGETS thor_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS thor EXPORT thorTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY src/thor DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY ${THOR_GENERATED}/thor DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")

install(EXPORT thorTargets NAMESPACE thor:: DESTINATION ${thor_cmake_dir})
configure_package_config_file(cmake/thorConfig.cmake.in generated/thorConfig.cmake INSTALL_DESTINATION ${thor_cmake_dir})
# Before 1.0 a new minor version may change anything.
write_basic_package_version_file(generated/thorConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/thorConfig.cmake ${PROJECT_BINARY_DIR}/generated/thorConfigVersion.cmake
        DESTINATION ${thor_cmake_dir})

install(DIRECTORY python/thor DESTINATION ${THOR_PYTHON_DIR} FILES_MATCHING PATTERN "*.py" PATTERN py.typed
        PATTERN __pycache__ EXCLUDE)
# The folders below docs/ keep their structure, so that the links of the pages work.
install(FILES README.md CHANGELOG.md LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg")
install(FILES src/thor/line/lines.yaml data/jumps.tables DESTINATION ${CMAKE_INSTALL_DATADIR}/thor)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/thor PATTERN __pycache__ EXCLUDE)
