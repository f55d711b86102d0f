# The drivers of limited.cc: tests of what the conformance suite accepts.

# driver_NAME; `deviation` is one of limited.cc, or "".
function(add_limited_driver name deviation)
  add_library(driver_${name} OBJECT conformance/limited.cc
    ${CMAKE_SOURCE_DIR}/drivers/memory.cc
    ${CMAKE_BINARY_DIR}/drivers/build_facts_memory.cc)
  target_compile_definitions(driver_${name} PRIVATE
    kDriver=kReference LIMITED_NAME="${name}" LIMITED_DEVIATION="${deviation}")
  target_link_libraries(driver_${name} PUBLIC kvmatrix_common
                        PRIVATE kvmatrix_options)
endfunction()

# The limited driver deviates from its declarations, and `failure` must fail.
function(add_deviation deviation failure)
  string(REGEX MATCH "^[^/]*" suite ${failure})
  string(REPLACE "${suite}/" "" failure ${failure})
  set(name ${suite}_limited)
  if(NOT TARGET ${name})
    return()
  endif()
  add_test(NAME ${name}_${deviation}
           COMMAND ${name} --gtest_filter=${failure})
  set_tests_properties(${name}_${deviation} PROPERTIES LABELS limited
    ENVIRONMENT "KVMATRIX_LIMITED=${deviation};GTEST_OUTPUT="
    PASS_REGULAR_EXPRESSION "\\[  FAILED  \\] ${failure}")
endfunction()

# Adds all tests of drivers that deviate.  REQUIRES: the other tests exist
function(add_deviations)
  set(levels DriverDurabilityTest.RefusesTheLevelsThatTheEngineLacksAndNoOther)
  add_deviation(opens-durable driver_durability_test/${levels})
  add_deviation(fails-to-open-durable driver_durability_test/${levels})
  add_deviation(claims-durable driver_durability_test/${levels})
  add_deviation(claims-batches driver_test/DriverTest.AppliesABatchInItsOrder)
  add_deviation(claims-both-ways driver_test/DriverTest.ScansFromAnyKey)
  add_deviation(short-keys driver_test/DriverTest.AcceptsWhatItsLimitsAllow)
  add_deviation(odd-version driver_test/AnyDriver.DescribesItself)
  add_deviation(failing-compact
    driver_test/DriverTest.KeepsItsContentsThroughFlushSettleAndCompact)
  # A defect that the driver declares: the rest of its tests pass.
  if(TARGET driver_test)
    add_limited_driver(defective short-keys)
    set_property(TARGET driver_defective PROPERTY
                 KNOWN_FAILURES DriverTest.AcceptsWhat*)
    add_kvmatrix_test(driver_test_defective $<TARGET_OBJECTS:driver_test> defective)
    add_known_failures(driver_test_defective
      ${CMAKE_CURRENT_SOURCE_DIR}/conformance/driver_test.cc defective)
  endif()
  # One that admits one session says so: nothing fails.
  if(TARGET driver_threads_test_limited)
    add_test(NAME driver_threads_test_limited_one-session
             COMMAND driver_threads_test_limited)
    set_tests_properties(driver_threads_test_limited_one-session PROPERTIES
      LABELS limited ENVIRONMENT "KVMATRIX_LIMITED=one-session;GTEST_OUTPUT="
      FAIL_REGULAR_EXPRESSION "FAILED|       OK ")
  endif()
endfunction()
