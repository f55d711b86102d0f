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

# The limited driver deviates from its declarations, and the test `failure` must fail.
function(add_deviation deviation failure)
  add_test(NAME conformance_test_limited_${deviation}
           COMMAND conformance_test_limited --gtest_filter=${failure})
  set_tests_properties(conformance_test_limited_${deviation} PROPERTIES LABELS limited
    ENVIRONMENT "KVMATRIX_LIMITED=${deviation};GTEST_OUTPUT="
    PASS_REGULAR_EXPRESSION "\\[  FAILED  \\] ${failure}")
endfunction()

# Adds all tests of drivers that deviate.  REQUIRES: the other tests exist
function(add_deviations)
  if("driver_test" MATCHES "${KVM_TESTS}")
    set(levels DriverDurabilityTest.RefusesTheLevelsThatTheEngineLacksAndNoOther)
    add_deviation(opens-durable ${levels})
    add_deviation(fails-to-open-durable ${levels})
    add_deviation(claims-durable ${levels})
    add_deviation(claims-batches DriverTest.AppliesABatchInItsOrder)
    add_deviation(claims-both-ways DriverTest.ScansFromAnyKey)
    add_deviation(short-keys DriverTest.AcceptsWhatItsLimitsAllow)
    add_deviation(odd-version AnyDriver.DescribesItself)
    add_deviation(failing-compact
      DriverTest.KeepsItsContentsThroughFlushSettleAndCompact)
    # A defect that the driver declares: the rest of its tests pass.
    add_limited_driver(defective short-keys)
    set_property(TARGET driver_defective PROPERTY
                 KNOWN_FAILURES DriverTest.AcceptsWhat*)
    add_kvmatrix_test(conformance_test_defective
                      $<TARGET_OBJECTS:conformance_suite> defective)
    add_known_failures(conformance_test_defective defective)
  endif()
  # One that admits one session says so: nothing fails.
  add_test(NAME conformance_test_limited_one-session
           COMMAND conformance_test_limited --gtest_filter=DriverThreadsTest.*)
  set_tests_properties(conformance_test_limited_one-session PROPERTIES
    LABELS limited ENVIRONMENT "KVMATRIX_LIMITED=one-session;GTEST_OUTPUT="
    FAIL_REGULAR_EXPRESSION "FAILED|       OK ")
endfunction()
