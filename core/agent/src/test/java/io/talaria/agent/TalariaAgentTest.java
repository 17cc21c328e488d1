// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The entry class inside this JVM: what it says to old JVMs, and that it throws nothing. */
class TalariaAgentTest {
  private static final String VERSION_PROPERTY = "java.specification.version";

  private final String version = System.getProperty(VERSION_PROPERTY);
  private final PrintStream standardError = System.err;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  @BeforeEach
  void captureStandardError() {
    System.setErr(new PrintStream(printed, true, UTF_8));
  }

  @AfterEach
  void restore() {
    System.setErr(standardError);
    System.setProperty(VERSION_PROPERTY, version);
    System.clearProperty("talaria.quiet");
  }

  @ParameterizedTest
  @CsvSource({"1.8,8", "9,9", "11,11", "17,17", "25,25", "26.1,26", "unknown,0", ",0"})
  void readsEveryFormOfVersion(String specificationVersion, int feature) {
    assertThat(TalariaAgent.featureVersion(specificationVersion)).isEqualTo(feature);
  }

  @Test
  void tellsAnOldJavaInOneLineWhatItNeeds() {
    System.setProperty(VERSION_PROPERTY, "1.8");
    TalariaAgent.premain(null, null);
    assertThat(printed.toString(UTF_8).lines())
        .containsExactly(
            "talaria: needs Java 17 or newer, this is Java 1.8; the program stays on the JDK's"
                + " sockets");
  }

  @Test
  void saysNothingToAnOldJavaWhenQuiet() {
    System.setProperty(VERSION_PROPERTY, "11");
    System.setProperty("talaria.quiet", "true");
    TalariaAgent.premain(null, null);
    assertThat(printed.toString(UTF_8)).isEmpty();
  }

  @Test
  void turnsAnyFailureIntoOneLine() {
    TalariaAgent.premain(null, null);
    assertThat(printed.toString(UTF_8).lines())
        .singleElement()
        .asString()
        .startsWith("talaria: could not be switched on (java.lang.NullPointerException")
        .endsWith("; the program stays on the JDK's sockets");
    assertThat(System.getProperty("java.nio.channels.spi.SelectorProvider")).isNull();
  }
}
