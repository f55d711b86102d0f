# kvmatrix_add_driver(NAME source... [C_INTERFACE] [LIBRARIES library...] [ORIGIN text]
#                     [KNOWN_FAILURES test...])
#
# Makes the plug-in drivers/NAME.so in the build folder, for
# `db_bench_plugin --driver=drivers/NAME.so`, and adds its tests to CTest, with the label
# NAME.  The sources define kDriver of common/driver.h, or with C_INTERFACE the function
# kvm_driver_get() of kvmatrix/driver.h.  LIBRARIES are what target_link_libraries()
# accepts; ORIGIN says where the source of the engine comes from.  In another repository
# the target is plugin_NAME, because the engine's library may be NAME.
function(kvmatrix_add_driver name)
  cmake_parse_arguments(arg "C_INTERFACE" "ORIGIN" "LIBRARIES;KNOWN_FAILURES" ${ARGN})
  get_target_property(is_imported kvmatrix::db_bench_plugin IMPORTED)
  set(target ${name})
  if(is_imported)
    set(target plugin_${name})
  endif()
  add_library(${target} MODULE ${arg_UNPARSED_ARGUMENTS})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/drivers)
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} kvmatrix::driver_api)
  # Another build of the same engine may be in the same process: kvmatrix ab --duet.
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)
  if(NOT arg_C_INTERFACE)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/export.cc)
    target_compile_features(${target} PRIVATE cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden)
    target_compile_definitions(${target} PRIVATE "KVM_ORIGIN=\"${arg_ORIGIN}\"")
  endif()
  kvmatrix_add_tests(${name} $<TARGET_FILE:${target}> KNOWN_FAILURES ${arg_KNOWN_FAILURES})
  if(is_imported)  # then the build folder can be measured: kvmatrix ab --a=... --b=...
    kvmatrix_measured_with(${target} db_bench_plugin ${CMAKE_BINARY_DIR}/drivers)
    # The same engine doing a tenth more work, and no more: scripts/test-the-gate.
    foreach(operation IN ITEMS none all)
      kvmatrix_measured_with(${target} db_bench_slower_${operation}
                             ${CMAKE_BINARY_DIR}/slower/${operation}/drivers)
    endforeach()
  endif()
endfunction()

# kvmatrix_measured_with(TARGET PROGRAM FOLDER)
#
# Makes links in FOLDER so that kvmatrix measures the plug-in TARGET with PROGRAM.
function(kvmatrix_measured_with target program folder)
  file(MAKE_DIRECTORY ${folder})
  set(link ${CMAKE_COMMAND} -E create_symlink)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${link} $<TARGET_FILE:kvmatrix::${program}> ${folder}/db_bench_plugin)
  if(NOT folder STREQUAL "${CMAKE_BINARY_DIR}/drivers")
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${link} $<TARGET_FILE:${target}>
              ${folder}/$<TARGET_FILE_NAME:${target}>)
  endif()
endfunction()

# kvmatrix_add_tests(NAME PATH [KNOWN_FAILURES test...] [EXCEPT test...])
#
# Adds the tests that every driver must pass, for the plug-in at PATH: SUITE_NAME for each
# of the suites conformance, crash, durability, settle and threads, and lies_NAME, which
# shows that wrong answers of this engine are noticed.  KNOWN_FAILURES are tests, such as
# DriverTest.ReopensManyTimes, that the engine fails for a defect of its own: the suites
# leave them out, and a test NAME_fails_TEST passes while one fails.  EXCEPT are tests
# that it fails now and then, or that do not end; they are not run.
function(kvmatrix_add_tests name path)
  cmake_parse_arguments(arg "" "" "KNOWN_FAILURES;EXCEPT" ${ARGN})
  set(known ${arg_KNOWN_FAILURES} ${arg_EXCEPT})
  list(JOIN known ":" known)
  set(conformance "DriverTest.*:AnyDriver.*")
  set(crash "*CrashDeathTest.*")
  set(durability "DriverDurabilityTest.*")
  set(settle "DriverSettleTest.*")
  set(threads "DriverThreadsTest.*")
  if(TARGET cpp_tests AND TARGET ${name})  # in the repository of kvmatrix
    add_dependencies(cpp_tests ${name})
  endif()
  foreach(suite IN ITEMS conformance crash durability settle threads)
    if(KVM_TESTS AND NOT "${suite}_test" MATCHES "${KVM_TESTS}")
      continue()
    endif()
    add_test(NAME ${suite}_${name} COMMAND kvmatrix::driver_conformance
             --driver=${path} "--gtest_filter=${${suite}}-${known}")
    set_tests_properties(${suite}_${name} PROPERTIES LABELS ${name} TIMEOUT 1800)
  endforeach()
  foreach(test IN LISTS arg_KNOWN_FAILURES)
    add_test(NAME ${name}_fails_${test} COMMAND kvmatrix::driver_conformance
             --driver=${path} --gtest_filter=${test})
    set_tests_properties(${name}_fails_${test} PROPERTIES
      LABELS ${name} TIMEOUT 1800 WILL_FAIL TRUE)
  endforeach()
  if(KVM_TESTS AND NOT "lies_test" MATCHES "${KVM_TESTS}")
    return()
  endif()
  add_test(NAME lies_${name} COMMAND ${CMAKE_COMMAND} -DDRIVER=${path}
           -DPROGRAM=$<TARGET_FILE:kvmatrix::db_bench_lying_plugin>
           -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/lies.cmake)
  set_tests_properties(lies_${name} PROPERTIES LABELS ${name} TIMEOUT 1800)
  if(TARGET cpp_tests)
    add_dependencies(cpp_tests db_bench_lying_plugin)
  endif()
endfunction()
