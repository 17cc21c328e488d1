// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.cli.doctor.checks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The TCP sockets of this network namespace as the kernel lists them, and whose they are as far as
 * this user may know.
 */
public final class TcpTable {
  private static final int LOCAL_FIELD = 1;
  private static final int REMOTE_FIELD = 2;
  private static final int STATE_FIELD = 3;
  private static final int USER_FIELD = 7;
  private static final int INODE_FIELD = 9;
  private static final String LISTENS = "0A";
  private static final int HEX = 16;
  private static final int WORD_DIGITS = 8;
  private static final int WORD_BYTES = 4;
  private static final String SOCKET = "socket:[";
  private static final Pattern ADDRESS =
      Pattern.compile("(?:[0-9A-F]{8}|[0-9A-F]{32}):[0-9A-F]{4}");

  private final List<Row> rows = new ArrayList<>();

  /** Process ids by the inodes of their sockets. */
  private final Map<String, Long> owners = new HashMap<>();

  /**
   * A socket.
   *
   * @param local its own address
   * @param remote the peer's address; of all zeros if it listens
   * @param listens whether it listens
   * @param user the user who made it
   * @param inode what names it below {@code /proc/PID/fd}
   */
  public record Row(
      InetSocketAddress local,
      InetSocketAddress remote,
      boolean listens,
      long user,
      String inode) {}

  private TcpTable() {}

  public static TcpTable read(Surroundings here) {
    TcpTable table = new TcpTable();
    for (String file : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
      for (String line : SystemFiles.lines(here.system(file))) {
        String[] fields = line.strip().split("\\s+");
        if (fields.length > INODE_FIELD
            && ADDRESS.matcher(fields[LOCAL_FIELD]).matches()
            && ADDRESS.matcher(fields[REMOTE_FIELD]).matches()) {
          table.rows.add(
              new Row(
                  address(fields[LOCAL_FIELD]),
                  address(fields[REMOTE_FIELD]),
                  fields[STATE_FIELD].equals(LISTENS),
                  Long.parseLong(fields[USER_FIELD]),
                  fields[INODE_FIELD]));
        }
      }
    }
    for (Path process : SystemFiles.entries(here.system("/proc"))) {
      String name = process.getFileName().toString();
      if (name.chars().allMatch(Character::isDigit)) {
        for (Path descriptor : SystemFiles.entries(process.resolve("fd"))) {
          table.note(descriptor, Long.parseLong(name));
        }
      }
    }
    return table;
  }

  private void note(Path descriptor, long pid) {
    try {
      String target = Files.readSymbolicLink(descriptor).toString();
      if (target.startsWith(SOCKET)) {
        owners.put(target.substring(SOCKET.length(), target.length() - 1), pid);
      }
    } catch (IOException e) {
      return; // closed by now
    }
  }

  /** An address as the kernel prints it: words of four bytes, the lowest first, in hexadecimal. */
  public static InetSocketAddress address(String text) {
    int colon = text.indexOf(':');
    byte[] bytes = new byte[colon / 2];
    for (int word = 0; word < colon / WORD_DIGITS; word++) {
      long value =
          Long.parseLong(text.substring(word * WORD_DIGITS, (word + 1) * WORD_DIGITS), HEX);
      for (int i = 0; i < WORD_BYTES; i++) {
        bytes[word * WORD_BYTES + i] = (byte) (value >> (8 * i));
      }
    }
    try {
      return new InetSocketAddress(
          InetAddress.getByAddress(bytes), Integer.parseInt(text.substring(colon + 1), HEX));
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(text + " is no address of 4 or 16 bytes", e);
    }
  }

  public List<Row> rows() {
    return rows;
  }

  /** The process that has a socket open, or null if that is unknown. */
  public Long owner(Row row) {
    return owners.get(row.inode());
  }

  /** The socket of the end of a connection that has an address as its own, or null. */
  public Row socketOf(InetSocketAddress own, InetSocketAddress peer) {
    return rows.stream()
        .filter(row -> !row.listens() && row.local().equals(own) && row.remote().equals(peer))
        .findFirst()
        .orElse(null);
  }
}
