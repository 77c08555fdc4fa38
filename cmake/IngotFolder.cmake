# One library target per folder of src/: ingot_folder(NAME [DEPENDS folder...] [LINK library...]
# [TEST_LINK library...]).
# It compiles every .cpp beside its CMakeLists.txt that is not a test, and makes a test program of
# every *_test.cpp there. The include rules between folders are tools/check_layers.py's business.
add_library(ingot_warnings INTERFACE)
target_compile_options(ingot_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wsign-conversion -Wnon-virtual-dtor)
# GCC 12 warns of frees and overlaps that cannot happen once it has inlined std::variant and std::string.
target_compile_options(ingot_warnings INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-free-nonheap-object -Wno-restrict>)
if(INGOT_WERROR)
  target_compile_options(ingot_warnings INTERFACE -Werror)
endif()

function(ingot_test name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE ingot_warnings GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
endfunction()

function(ingot_folder name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK;TEST_LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp */*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(TRANSFORM ARG_DEPENDS PREPEND ingot_)
  add_library(ingot_${name} STATIC ${sources})
  target_include_directories(ingot_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(ingot_${name} PUBLIC ${ARG_DEPENDS} ${ARG_LINK} PRIVATE ingot_warnings)
  foreach(test ${tests})
    get_filename_component(test_name ${test} NAME_WE)
    ingot_test(${name}_${test_name} ${test})
    target_link_libraries(${name}_${test_name} PRIVATE ${ARG_TEST_LINK} ingot_${name})
  endforeach()
endfunction()
