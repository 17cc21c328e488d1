// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.agent;

import java.lang.StackWalker.StackFrame;
import java.util.Iterator;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The system properties of a JVM in which Netty is to choose NIO, by the property {@code
 * io.netty.transport.noNative}: a program that asks for a native transport by name, and does not
 * ask first whether it is there, gets it all the same instead of an {@link UnsatisfiedLinkError}.
 *
 * <p>Netty reads the property once, when it initializes the class that knows whether the transport
 * is there. If that is done by a class of the same package, such as an event loop group on epoll,
 * the program has named it; if it is done by any other class, that one asks in order to choose.
 *
 * <p>In everything else these are ordinary properties; copies of them are plain ones.
 */
final class NettyProperties extends Properties {
  private static final long serialVersionUID = 1L;

  /** The classes that know whether a transport is there, without their packages. */
  private static final Set<String> ASKED = Set.of("Epoll", "IoUring", "IOUring");

  private final transient Set<String> steered;
  private final transient boolean quiet;
  private transient boolean warned;

  private NettyProperties(Set<String> steered, boolean quiet) {
    this.steered = Set.copyOf(steered);
    this.quiet = quiet;
  }

  /**
   * Takes the place of the system properties, before the program has seen them.
   *
   * @param steered the names of those properties that were set for Netty, and not by the user
   * @param quiet whether nothing is to be said
   */
  static void install(Set<String> steered, boolean quiet) {
    Properties before = System.getProperties();
    if (before.getClass() != Properties.class
        || before.stringPropertyNames().size() != before.size()) {
      return; // another class's, or with defaults or values that are not strings
    }
    NettyProperties properties = new NettyProperties(steered, quiet);
    properties.putAll(before);
    System.setProperties(properties);
  }

  @Override
  public String getProperty(String key) {
    String value = super.getProperty(key);
    if (value != null && steered.contains(key) && value.equals("true")) {
      String named = StackWalker.getInstance().walk(NettyProperties::named);
      if (named != null) {
        tell(key, named);
        return "false";
      }
    }
    return value;
  }

  /** The class that wants a native transport and nothing else, or null. */
  private static String named(Stream<StackFrame> stack) {
    Iterator<StackFrame> frames = stack.iterator();
    while (frames.hasNext()) {
      StackFrame frame = frames.next();
      String asked = frame.getClassName();
      if (frame.getMethodName().equals("<clinit>")
          && ASKED.contains(asked.substring(asked.lastIndexOf('.') + 1))) {
        String asks = frames.hasNext() ? frames.next().getClassName() : "";
        return folder(asks).equals(folder(asked)) ? asks : null;
      }
    }
    return null;
  }

  private static String folder(String className) {
    return className.substring(0, className.lastIndexOf('.') + 1);
  }

  private synchronized void tell(String key, String named) {
    if (!quiet && !warned) {
      warned = true;
      System.err.println(
          "talaria: the program asks for Netty's native transport by name ("
              + named
              + "), whose connections stay on TCP; if it can fall back to NIO, it does so with -D"
              + key
              + "=true");
    }
  }

  @Override
  public synchronized Object clone() {
    return plain();
  }

  /** What other programs read need not know this class. */
  private Object writeReplace() {
    return plain();
  }

  private Properties plain() {
    Properties plain = new Properties();
    plain.putAll(this);
    return plain;
  }
}
