# Every GPU that a SYCL runtime knows, and processors: compiled with AdaptiveCpp, whose runtime compiles the kernels for the
# device that it finds.
find_program(THOR_SYCL_COMPILER acpp HINTS ${ACPP_PATH}/bin $ENV{ACPP_PATH}/bin /opt/adaptivecpp/bin)
if(NOT THOR_SYCL_COMPILER)
  message(FATAL_ERROR "THOR_SYCL=ON, but acpp was not found: put it on the PATH or set THOR_SYCL_COMPILER")
endif()
get_filename_component(thor_sycl_root ${THOR_SYCL_COMPILER} REALPATH)
get_filename_component(thor_sycl_root ${thor_sycl_root}/../.. ABSOLUTE)
find_library(SYCL_LIBRARY acpp-rt HINTS ${thor_sycl_root}/lib REQUIRED)
find_library(SYCL_COMMON_LIBRARY acpp-common HINTS ${thor_sycl_root}/lib REQUIRED)
set(THOR_SYCL_TARGETS generic CACHE STRING "What acpp compiles for (--acpp-targets): generic is every device, at run time")
if(THOR_SYCL_TARGETS MATCHES ";")
  message(FATAL_ERROR "THOR_SYCL_TARGETS=${THOR_SYCL_TARGETS}: give one target; generic is for every device")
endif()
message(STATUS "SYCL backend: ${THOR_SYCL_COMPILER}, targets ${THOR_SYCL_TARGETS}")

# As on the CPU: no contraction, denormals flushed to zero, so that photons are the same. NVIDIA's library has to be told so
# apart; its approximations would take a dozen instructions each.
set(THOR_SYCL_FLAGS --acpp-targets=${THOR_SYCL_TARGETS} -O3 -ffp-contract=off -fdenormal-fp-math=preserve-sign)
if(THOR_SYCL_TARGETS MATCHES generic)
  list(APPEND THOR_SYCL_FLAGS -mllvm -acpp-sscp-kernel-opts=ptx-ftz)
endif()
if(THOR_WERROR)
  list(APPEND THOR_SYCL_FLAGS -Werror)
endif()

function(thor_sycl_object target name file)
  thor_add_object(${target} ${name} ${PROJECT_SOURCE_DIR}/src/thor/parallel/sycl/${file}.cpp
                  COMMAND ${THOR_SYCL_COMPILER} ${THOR_SYCL_FLAGS} DEFINITIONS THOR_ISA=isa_sycl ${ARGN})
endfunction()

function(thor_add_sycl target)
  thor_add_gpu_kernels(${target} sycl)
  thor_sycl_object(${target} thor_sycl_device device ${THOR_GPU_sycl})
  thor_add_object(${target} thor_sycl_table ${THOR_TABLE_sycl}
                  COMMAND ${THOR_SYCL_COMPILER} ${THOR_SYCL_FLAGS} DEFINITIONS ${THOR_GPU_sycl})
  target_link_libraries(${target} PRIVATE ${SYCL_LIBRARY} ${SYCL_COMMON_LIBRARY})
endfunction()
