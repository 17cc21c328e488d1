// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.messaging.NodeOptions;
import io.talaria.messaging.TestOptions;
import io.talaria.messaging.Transport;
import io.talaria.messaging.connect.Conductor;
import io.talaria.messaging.node.Connector;
import io.talaria.messaging.node.LocalNode;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node for which there is no thread. */
@Timeout(120)
class NoThreadTest {
  @TempDir Path directory;

  /** A connector whose thread cannot be started. */
  private static Connector withoutThread(LocalNode node) throws IOException {
    Connector real = new Conductor(node);
    return (Connector)
        Proxy.newProxyInstance(
            Connector.class.getClassLoader(),
            new Class<?>[] {Connector.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("start")) {
                throw new OutOfMemoryError("unable to create native thread");
              }
              return method.invoke(real, arguments);
            });
  }

  @Test
  void aNodeThatCannotStartLeavesNothing() throws Exception {
    NodeOptions options = TestOptions.of(1, Transport.SHM, directory);
    assertThatThrownBy(() -> LocalNode.start(options, NoThreadTest::withoutThread))
        .isInstanceOf(OutOfMemoryError.class);
    LocalNode next = RunningNodes.start(options);
    assertThat(next.closing()).isFalse();
    RunningNodes.close(next);
  }
}
