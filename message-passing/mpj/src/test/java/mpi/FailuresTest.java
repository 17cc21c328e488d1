// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.talaria.mpj.device.nio.Links;
import io.talaria.mpj.device.transport.FrameTransport;
import io.talaria.mpj.device.transport.TransportDevice;
import io.talaria.mpj.engine.Engine;
import io.talaria.mpj.engine.Job;
import io.talaria.mpj.engine.Settings;
import io.talaria.mpj.engine.Waiting;
import java.io.IOException;
import java.io.InvalidClassException;
import java.io.NotSerializableException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a program gets for what fails below the API: exception, class of error, text and cause. */
@Timeout(60)
class FailuresTest {
  private static final int TAG = 3;

  private static AbstractThrowableAssert<?, ?> fails(
      ThrowingCallable call, int errorClass, String text) {
    return assertThatThrownBy(call)
        .isExactlyInstanceOf(MPIException.class)
        .isInstanceOfSatisfying(
            MPIException.class, e -> assertThat(e.errorClass()).isEqualTo(errorClass))
        .hasMessage(text)
        .satisfies(e -> assertThat(callers(e)).contains("mpi.FailuresTest"));
  }

  private static List<String> callers(Throwable e) {
    return List.of(e.getStackTrace()).stream().map(StackTraceElement::getClassName).toList();
  }

  @Test
  void messageThatIsTooLong() {
    Variant.threads()
        .run(
            2,
            w -> {
              String text = "message of 12 bytes for a receive of 8 bytes";
              int[] a = new int[3];
              if (w.Rank() == 0) {
                for (int i = 0; i < 5; i++) {
                  w.Send(a, 0, 3, MPI.INT, 1, TAG);
                }
                return;
              }
              int error = MPIException.ERR_TRUNCATE;
              fails(() -> w.Recv(a, 0, 2, MPI.INT, 0, TAG), error, text).hasNoCause();
              fails(() -> w.Irecv(a, 0, 2, MPI.INT, 0, TAG).Wait(), error, text).hasNoCause();
              Request[] one = {w.Irecv(a, 0, 2, MPI.INT, 0, TAG)};
              fails(() -> Request.Waitall(one), error, text).hasNoCause();
              Prequest again = w.Recv_init(a, 0, 2, MPI.INT, 0, TAG);
              again.Start();
              fails(again::Wait, error, text).hasNoCause();
              Datatype columns = Datatype.Vector(2, 1, 2, MPI.INT);
              columns.Commit();
              fails(() -> w.Recv(a, 0, 1, columns, 0, TAG), error, text).hasNoCause();
            });
  }

  @Test
  void messageOfAnotherType() {
    Variant.threads()
        .run(
            2,
            w -> {
              if (w.Rank() == 0) {
                w.Send(new int[2], 0, 2, MPI.INT, 1, TAG);
                return;
              }
              fails(
                      () -> w.Recv(new float[2], 0, 2, MPI.FLOAT, 0, TAG),
                      MPIException.ERR_TYPE,
                      "message of INT for a receive of FLOAT")
                  .hasNoCause();
            });
  }

