# AMD GPUs: the sources of parallel/gpu, compiled with hipcc.
find_program(THOR_HIP_COMPILER hipcc HINTS ${ROCM_PATH}/bin $ENV{ROCM_PATH}/bin /opt/rocm/bin)
find_path(HIP_INCLUDE hip/hip_runtime_api.h HINTS ${ROCM_PATH}/include $ENV{ROCM_PATH}/include /opt/rocm/include)
find_library(HIP_LIBRARY amdhip64 HINTS ${ROCM_PATH}/lib $ENV{ROCM_PATH}/lib /opt/rocm/lib)
if(NOT THOR_HIP_COMPILER OR NOT HIP_INCLUDE OR NOT HIP_LIBRARY)
  message(FATAL_ERROR "THOR_HIP=ON, but hipcc or libamdhip64 was not found: put hipcc on the PATH, or set ROCM_PATH")
endif()
set(THOR_HIP_ARCHITECTURES gfx90a CACHE STRING "AMD GPUs to build for, as in gfx90a;gfx1030 (rocminfo tells)")
message(STATUS "HIP backend: ${THOR_HIP_COMPILER}, architectures ${THOR_HIP_ARCHITECTURES}")

# As on the CPU: no contraction, denormals flushed to zero, so that photons are the same.
set(THOR_HIP_FLAGS -x hip -O3 -ffp-contract=off -fgpu-flush-denormals-to-zero)
foreach(architecture IN LISTS THOR_HIP_ARCHITECTURES)
  list(APPEND THOR_HIP_FLAGS --offload-arch=${architecture})
endforeach()
if(THOR_WERROR)
  list(APPEND THOR_HIP_FLAGS -Werror)
endif()

function(thor_hip_object target name kind)
  set(source_step kernel.cu)
  set(source_trace trace.cu)
  thor_add_object(${target} ${name} ${PROJECT_SOURCE_DIR}/src/thor/parallel/gpu/${source_${kind}}
                  COMMAND ${THOR_HIP_COMPILER} ${THOR_HIP_FLAGS} DEFINITIONS THOR_ISA=isa_hip ${ARGN})
endfunction()

function(thor_add_hip target)
  thor_add_gpu(${target} hip ${HIP_LIBRARY} __HIP_PLATFORM_AMD__)
  target_include_directories(thor_hip_device SYSTEM PRIVATE ${HIP_INCLUDE})
endfunction()
