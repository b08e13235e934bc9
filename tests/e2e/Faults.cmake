# Tests of what goes wrong: broken configurations, faults of a run, fuzzing. Included by the CMakeLists.txt beside it.
thor_add_python_test(e2e.faults 300 ${CMAKE_CURRENT_SOURCE_DIR}/test_faults.py --thor $<TARGET_FILE:thor_command> -v)
set_tests_properties(e2e.faults PROPERTIES PROCESSORS 2)

add_test(NAME fuzz.config COMMAND sh ${PROJECT_SOURCE_DIR}/tests/fuzz/run.sh ${PROJECT_BINARY_DIR} 20)
set_tests_properties(fuzz.config PROPERTIES LABELS fuzz TIMEOUT 240 SKIP_RETURN_CODE 77 PROCESSORS 2
                     ENVIRONMENT THOR_BINARY=$<TARGET_FILE:thor_command>)
