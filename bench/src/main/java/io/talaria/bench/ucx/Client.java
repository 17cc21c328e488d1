// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.ucx;

import io.talaria.bench.ucx.Messages.Setup;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A measuring thread's connection to the server: control and UCX. Confined to the thread that opens
 * it, which closes it.
 */
final class Client implements AutoCloseable {
  private final ControlLink link;
  private final Side side;
  private final Exercise exercise;

  private Client(ControlLink link, Side side, Exercise exercise) {
    this.link = link;
    this.side = side;
    this.exercise = exercise;
  }

  /**
   * Where the server is, and what holds for all connections to it.
   *
   * @param server where its control connection listens
   * @param token what it wants to hear
   * @param transports {@code UCX_TLS}; empty for UCX's choice
   * @param yields whether to leave the core to others when there is nothing to do
   */
  record Place(InetSocketAddress server, String token, String transports, boolean yields) {}

  /**
   * Connects, and has the server follow.
   *
   * @throws IOException if there is no server, or it refuses
   */
  static Client open(Place place, Operation operation, Kind kind, int sizeBytes)
      throws IOException {
    ControlLink link = ControlLink.connect(place.server(), place.token());
    Side side = null;
    try {
      Setup setup = new Setup(operation, kind, sizeBytes, place.transports(), place.yields(), null);
      side = Side.open(setup.needs(), link::check);
      link.send(
          FrameType.SETUP,
          new Setup(
              operation,
              kind,
              sizeBytes,
              place.transports(),
              place.yields(),
              side.credentials(operation.isRemote())));
      Messages.Ready ready = link.await(FrameType.READY, Messages.Ready.class, ControlLink.LIMIT);
      side.connect(ready.server());
      Exercise exercise = operation.exercise(side, kind, sizeBytes);
      exercise.begin(false);
      return new Client(link, side, exercise);
    } catch (IOException | RuntimeException e) {
      if (side != null) {
        side.close();
      }
      link.close();
      throw e;
    }
  }

  /** Returns how many operations it has done. */
  long operations() {
    return exercise.count();
  }

  /** Does one operation. */
  void once() {
    exercise.once();
  }

  /** Does many operations, several at a time. */
  void many(int operations) {
    exercise.many(operations);
  }

  /**
   * Ends the connection in order.
   *
   * @throws IOException if the server has not seen all of it
   */
  void end() throws IOException {
    try (this) {
      side.flush();
      link.send(FrameType.STOP, new Messages.Stop(exercise.expected()));
      Messages.Stopped stopped = awaitStopped();
      if (exercise.expected() != 0 && stopped.count() != exercise.expected()) {
        throw new ControlException(
            "the server has seen " + stopped.count() + " of " + exercise.expected() + " messages");
      }
      link.send(FrameType.CLOSE, new Messages.Nothing());
      side.close();
      link.await(FrameType.CLOSED, Messages.Nothing.class, ControlLink.LIMIT);
    }
  }

  /** Progresses meanwhile: the server may need it to get what is under way. */
  private Messages.Stopped awaitStopped() throws ControlException {
    long start = System.nanoTime();
    while (System.nanoTime() - start < ControlLink.LIMIT.toNanos()) {
      Messages.Stopped stopped = link.poll(FrameType.STOPPED, Messages.Stopped.class);
      if (stopped != null) {
        return stopped;
      }
      side.spin();
    }
    throw new ControlException("the server does not stop");
  }

  /** Ends the connection at once, if it has not ended. */
  @Override
  public void close() {
    link.close();
    side.close();
  }
}
