// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Flavour;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.programs.Survivor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A bad property stops the start and says what is allowed; a switch that says off is obeyed. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PropertiesTest {
  @RegisterExtension final Lab lab = new Lab();

  @ParameterizedTest(name = "{0}={1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "talaria.enabled|perhaps|true or false",
        "talaria.transports|shm,pigeons|shm",
        "talaria.dir|relative/path|absolute path",
        "talaria.dir|/a-directory-whose-path-is-longer-than-the-address-of-a-socket/may-be/in-java-here"
            + "|at most 81 bytes long",
        "talaria.shm.dir|relative/path|absolute path",
        "talaria.shm.ring.initial|1000|power of two from 4096 to 268435456",
        "talaria.shm.ring.initial|2048|power of two from 4096 to 268435456",
        "talaria.shm.ring.max|many|power of two from 4096 to 268435456",
        "talaria.shm.ring.max|16384|at least talaria.shm.ring.initial",
        "talaria.spin.ns|-1|from 0 to 1000000000",
        "talaria.spin.ns|1000000001|from 0 to 1000000000",
        "talaria.upgrade.after|-1|from 0 to 1000000",
        "talaria.ports|http|a list, by commas, of ports from 1 to 65535",
        "talaria.quiet|2|true or false",
        "talaria.spin.us|20|talaria.spin.ns",
      })
  void badValueStopsTheStart(String name, String value, String allowed) throws Exception {
    Child child =
        lab.child(Flavour.TALARIA, Survivor.class)
            .property(name, value)
            .arg("role", "server")
            .start();
    assertThat(child.awaitAnyExit()).as("exit status").isEqualTo(78);
    assertThat(child.errorText()).contains(name).contains(allowed);
    if (!name.equals("talaria.spin.us")) {
      assertThat(child.errorText()).contains("'" + value + "'");
    }
    assertThat(child.outputText()).as("the program has not begun").isEmpty();
  }

  @Test
  void switchedOffItTouchesNothing() throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.enabled", "false");
    exchange.clientSpec().property("talaria.enabled", "false");
    exchange.run();
    assertThat(lab.talariaDir()).doesNotExist();
    assertThat(lab.shmDir()).doesNotExist();
    assertThat(exchange.server().errorText()).isEmpty();
    exchange.end();
  }

  @Test
  void quietSaysNothing() throws Exception {
    Pair.BOTH.assume();
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().property("talaria.quiet", "true");
    exchange.run();
    assertThat(exchange.server().errorText()).isEmpty();
    assertThat(exchange.client().errorText().lines())
        .singleElement()
        .asString()
        .startsWith("Talaria ");
    exchange.end();
  }
}
