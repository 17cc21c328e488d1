// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.adaptor;

import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;

/** Says in the words of sockets what channels say by their own exceptions. */
final class SocketExceptions {
  private SocketExceptions() {}

  /**
   * Translates what an operation threw.
   *
   * @return an {@code IOException} as it is, else the socket exception for it
   * @throws RuntimeException if there is no such socket exception
   */
  static IOException io(Exception thrown) {
    return thrown instanceof IOException io ? io : socket(thrown);
  }

  /**
   * Translates what an operation threw that may only throw socket exceptions.
   *
   * @return a socket exception
   * @throws RuntimeException if there is no socket exception for it
   */
  static SocketException socket(Exception thrown) {
    if (thrown instanceof SocketException already) {
      return already;
    }
    SocketException translated = new SocketException(words(thrown));
    translated.initCause(thrown);
    return translated;
  }

  private static String words(Exception thrown) {
    if (thrown instanceof ClosedChannelException) {
      return "Socket is closed";
    } else if (thrown instanceof NotYetConnectedException) {
      return "Socket is not connected";
    } else if (thrown instanceof AlreadyBoundException) {
      return "Already bound";
    } else if (thrown instanceof AlreadyConnectedException) {
      return "Already connected";
    } else if (thrown instanceof NotYetBoundException) {
      return "Socket is not bound yet";
    } else if (thrown instanceof UnsupportedAddressTypeException) {
      return "Unsupported address type";
    } else if (thrown instanceof UnresolvedAddressException) {
      return "Unresolved address";
    } else if (thrown instanceof IOException) {
      return thrown.getMessage();
    } else if (thrown instanceof RuntimeException runtime) {
      throw runtime;
    }
    throw new AssertionError("neither an IOException nor unchecked", thrown);
  }
}