  @Test
  void objectThatCannotBeSentReceivedOrCopied() {
    Variant.threads()
        .run(
            2,
            w -> {
              Object[] bad = {new Object()};
              String why = "java.io.NotSerializableException: java.lang.Object";
              int type = MPIException.ERR_TYPE;
              String cannot = "an object cannot be sent: " + why;
              int other = 1 - w.Rank();
              fails(() -> w.Send(bad, 0, 1, MPI.OBJECT, other, TAG), type, cannot)
                  .hasCauseInstanceOf(NotSerializableException.class);
              fails(() -> w.Isend(bad, 0, 1, MPI.OBJECT, other, TAG), type, cannot)
                  .hasCauseInstanceOf(NotSerializableException.class);
              Prequest later = w.Send_init(bad, 0, 1, MPI.OBJECT, other, TAG);
              fails(later::Start, type, cannot).hasCauseInstanceOf(NotSerializableException.class);
              Intracomm self = w.Split(w.Rank(), 0);
              fails(
                      () -> self.Allgather(bad, 0, 1, MPI.OBJECT, new Object[1], 0, 1, MPI.OBJECT),
                      type,
                      "an object cannot be copied: " + why)
                  .hasCauseInstanceOf(NotSerializableException.class);
              if (w.Rank() == 0) {
                w.Send(new Object[] {"a", "b"}, 0, 2, MPI.OBJECT, 1, TAG);
                w.Send(new Object[] {"a"}, 0, 1, MPI.OBJECT, 1, TAG);
                return;
              }
              fails(
                      () -> w.Recv(new Object[1], 0, 1, MPI.OBJECT, 0, TAG),
                      MPIException.ERR_TRUNCATE,
                      "message of 2 objects for a receive of 1")
                  .hasNoCause();
              fails(
                      () -> w.Recv(new Integer[1], 0, 1, MPI.OBJECT, 0, TAG),
                      type,
                      "an object cannot be received: java.io.InvalidClassException: an object of"
                          + " java.lang.String does not fit into Integer[]")
                  .hasCauseInstanceOf(InvalidClassException.class);
            });
  }

  @Test
  void bufferedObjectThatCannotBeSent() {
    single(
        w -> {
          w.world().buffered().attach(new byte[1000], 1000);
          fails(
                  () -> w.Bsend(new Object[] {new Object()}, 0, 1, MPI.OBJECT, 0, TAG),
                  MPIException.ERR_TYPE,
                  "an object cannot be sent: java.io.NotSerializableException: java.lang.Object")
              .hasCauseInstanceOf(NotSerializableException.class);
        });
  }

  private static void single(Variant.Body body) {
    Variant.threads().run(1, body);
  }

  @Test
  void memoryThatIsClosed() {
    single(
        w -> {
          MemorySegment gone;
          try (Arena arena = Arena.ofConfined()) {
            gone = arena.allocate(8);
          }
          w.Send(new byte[8], 0, 8, MPI.BYTE, 0, TAG);
          fails(
                  () -> w.Recv(gone, 0, 8, MPI.BYTE, 0, TAG),
                  MPIException.ERR_BUFFER,
                  "Already closed")
              .hasCauseInstanceOf(IllegalStateException.class);
          int buffer = MPIException.ERR_BUFFER;
          fails(() -> w.Send(gone, 0, 8, MPI.BYTE, 0, TAG), buffer, "Already closed")
              .hasCauseInstanceOf(IllegalStateException.class);
          fails(() -> w.Isend(gone, 0, 8, MPI.BYTE, 0, TAG).Wait(), buffer, "Already closed")
              .hasCauseInstanceOf(IllegalStateException.class);
        });
  }

  @Test
  void memoryThatIsClosedIsNotSentToOthersAndHarmsNoOtherMessage() {
    Variant.threads()
        .run(
            2,
            w -> {
              int n = 200_000;
              if (w.Rank() == 1) {
                byte[] got = new byte[8];
                w.Recv(got, 0, 8, MPI.BYTE, 0, TAG);
                assertThat(got[7]).isEqualTo((byte) 3);
                fails(
                        () -> w.Recv(new byte[n], 0, n, MPI.BYTE, 0, TAG),
                        MPIException.ERR_BUFFER,
                        "the sender's memory was closed while it was read")
                    .hasCauseInstanceOf(IllegalStateException.class);
                w.Recv(got, 0, 8, MPI.BYTE, 0, TAG);
                return;
              }
              MemorySegment gone;
              try (Arena arena = Arena.ofConfined()) {
                gone = arena.allocate(n);
              }
              int buffer = MPIException.ERR_BUFFER;
              String text = "Already closed";
              fails(() -> w.Send(gone, 0, 8, MPI.BYTE, 1, TAG), buffer, text)
                  .hasCauseInstanceOf(IllegalStateException.class);
              fails(() -> w.Isend(gone, 0, 8, MPI.BYTE, 1, TAG).Wait(), buffer, text)
                  .hasCauseInstanceOf(IllegalStateException.class);
              byte[] sound = {0, 0, 0, 0, 0, 0, 0, 3};
              w.Send(sound, 0, 8, MPI.BYTE, 1, TAG);
              // Announced; the data are read when the receiver asks for them.
              fails(() -> w.Send(gone, 0, n, MPI.BYTE, 1, TAG), buffer, text)
                  .hasCauseInstanceOf(IllegalStateException.class);
              w.Send(sound, 0, 8, MPI.BYTE, 1, TAG);
            });
  }

