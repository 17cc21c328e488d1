// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.programs;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.h2.tools.Server;

/**
 * H2's TCP server and its JDBC driver, on {@code java.net.Socket}: each client has a row, writes a
 * value and reads it back.
 */
final class H2Program implements ThirdParty {
  private int rows;

  @Override
  public int serve(Path folder) throws Exception {
    return Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start().getPort();
  }

  @Override
  public Guest connect(int port) throws Exception {
    Connection connection =
        DriverManager.getConnection(
            "jdbc:h2:tcp://127.0.0.1:" + port + "/mem:echo;DB_CLOSE_DELAY=-1", "sa", "");
    try (Statement create = connection.createStatement()) {
      create.execute("CREATE TABLE IF NOT EXISTS echo(id INT PRIMARY KEY, message BLOB)");
    }
    PreparedStatement merge = connection.prepareStatement("MERGE INTO echo KEY(id) VALUES (?, ?)");
    PreparedStatement select = connection.prepareStatement("SELECT message FROM echo WHERE id = ?");
    int row = rows++;
    return message -> {
      merge.setInt(1, row);
      merge.setBytes(2, message);
      merge.executeUpdate();
      select.setInt(1, row);
      return only(select);
    };
  }

  private static byte[] only(PreparedStatement select) throws SQLException {
    try (ResultSet result = select.executeQuery()) {
      result.next();
      return result.getBytes(1);
    }
  }
}
