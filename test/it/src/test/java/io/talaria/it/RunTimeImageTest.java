// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.talaria.it.harness.Child;
import io.talaria.it.harness.Exchange;
import io.talaria.it.harness.Lab;
import io.talaria.it.harness.Pair;
import io.talaria.it.harness.Proc;
import io.talaria.it.harness.Settings;
import io.talaria.it.harness.Transports;
import io.talaria.nio.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Programs on run-time images of their own, made by jlink, with the modules that they name. */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class RunTimeImageTest {
  private static final String MINIMAL_MODULES = "java.base,java.instrument";

  @RegisterExtension final Lab lab = new Lab();

  private Exchange on(String modules) throws Exception {
    Pair.BOTH.assume();
    Path jlink = Settings.ownJava().resolve("bin/jlink");
    assumeTrue(Files.isExecutable(jlink), "no jlink");
    Path image = lab.scratch().resolve("image");
    Proc.run(
        Duration.ofSeconds(90),
        jlink.toString(),
        "--add-modules",
        modules,
        "--output",
        image.toString());
    Exchange exchange = new Exchange(lab, Pair.BOTH);
    exchange.serverSpec().java(image);
    exchange.clientSpec().java(image);
    return exchange;
  }

  @Test
  void withoutTheModuleThatKnowsPeersTheReasonNamesIt() throws Exception {
    Exchange exchange = on(MINIMAL_MODULES).run();
    Transports.awaitPlain(exchange.client(), Reason.NO_JDK_NET);
    for (Child side : List.of(exchange.client(), exchange.server())) {
      assertThat(side.errorText()).contains("jdk.net");
    }
    exchange.end();
  }

  @Test
  void withItConnectionsAreAccelerated() throws Exception {
    on(MINIMAL_MODULES + ",jdk.net").run().expectTransport().end();
  }
}