  @Test
  void collectiveThatDoesNotFitItself() {
    single(
        w -> {
          int[] a = new int[4];
          fails(
                  () -> w.Allgather(a, 0, 2, MPI.INT, new int[4], 0, 3, MPI.INT),
                  MPIException.ERR_COUNT,
                  "this rank sends itself 2 elements and expects 3")
              .hasNoCause();
          fails(
                  () -> w.Allgather(a, 0, 2, MPI.INT, new long[4], 0, 2, MPI.LONG),
                  MPIException.ERR_TYPE,
                  "send type of INT, receive type of LONG")
              .hasNoCause();
          Request later = w.Iallgather(a, 0, 2, MPI.INT, new int[4], 0, 3, MPI.INT);
          fails(
                  later::Wait,
                  MPIException.ERR_COUNT,
                  "this rank sends itself 2 elements and expects 3")
              .hasCauseInstanceOf(MPIException.class);
          w.force("barrier", "none");
          fails(
                  w::Barrier,
                  MPIException.ERR_ARG,
                  "no algorithm none of barrier; there are [dissemination, binomial]")
              .hasNoCause();
        });
  }

  /** An operation whose function throws what it was made with. */
  private static Op throwing(RuntimeException e) {
    return new Op(
        new User_function() {
          @Override
          public void Call(Object in, int i, Object inout, int j, int count, Datatype type) {
            throw e;
          }
        },
        true);
  }

  @Test
  void functionOfTheProgramThatThrows() {
    Variant.threads()
        .run(
            2,
            w -> {
              int[] a = new int[1];
              MPIException mine = new MPIException(MPIException.ERR_DIMS, "mine");
              Request known = w.Iallreduce(a, 0, new int[1], 0, 1, MPI.INT, throwing(mine));
              fails(known::Wait, MPIException.ERR_DIMS, "mine").cause().isSameAs(mine);
              IllegalStateException other = new IllegalStateException("other");
              Request unknown = w.Iallreduce(a, 0, new int[1], 0, 1, MPI.INT, throwing(other));
              fails(unknown::Wait, MPIException.ERR_BUFFER, "other").cause().isSameAs(other);
              assertThatThrownBy(
                      () -> w.Allreduce(a, 0, new int[1], 0, 1, MPI.INT, throwing(other)))
                  .isSameAs(other);
            });
  }

  @Test
  void ranksThatDisagree() {
    String text =
        "ranks disagree in Bcast (collective call 1): rank 1 expects 8 bytes, rank 0 sent 4";
    Variant.threads()
        .run(
            2,
            w -> {
              int[] a = new int[2];
              if (w.Rank() == 0) {
                w.Bcast(a, 0, 1, MPI.INT, 0);
                w.Ibcast(a, 0, 1, MPI.INT, 0).Wait();
              } else {
                int count = MPIException.ERR_COUNT;
                fails(() -> w.Bcast(a, 0, 2, MPI.INT, 0), count, text).hasNoCause();
                Request later = w.Ibcast(a, 0, 2, MPI.INT, 0);
                fails(later::Wait, count, text).hasCauseInstanceOf(MPIException.class);
              }
            });
    Variant.threads()
        .with("check", true)
        .run(
            2,
            w ->
                fails(
                        () -> w.Bcast(new int[2], 0, w.Rank(), MPI.INT, 0),
                        MPIException.ERR_OTHER,
                        "ranks disagree: rank 0 calls Bcast of 0 INT, root 0, rank 1 calls Bcast of"
                            + " 1 INT, root 0")
                    .hasNoCause());
  }

  private static World world(FrameTransport links, int rank, Settings settings) {
    return world(links, new Alone(rank, new CompletableFuture<>()), settings);
  }

