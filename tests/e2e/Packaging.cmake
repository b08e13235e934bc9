# Tests of what is installed and packaged, from this build folder. Included by the CMakeLists.txt beside it.
set(packaging ${PROJECT_BINARY_DIR}/packaging)
set(packaging_python ${e2e_python})
if(NOT packaging_python)
  set(packaging_python none)
endif()

add_test(NAME e2e.install
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/install.sh ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}
                 ${packaging}/install ${PROJECT_VERSION} ${packaging_python})
add_test(NAME e2e.downstream
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/downstream.sh ${CMAKE_COMMAND} ${PROJECT_SOURCE_DIR} ${packaging}/install
                 ${packaging_python})
add_test(NAME e2e.package
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/package.sh ${CMAKE_CPACK_COMMAND} ${PROJECT_BINARY_DIR}
                 ${PROJECT_SOURCE_DIR} ${packaging}/package ${PROJECT_VERSION})
set_tests_properties(e2e.install PROPERTIES FIXTURES_SETUP installed)
set_tests_properties(e2e.downstream PROPERTIES FIXTURES_REQUIRED installed)
set_tests_properties(e2e.install e2e.downstream e2e.package PROPERTIES LABELS e2e TIMEOUT 120 SKIP_RETURN_CODE 77)

add_test(NAME e2e.version COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/version.sh ${CMAKE_COMMAND} ${PROJECT_SOURCE_DIR}
                                  ${packaging}/version)
set_tests_properties(e2e.version PROPERTIES LABELS e2e TIMEOUT 60 SKIP_RETURN_CODE 77)

thor_add_python_test(e2e.include_direction 60 ${CMAKE_CURRENT_SOURCE_DIR}/include_direction.py ${PROJECT_SOURCE_DIR})
