// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.device.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is registered, for how long, and how often. */
@Timeout(60)
class RegistrationCacheTest {
  /** Registrations that are texts, of which no two are alike. */
  private static final class Books implements RegistrationCache.Registrar<String> {
    private final List<String> open = new ArrayList<>();
    private int made;
    private int refusals;

    @Override
    public synchronized String register(MemorySegment memory) {
      if (refusals > 0) {
        refusals--;
        throw new IllegalStateException("the limit of locked memory");
      }
      String name = "registration " + ++made + " of " + memory.byteSize();
      open.add(name);
      return name;
    }

    @Override
    public synchronized void unregister(String registration) {
      assertThat(open.remove(registration)).as(registration).isTrue();
    }
  }

  private final Books books = new Books();
  private final RegistrationCache<String> cache = new RegistrationCache<>(books, 1000, 4);

  private static MemorySegment memory(long bytes) {
    return Arena.ofAuto().allocate(bytes, 8);
  }

  private String use(MemorySegment memory) {
    RegistrationCache.Entry<String> entry = cache.hold(memory);
    cache.release(entry);
    return entry.registration();
  }

  @Test
  void whatIsInsideIsFound() {
    MemorySegment memory = memory(400);
    String first = use(memory);
    assertThat(use(memory)).isSameAs(first);
    assertThat(use(memory.asSlice(100, 50))).isSameAs(first);
    assertThat(use(memory.asSlice(399, 1))).isSameAs(first);
    assertThat(cache.counts()).isEqualTo(new RegistrationCache.Counts(3, 1, 0, 0, 0));
    assertThat(cache.counts().hitPercent()).isEqualTo(75);
    RegistrationCache.Entry<String> part = cache.hold(memory.asSlice(100, 50));
    assertThat(part.offsetOf(memory.asSlice(110, 40))).isEqualTo(110);
    assertThatThrownBy(() -> part.offsetOf(memory(8))).isInstanceOf(RuntimeException.class);
  }

  @Test
  void whatReachesBeyondIsNot() {
    MemorySegment memory = memory(400);
    String inner = use(memory.asSlice(100, 100));
    assertThat(use(memory.asSlice(99, 100))).isNotSameAs(inner);
    assertThat(use(memory.asSlice(101, 100))).isNotSameAs(inner);
    assertThat(use(memory)).isNotSameAs(inner);
    assertThat(cache.size()).isEqualTo(4);
  }

  @Test
  void whatMayOnlyBeReadServesNoWriter() {
    MemorySegment memory = memory(100);
    String reading = use(memory.asReadOnly());
    String writing = use(memory);
    assertThat(writing).isNotSameAs(reading);
    assertThat(use(memory.asReadOnly())).isIn(reading, writing);
    assertThat(use(memory)).isSameAs(writing);
  }

  @Test
  void whatWasNotUsedForTheLongestTimeGoesFirst() {
    List<MemorySegment> memories = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      memories.add(memory(100));
      String ignored = use(memories.get(i));
    }
    String first = use(memories.get(0));
    String ignored = use(memory(100)); // In the place of the second.
    assertThat(cache.size()).isEqualTo(4);
    assertThat(cache.counts().evictions()).isEqualTo(1);
    assertThat(use(memories.get(0))).isSameAs(first);
    long misses = cache.counts().misses();
    ignored = use(memories.get(1));
    assertThat(cache.counts().misses()).isEqualTo(misses + 1);
    assertThat(books.open).hasSize(4);
  }

  @Test
  void bytesAreBounded() {
    String ignored = use(memory(600));
    ignored = use(memory(300));
    assertThat(cache.bytes()).isEqualTo(900);
    ignored = use(memory(500));
    assertThat(cache.bytes()).isEqualTo(800);
    assertThat(books.open).hasSize(2);
  }

  @Test
  void whatIsTooLongIsRegisteredForOneUse() {
    MemorySegment kept = memory(900);
    String ignored = use(kept);
    MemorySegment tooLong = memory(1001);
    RegistrationCache.Entry<String> entry = cache.hold(tooLong);
    assertThat(books.open).hasSize(2);
    cache.release(entry);
    assertThat(books.open).hasSize(1);
    assertThat(cache.counts().oneTimes()).isEqualTo(1);
    assertThat(cache.counts().evictions()).as("for nothing").isZero();
    assertThatThrownBy(() -> cache.release(entry)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void whatIsHeldStays() {
    List<RegistrationCache.Entry<String>> held = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      held.add(cache.hold(memory(100)));
    }
    assertThat(cache.size()).isEqualTo(4);
    assertThat(books.open).hasSize(6);
    assertThat(cache.counts().evictions()).isZero();
    held.forEach(cache::release);
    assertThat(books.open).hasSize(4);
    cache.clear();
    assertThat(books.open).isEmpty();
    assertThat(cache.bytes()).isZero();
  }

  @Test
  void memoryThatWasFreedIsNotFound() {
    MemorySegment again;
    String before;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(200);
      before = use(memory);
      assertThat(use(memory)).isSameAs(before);
      again = MemorySegment.ofAddress(memory.address());
    }
    // The same addresses, as malloc gives them to the next one.
    @SuppressWarnings("restricted")
    MemorySegment next = again.reinterpret(200, Arena.ofAuto(), m -> {});
    assertThat(use(next)).isNotSameAs(before);
    assertThat(books.open).hasSize(1);
    assertThat(cache.counts().invalidations()).isEqualTo(1);
    assertThat(cache.bytes()).isEqualTo(200);
  }

  @Test
  void freedMemoryThatIsHeldGoesWithItsHolder() {
    Arena arena = Arena.ofShared();
    RegistrationCache.Entry<String> held = cache.hold(arena.allocate(200));
    arena.close();
    String ignored = use(memory(100));
    assertThat(cache.size()).isEqualTo(1);
    assertThat(books.open).hasSize(2);
    cache.release(held);
    assertThat(books.open).hasSize(1);
  }

  @Test
  void whereNoMoreCanBeRegisteredWhatIsKeptGivesWay() {
    String ignored = use(memory(100));
    RegistrationCache.Entry<String> held = cache.hold(memory(100));
    books.refusals = 1;
    ignored = use(memory(100));
    assertThat(books.open).hasSize(2);
    cache.release(held);
    cache.clear();
    books.refusals = 1;
    assertThatThrownBy(() -> cache.hold(memory(100)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("locked memory");
    assertThat(cache.size()).isZero();
    assertThat(books.open).isEmpty();
  }

  @Test
  void threadsShareIt() throws Exception {
    List<MemorySegment> memories = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      memories.add(memory(40 + 20L * i));
    }
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread[] threads = new Thread[4];
    for (int t = 0; t < threads.length; t++) {
      SplittableRandom random = new SplittableRandom(t);
      threads[t] =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < 20_000; i++) {
                    MemorySegment memory = memories.get(random.nextInt(memories.size()));
                    RegistrationCache.Entry<String> entry = cache.hold(memory);
                    synchronized (books) {
                      assertThat(books.open).contains(entry.registration());
                    }
                    assertThat(entry.offsetOf(memory)).isZero();
                    cache.release(entry);
                  }
                } catch (Throwable e) {
                  failure.compareAndSet(null, e);
                }
              });
      threads[t].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failure.get()).isNull();
    assertThat(cache.bytes()).isLessThanOrEqualTo(1000);
    assertThat(cache.size()).isLessThanOrEqualTo(4);
    assertThat(books.open).hasSize(cache.size());
    assertThat(cache.counts().hits() + cache.counts().misses()).isEqualTo(80_000);
    cache.clear();
    assertThat(books.open).isEmpty();
  }
}
