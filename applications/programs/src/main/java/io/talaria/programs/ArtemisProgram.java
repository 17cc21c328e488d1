// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import java.nio.file.Path;
import java.util.UUID;
import org.apache.activemq.artemis.api.core.ActiveMQBuffer;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/** Artemis on Netty: each client sends to a queue and receives from it. */
final class ArtemisProgram implements ThirdParty {
  @Override
  public int serve(Path folder) throws Exception {
    int port = ThirdParty.freePort();
    ConfigurationImpl configuration = new ConfigurationImpl();
    configuration.setPersistenceEnabled(false);
    configuration.setSecurityEnabled(false);
    configuration.setJMXManagementEnabled(false);
    configuration.addAcceptorConfiguration("tcp", "tcp://127.0.0.1:" + port);
    EmbeddedActiveMQ server = new EmbeddedActiveMQ();
    server.setConfiguration(configuration);
    server.start();
    return port;
  }

  @Override
  public Guest connect(int port) throws Exception {
    String queue = UUID.randomUUID().toString();
    ClientSession session =
        ActiveMQClient.createServerLocator(
                "tcp://127.0.0.1:" + port + "?minLargeMessageSize=" + (maxBytes() * 2))
            .createSessionFactory()
            .createSession(true, true);
    session.createQueue(
        QueueConfiguration.of(queue).setRoutingType(RoutingType.ANYCAST).setDurable(false));
    session.start();
    ClientProducer producer = session.createProducer(queue);
    ClientConsumer consumer = session.createConsumer(queue);
    return message -> {
      ClientMessage sent = session.createMessage(false);
      sent.getBodyBuffer().writeBytes(message);
      producer.send(sent);
      ClientMessage received = consumer.receive(PATIENCE_S * 1000L);
      received.acknowledge();
      ActiveMQBuffer body = received.getBodyBuffer();
      byte[] bytes = new byte[body.readableBytes()];
      body.readBytes(bytes);
      return bytes;
    };
  }
}
