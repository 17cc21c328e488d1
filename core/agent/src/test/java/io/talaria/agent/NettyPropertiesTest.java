// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.agent.asked.Epoll;
import io.talaria.agent.named.EpollGroup;
import io.talaria.agent.named.IoUringGroup;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.PrintStream;
import java.util.Properties;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A program that chooses takes NIO, one that names a native transport gets it. */
class NettyPropertiesTest {
  private static final String NETTY = "io.netty.transport.noNative";

  private final Properties before = System.getProperties();
  private final PrintStream standardError = System.err;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  @BeforeEach
  void install() {
    Properties plain = new Properties();
    plain.putAll(before);
    plain.setProperty(NETTY, "true");
    System.setProperties(plain);
    NettyProperties.install(Set.of(NETTY), false);
    System.setErr(new PrintStream(printed, true, UTF_8));
  }

  @AfterEach
  void restore() {
    System.setErr(standardError);
    System.setProperties(before);
  }

  /** Both in one test, because a class is initialized once. */
  @Test
  void whoChoosesTakesNioAndWhoNamesTheTransportGetsIt() {
    assertThat(Epoll.isAvailable()).isFalse();
    assertThat(printed.toString(UTF_8)).isEmpty();
    assertThat(EpollGroup.make()).isEqualTo("made");
    assertThat(printed.toString(UTF_8))
        .startsWith(
            "talaria: the program asks for Netty's native transport by name"
                + " (io.talaria.agent.named.EpollGroup), whose connections stay on TCP")
        .contains("with -Dio.netty.transport.noNative=true");
  }

  /** As BookKeeper's benchmark does, which falls back to NIO. */
  @Test
  void whatTheProgramSetsItselfHolds() {
    System.setProperty(NETTY, "true");
    assertThat(IoUringGroup.available()).isFalse();
    assertThat(printed.toString(UTF_8)).isEmpty();
  }

  @Test
  void allOthersReadWhatIsSet() {
    assertThat(System.getProperty(NETTY)).isEqualTo("true");
    assertThat(System.getProperty("no.such.property", "none")).isEqualTo("none");
    assertThat(System.getProperties()).isInstanceOf(NettyProperties.class);
    System.setProperty("talaria.test.other", "1");
    assertThat(System.getProperty("talaria.test.other")).isEqualTo("1");
    System.clearProperty("talaria.test.other");
    assertThat(System.getProperty("talaria.test.other")).isNull();
  }

  @Test
  void copiesAreOrdinaryProperties() throws Exception {
    assertThat(System.getProperties().clone())
        .hasSameClassAs(new Properties())
        .isEqualTo(System.getProperties());
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(System.getProperties());
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      assertThat(in.readObject())
          .hasSameClassAs(new Properties())
          .isEqualTo(System.getProperties());
    }
  }

  @Test
  void propertiesOfAnotherMakeAreLeftAlone() {
    Properties withDefaults = new Properties(before);
    System.setProperties(withDefaults);
    NettyProperties.install(Set.of(NETTY), false);
    assertThat(System.getProperties()).isSameAs(withDefaults);
  }
}
