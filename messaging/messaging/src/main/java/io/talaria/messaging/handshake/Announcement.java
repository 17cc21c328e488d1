// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.handshake;

import io.talaria.nio.Reason;
import io.talaria.nio.files.PrivateDirectory;
import io.talaria.nio.files.ProcessFileName;
import io.talaria.nio.process.PeerCredentials;
import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Makes a node known to other nodes of the same user on this host: a listening Unix-domain socket
 * {@code n-NUMBER-ID} in the private directory, where NUMBER stands for cluster and node, and ID
 * for the process. For the conductor, except {@link #close}.
 */
public final class Announcement {
  /** Large, because all nodes of a cluster may dial at once. */
  public static final int BACKLOG = 1024;

  private static final char PREFIX = 'n';
  private static final char UNFINISHED = 't';
  private static final int MAX_PATH_BYTES = 106;

  private final PrivateDirectory directory;
  private final long cluster;
  private final int node;
  private ServerSocketChannel channel;
  private Path path;

  /** Creates the announcement of a node, without announcing it. */
  public Announcement(Path directory, long cluster, int node) {
    this.directory = new PrivateDirectory(directory, Reason.NO_RUNTIME_DIR);
    this.cluster = cluster;
    this.node = node;
  }

  private String begin(int of) {
    return PREFIX + "-" + number(cluster, of) + "-";
  }

  /**
   * The number in the names of a node's files: 32 bits of the cluster's number, then the id in 16
   * bits.
   */
  public static long number(long cluster, int node) {
    return (cluster & 0xffff_ffffL) << 16 | node;
  }

  /**
   * Announces the node.
   *
   * @throws IOException if the directory cannot be used, or another process of this host has the id
   */
  public void open() throws IOException {
    Reason unusable = directory.prepare();
    if (unusable != null) {
      throw new IOException(directory.problem());
    }
    ProcessFileName.sweep(directory.path(), PREFIX);
    ProcessFileName.sweep(directory.path(), UNFINISHED);
    SocketChannel other = dial(node);
    if (other != null) {
      other.close();
      throw new IOException(
          "node "
              + node
              + " of this cluster runs on this host already, in another process or here");
    }
    long id = ProcessFileName.nextId();
    Path unfinished = directory.path().resolve(ProcessFileName.of(UNFINISHED, id));
    path = directory.path().resolve(begin(node) + ProcessFileName.digits(id));
    if (path.toString().length() > MAX_PATH_BYTES) {
      throw new IOException(
          path
              + " has "
              + path.toString().length()
              + " bytes, a Unix-domain socket's name at most "
              + MAX_PATH_BYTES
              + ": name a shorter directory");
    }
    channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.configureBlocking(false);
      channel.bind(UnixDomainSocketAddress.of(unfinished), BACKLOG);
      Files.move(unfinished, path, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      channel.close();
      Files.deleteIfExists(unfinished);
      throw new IOException("cannot announce the node in " + directory.path() + ": " + e, e);
    }
  }

  /** The channel that other nodes connect to. */
  public ServerSocketChannel channel() {
    return channel;
  }

  /** The private directory. */
  public Path directory() {
    return directory.path();
  }

  /**
   * Connects to an announced node of the same user. Returns a non-blocking channel, or null if no
   * such node accepts the connection.
   */
  public SocketChannel dial(int other) {
    try (DirectoryStream<Path> found =
        Files.newDirectoryStream(directory.path(), begin(other) + "*")) {
      for (Path each : found) {
        SocketChannel connected = dial(each);
        if (connected != null) {
          return connected;
        }
      }
    } catch (IOException e) {
      return null;
    }
    return null;
  }

  private SocketChannel dial(Path announced) throws IOException {
    SocketChannel dialled = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      dialled.configureBlocking(false);
      if (dialled.connect(UnixDomainSocketAddress.of(announced))
          && PeerCredentials.sameUser(dialled, directory.path())) {
        return dialled;
      }
    } catch (ConnectException e) {
      // a socket listens before it gets its name, so its node has ended
      Files.deleteIfExists(announced);
    } catch (IOException e) {
      // Its backlog is full, or it has just ended: the conductor tries again.
    }
    dialled.close();
    return null;
  }

  /** Withdraws the announcement. Any thread. */
  public void close() {
    try {
      if (path != null) {
        Files.deleteIfExists(path);
      }
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      // The next node that starts removes it.
    }
  }
}
