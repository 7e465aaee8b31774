# The CUDA device, where there is a compiler for it: replaces cuda_check/no_cuda.cpp.
find_program(MEMVERIFY_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
get_filename_component(cuda_root "${MEMVERIFY_NVCC}/../.." ABSOLUTE)
find_path(MEMVERIFY_CUDA_INCLUDE cuda_runtime_api.h HINTS ${cuda_root}/include)
find_library(MEMVERIFY_CUDART cudart_static HINTS ${cuda_root}/lib64)
set(MEMVERIFY_HAS_CUDA OFF)
if(MEMVERIFY_NVCC AND MEMVERIFY_CUDA_INCLUDE AND MEMVERIFY_CUDART)
  if(MEMVERIFY_CUDA STREQUAL "AUTO" AND NOT MEMVERIFY_SANITIZE)
    set(MEMVERIFY_HAS_CUDA ON)
  elseif(NOT MEMVERIFY_CUDA STREQUAL "AUTO")
    set(MEMVERIFY_HAS_CUDA ${MEMVERIFY_CUDA})
  endif()
elseif(MEMVERIFY_CUDA STREQUAL "AUTO")
  message(STATUS "memverify: nvcc was not found, memverify device --device cuda is left out")
elseif(MEMVERIFY_CUDA)
  message(FATAL_ERROR "MEMVERIFY_CUDA is ON, but nvcc or the CUDA runtime was not found")
endif()

if(MEMVERIFY_HAS_CUDA)
  set(cuda_host ${CMAKE_CXX_COMPILER})
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(cuda_host g++)
  endif()
  set(MEMVERIFY_NVCC_FLAGS -std=c++20 -O3 -ccbin ${cuda_host} -Werror all-warnings
      -I${PROJECT_SOURCE_DIR})
  set(cuda_targets)
  foreach(sm 80 86 89 90)
    list(APPEND cuda_targets -gencode arch=compute_${sm},code=sm_${sm})
  endforeach()
  list(APPEND cuda_targets -gencode arch=compute_90,code=compute_90)  # Newer ones compile this.
  set(kernels ${PROJECT_SOURCE_DIR}/cuda_check/cuda/kernels)
  set(kernels_object ${PROJECT_BINARY_DIR}/cuda_kernels.o)
  add_custom_command(OUTPUT ${kernels_object}
    COMMAND ${MEMVERIFY_NVCC} ${MEMVERIFY_NVCC_FLAGS} ${cuda_targets} -MD -MF ${kernels_object}.d
            -c ${kernels}.cu -o ${kernels_object}
    DEPENDS ${kernels}.cu DEPFILE ${kernels_object}.d VERBATIM)
  target_sources(memverify_cuda_check PRIVATE ${kernels_object}
    cuda_check/cuda/device.cpp cuda_check/cuda/job.cpp)
  target_include_directories(memverify_cuda_check SYSTEM PRIVATE ${MEMVERIFY_CUDA_INCLUDE})
  target_link_libraries(memverify_cuda_check PRIVATE ${MEMVERIFY_CUDART} ${CMAKE_DL_LIBS} rt)
  target_compile_definitions(memverify_cuda_check PRIVATE MEMVERIFY_HAS_CUDA)
endif()
