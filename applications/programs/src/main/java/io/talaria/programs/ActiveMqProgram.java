// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import jakarta.jms.BytesMessage;
import jakarta.jms.Connection;
import jakarta.jms.DeliveryMode;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import java.nio.file.Path;
import java.util.UUID;
import org.apache.activemq.ActiveMQConnectionFactory;
import org.apache.activemq.broker.BrokerService;
import org.apache.activemq.broker.TransportConnector;

/** ActiveMQ on its transport {@code nio}: each client sends to a queue and receives from it. */
final class ActiveMqProgram implements ThirdParty {
  @Override
  public int serve(Path folder) throws Exception {
    BrokerService broker = new BrokerService();
    broker.setPersistent(false);
    broker.setUseJmx(false);
    TransportConnector connector = broker.addConnector("nio://127.0.0.1:0");
    broker.start();
    broker.waitUntilStarted();
    return connector.getConnectUri().getPort();
  }

  @Override
  public Guest connect(int port) throws Exception {
    Connection connection =
        new ActiveMQConnectionFactory("nio://127.0.0.1:" + port).createConnection();
    connection.start();
    Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
    Queue queue = session.createQueue(UUID.randomUUID().toString());
    MessageProducer producer = session.createProducer(queue);
    producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
    MessageConsumer consumer = session.createConsumer(queue);
    return message -> {
      BytesMessage sent = session.createBytesMessage();
      sent.writeBytes(message);
      producer.send(sent);
      BytesMessage received = (BytesMessage) consumer.receive(PATIENCE_S * 1000L);
      byte[] bytes = new byte[Math.toIntExact(received.getBodyLength())];
      received.readBytes(bytes);
      return bytes;
    };
  }
}