  private static World world(FrameTransport links, Alone job, Settings settings) {
    Engine engine =
        new Engine(new TransportDevice(links, job.rank, 2, 1000, 1 << 20, null), Waiting.ASLEEP);
    return new World(engine, job, settings);
  }

  private record Alone(int rank, CompletableFuture<String> aborted) implements Job {
    @Override
    public int size() {
      return 2;
    }

    @Override
    public Engine open() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void finish(Engine engine) {}

    @Override
    public void abort(int status, String why) {
      aborted.complete(status + " " + why);
    }
  }

  /** Two ranks that know each other's addresses. */
  private static Links[] links() throws IOException {
    byte[] secret = "a secret".getBytes(StandardCharsets.UTF_8);
    Links[] links = {
      new Links(0, 2, new Links.Options().secret(secret)),
      new Links(1, 2, new Links.Options().secret(secret))
    };
    List<String> addresses = List.of(links[0].rankAddress(), links[1].rankAddress());
    links[0].rankAddresses(addresses);
    links[1].rankAddresses(addresses);
    return links;
  }

  /** A rank whose progress fails while it computes: its job ends, and no access waits for it. */
  @Test
  void progressThatFailsOnTheThreadOfWindowsEndsTheJob() throws Exception {
    Settings settings = Settings.of(new Properties());
    Links[] links = links();
    AtomicBoolean broken = new AtomicBoolean();
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          if (broken.get() && method.getName().equals("round")) {
            throw new IllegalStateException("broken on purpose");
          }
          return method.invoke(links[0], arguments);
        };
    Class<?>[] types = {FrameTransport.class};
    FrameTransport failing =
        (FrameTransport)
            Proxy.newProxyInstance(FrameTransport.class.getClassLoader(), types, handler);
    Alone job = new Alone(0, new CompletableFuture<>());
    World zero = world(failing, job, settings);
    World one = world(links[1], 1, settings);
    Thread other =
        new Thread(
            () -> {
              Win window = Win.Create(new int[1], 0, 1, MPI.INT, one.commWorld());
              window.Lock(MPI.LOCK_SHARED, 0, 0);
              window.Unlock(0);
            });
    other.start();
    Win window = Win.Create(new int[1], 0, 1, MPI.INT, zero.commWorld());
    assertThat(window.Group().Size()).isEqualTo(2);
    // The thread serves: nothing of MPI is called here.
    other.join();
    broken.set(true);
    assertThat(job.aborted.get(50, TimeUnit.SECONDS))
        .isEqualTo(
            "1 rank 0: the thread that makes progress while it computes failed:"
                + " java.lang.IllegalStateException: broken on purpose");
    one.windows().close();
    one.engine().close();
    broken.set(false);
    zero.windows().close();
    zero.engine().close();
  }

  /** Every call that waits for a rank that has ended throws, naming the rank. */
  @Test
  void rankThatHasEnded() throws Exception {
    Settings settings = Settings.of(new Properties());
    Links[] links = links();
    World zero = world(links[0], 0, settings);
    World one = world(links[1], 1, settings);
    Intracomm w = zero.commWorld();
    Request sent = w.Isend(new byte[8], 0, 8, MPI.BYTE, 1, TAG);
    Request received = one.commWorld().Irecv(new byte[8], 0, 8, MPI.BYTE, 0, TAG);
    while (received.Test() == null) {
      zero.engine().progress();
    }
    sent.Wait();
    byte[] a = new byte[8];
    Object[] o = {"text"};
    Request[] before = {
      w.Irecv(a, 0, 8, MPI.BYTE, 1, TAG),
      w.Irecv(a, 0, 8, MPI.BYTE, 1, TAG),
      w.Irecv(o, 0, 1, MPI.OBJECT, 1, TAG)
    };
    one.engine().close();
    gone(before[0]::Wait);
    gone(() -> Request.Waitall(new Request[] {before[1]}));
    gone(before[2]::Wait);
    gone(() -> w.Recv(a, 0, 8, MPI.BYTE, 1, TAG));
    gone(() -> w.Recv(o, 0, 1, MPI.OBJECT, 1, TAG));
    gone(() -> w.Recv(a, 0, 8, MPI.BYTE, MPI.ANY_SOURCE, TAG));
    gone(() -> w.Irecv(a, 0, 8, MPI.BYTE, 1, TAG).Test());
    gone(() -> w.Send(a, 0, 8, MPI.BYTE, 1, TAG));
    gone(() -> w.Send(o, 0, 1, MPI.OBJECT, 1, TAG));
    gone(() -> w.Ssend(a, 0, 8, MPI.BYTE, 1, TAG));
    gone(() -> w.Isend(a, 0, 8, MPI.BYTE, 1, TAG).Wait());
    gone(() -> w.Sendrecv(a, 0, 8, MPI.BYTE, 1, TAG, a, 0, 8, MPI.BYTE, 1, TAG));
    Prequest again = w.Send_init(a, 0, 8, MPI.BYTE, 1, TAG);
    again.Start();
    gone(again::Wait);
    gone(() -> w.Probe(1, TAG));
    gone(() -> w.Iprobe(1, TAG));
    gone(() -> w.Mprobe(1, TAG));
    gone(() -> w.Improbe(MPI.ANY_SOURCE, TAG));
    gone(w::Barrier);
    gone(() -> w.Ibarrier().Wait());
    gone(() -> w.Allreduce(a, 0, new byte[8], 0, 8, MPI.BYTE, MPI.SUM));
    gone(w::Dup);
    zero.buffered().attach(new byte[1000], 1000);
    w.Bsend(a, 0, 8, MPI.BYTE, 1, TAG);
    gone(() -> zero.buffered().detach());
    zero.engine().close();
  }

  /** Every call of a window that waits for a rank that has ended throws, naming the rank. */
  @Test
  void windowOfARankThatHasEnded() throws Exception {
    Settings settings = Settings.of(new Properties());
    Links[] links = links();
    World zero = world(links[0], 0, settings);
    World one = world(links[1], 1, settings);
    Thread other =
        new Thread(
            () -> {
              for (int i = 0; i < 3; i++) {
                Win.Create(new int[1], 0, 1, MPI.INT, one.commWorld());
              }
            });
    other.start();
    Win[] windows = new Win[3];
    for (int i = 0; i < 3; i++) {
      windows[i] = Win.Create(new int[1], 0, 1, MPI.INT, zero.commWorld());
    }
    other.join();
    int[] a = new int[1];
    windows[0].Lock(MPI.LOCK_SHARED, 1, 0);
    windows[0].Put(a, 0, 1, MPI.INT, 1, 0, 1, MPI.INT);
    windows[0].Flush(1);
    Group both = windows[1].Group();
    windows[1].Post(both.Incl(new int[] {1}), 0);
    one.windows().close();
    one.engine().close();
    gone(() -> windows[1].Wait());
    gone(() -> windows[1].Start(both, 0));
    gone(
        () -> {
          windows[0].Put(a, 0, 1, MPI.INT, 1, 0, 1, MPI.INT);
          windows[0].Flush(1);
        });
    gone(
        () -> {
          windows[0].Get(a, 0, 1, MPI.INT, 1, 0, 1, MPI.INT);
          windows[0].Flush_all();
        });
    gone(() -> windows[0].Unlock(1));
    gone(() -> windows[2].Lock(MPI.LOCK_EXCLUSIVE, 1, 0));
    gone(() -> windows[2].Lock_all(0));
    gone(() -> windows[2].Fence(0));
    windows[2].Lock(MPI.LOCK_EXCLUSIVE, 0, 0);
    windows[2].Put(a, 0, 1, MPI.INT, 0, 0, 1, MPI.INT);
    windows[2].Unlock(0);
    zero.windows().close();
    zero.engine().close();
  }

  private static void gone(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isExactlyInstanceOf(ProcessFailedException.class)
        .isInstanceOfSatisfying(
            ProcessFailedException.class,
            e -> {
              assertThat(e.rank()).isEqualTo(1);
              assertThat(e.errorClass()).isEqualTo(MPIException.ERR_PROC_FAILED);
            })
        .hasMessageStartingWith("rank 1 is gone: ")
        .hasNoCause()
        .satisfies(e -> assertThat(callers(e)).contains("mpi.FailuresTest"));
  }
}
