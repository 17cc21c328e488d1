// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** The contract of devices, on ranks that are threads. */
class ContractTest {
  static Stream<DynamicTest> on(String name, int ranks, Variant... variants) {
    return Contract.all().entrySet().stream()
        .flatMap(
            behaviour ->
                Stream.of(variants)
                    .map(
                        variant ->
                            DynamicTest.dynamicTest(
                                behaviour.getKey() + " (" + name + ", " + ranks + " ranks)",
                                () -> variant.run(ranks, behaviour.getValue()))));
  }

  @Tag("long")
  @TestFactory
  Stream<DynamicTest> smdevWithTwoRanks() {
    return on("smdev", 2, Variant.threads());
  }

  @TestFactory
  Stream<DynamicTest> smdevWithFiveRanks() {
    return on("smdev", 5, Variant.threads().spinNs(0));
  }

  @TestFactory
  Stream<DynamicTest> smdevWithTheSmallestRings() {
    return on("smdev, rings of 4 KiB", 3, Variant.threads().with("ring", 4096));
  }

  @TestFactory
  Stream<DynamicTest> smdevWithoutCredit() {
    return on("smdev, no credit", 2, Variant.threads().with("credit", 0));
  }

  @TestFactory
  Stream<DynamicTest> shmdevWithThreeRanks() {
    return on("shmdev", 3, Variant.sharedFiles());
  }

  @Tag("long")
  @TestFactory
  Stream<DynamicTest> niodevWithTwoRanks() {
    return on("niodev", 2, Variant.nio());
  }

  @TestFactory
  Stream<DynamicTest> niodevWithTheSmallestBuffersAndCredit() {
    return on(
        "niodev, buffers of 4 KiB", 4, Variant.nio().with("buffer", 4096).with("credit", 3000));
  }

  @Tag("long")
  @TestFactory
  Stream<DynamicTest> ucxdevWithTwoRanks() {
    return on("ucxdev", 2, Variant.ucx());
  }

  @TestFactory
  Stream<DynamicTest> ucxdevWithTheSmallestBuffersAndCredit() {
    return on(
        "ucxdev, buffers of 4 KiB", 4, Variant.ucx().with("buffer", 4096).with("credit", 3000));
  }

  @TestFactory
  Stream<DynamicTest> autoWithUcxBetweenTwoHosts() {
    return on("auto with ucxdev", 5, Variant.autoWithUcx());
  }

  @TestFactory
  Stream<DynamicTest> autoOnTwoHosts() {
    return on("auto", 5, Variant.auto());
  }
}
