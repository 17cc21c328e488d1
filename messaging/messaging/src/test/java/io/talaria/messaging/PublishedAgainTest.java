// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging;

import static io.talaria.messaging.Waits.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The counters file of a node that could not be written for a while. */
@Timeout(180)
class PublishedAgainTest {
  private static final long SETTLED_MS = 200;

  record Note(int value) {}

  @TempDir Path directory;

  private Path find(String names) {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(directory.resolve("run"), names)) {
      Iterator<Path> each = found.iterator();
      return each.hasNext() ? each.next() : null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void theCountersAreWrittenAgainWhenThatIsPossible() throws Exception {
    NodeOptions options =
        TestOptions.of(1, Transport.SHM, directory)
            .receive(Note.class, Dispatch.INLINE, (note, from) -> {});
    try (Node node = Nodes.start(options)) {
      await(() -> find("*.messages") != null);
      Path file = find("*.messages");
      Files.delete(file);
      Files.createDirectory(file); // no file can be moved there
      await(
          () -> {
            node.peer(1).trySend(new Note(1)); // so that there is something new to write
            return find("m*") != null;
          });
      Thread.sleep(SETTLED_MS); // written, and by now not moved into place
      assertThat(file).isDirectory();
      Files.delete(file);
      await(
          () -> {
            node.peer(1).trySend(new Note(2));
            return Files.isRegularFile(file);
          });
    }
  }
}
