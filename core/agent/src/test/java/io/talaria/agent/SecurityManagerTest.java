// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A program under a security manager, on Java 17: the policy gives Talaria all permissions and the
 * program those that it needs of the JDK. What is denied is what the JDK alone would deny.
 */
class SecurityManagerTest {
  private static final String DENIED = "access: access denied";

  @TempDir Path work;

  @Test
  void theProgramNeedsNoPermissionOfTalarias() throws Exception {
    Child plain = run(List.of(), "java.security.AllPermission", false);
    Child accelerated = run(agent(), "java.security.AllPermission", true);
    assertThat(denied(accelerated)).isEqualTo(denied(plain)).hasSizeGreaterThan(5);
    assertThat(accelerated.out()).isEqualTo(plain.out());
    assertThat(accelerated.status()).isZero();
    assertThat(accelerated.err())
        .anyMatch(
            line -> line.matches("transports .*CLIENT SHM SAME_HOST.*ACCEPTED SHM SAME_HOST.*"));
  }

  @Test
  void socketsNeedNoneEither() throws Exception {
    Child plain = run(List.of(), "java.security.AllPermission", false);
    List<String> options = new ArrayList<>(agent());
    options.add("-Dtalaria.sockets=true");
    Child accelerated = run(options, "java.security.AllPermission", true);
    assertThat(accelerated.out()).isEqualTo(plain.out());
    assertThat(denied(accelerated)).isSubsetOf(denied(plain));
    assertThat(accelerated.status()).isZero();
  }

  @Test
  void staysOffWithoutThePermissions() throws Exception {
    String little = "java.util.PropertyPermission \"*\", \"read\"";
    Child plain = run(List.of(), little, false);
    Child off = run(agent(), little, false);
    assertThat(off.out()).isEqualTo(plain.out());
    assertThat(off.err())
        .filteredOn(line -> line.startsWith("talaria:"))
        .containsExactly(
            "talaria: is disabled, because the security manager's policy does not grant talaria.jar"
                + " java.security.AllPermission");
  }

  private static List<String> agent() {
    return List.of("-javaagent:" + Child.AGENT);
  }

  private static List<String> denied(Child child) {
    return child.err().stream()
        .filter(line -> line.startsWith(DENIED))
        .map(line -> line.replaceAll("\\d{4,}", "N"))
        .toList();
  }

  private Child run(List<String> options, String talarias, boolean accelerated) throws Exception {
    String java = System.getProperty("talaria.test.java17", "");
    assumeFalse(java.isEmpty(), "there is no Java 17 here");
    Path policy = work.resolve("policy");
    Files.writeString(
        policy,
        "grant codeBase \"file:"
            + Child.AGENT
            + "\" { permission "
            + talarias
            + "; };\n"
            + "grant { permission java.net.SocketPermission \"127.0.0.1:1024-\","
            + " \"accept,connect,listen,resolve\"; permission java.net.SocketPermission"
            + " \"localhost:0\", \"listen\"; };\n");
    List<String> all = new ArrayList<>(options);
    all.add("-Djava.security.manager");
    all.add("-Djava.security.policy==" + policy);
    all.add("-Djava.security.debug=access,failure");
    return Child.run(java, all, Map.of(), GuardedMain.class, Boolean.toString(accelerated));
  }
}
