# ctest "cuda_check.ptx": the kernels load and store whole lines past the caches of an SM, and add by
# atomic operations that the whole system sees. -DNVCC=compiler;flags -DSOURCE=file.cu -DPTX=output.
cmake_minimum_required(VERSION 3.24)
execute_process(COMMAND ${NVCC} -arch=compute_90 -ptx ${SOURCE} -o ${PTX} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} does not compile")
endif()
file(READ ${PTX} text)
foreach(needed "ld.global.cv.v2.u64" "st.global.wt.v2.u64" "st.global.wt.u8"
        "atom.global.sys.xor.b64")
  string(FIND "${text}" "${needed}" at)
  if(at EQUAL -1)
    message(SEND_ERROR "the PTX has no ${needed}")
  endif()
endforeach()
string(REGEX MATCHALL "(ld|st)\\.global\\.v[24]\\.[bu]64" cached "${text}")
if(cached)
  message(SEND_ERROR "lines that go through caches: ${cached}")
endif()
