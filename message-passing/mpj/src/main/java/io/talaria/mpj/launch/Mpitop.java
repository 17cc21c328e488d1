// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.collective.Call;
import io.talaria.mpj.device.ring.RankPages;
import io.talaria.nio.files.PrivateDirectory;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * {@code talaria mpitop}: shows what the ranks of this host's jobs wait for, from the pages that
 * they publish. It only reads, so it disturbs no rank.
 */
public final class Mpitop {
  private static final String HELP =
      """
      Usage: talaria mpitop [-watch S] [-dir DIR]

      Shows, for each of your message-passing jobs on this host, which rank waits for which, in which
      call and since when, and what it had under way when it began to wait. A rank that does not wait
      computes, or has waited for less than the time that it spins.

        -watch S      show it again every S seconds, until it is interrupted
        -dir DIR      where the jobs have their shared files (-Dtalaria.mpj.dir; default: /dev/shm)
        -h, --help    print this help

      Exit status: 0, 1 if there is no job, 2 wrong usage.

        talaria mpitop -watch 2
      """;

  private static final int STATUS_USAGE = 2;
  private static final String CLEAR = "\033[H\033[2J";

  private Mpitop() {}

  /**
   * Runs the command and exits with its status.
   *
   * @param args the words after {@code talaria mpitop}
   */
  public static void main(String[] args) {
    System.exit(run(args, System.out));
  }

  static int run(String[] args, PrintStream out) {
    double seconds = 0;
    String parent = null;
    for (int i = 0; i < args.length; i++) {
      switch (args[i]) {
        case "-h", "--help", "-help" -> {
          out.print(HELP);
          return 0;
        }
        case "-watch", "-dir" -> {
          if (i + 1 == args.length) {
            return wrong(args[i] + " needs a value");
          }
          String value = args[i + 1];
          if (args[i].equals("-dir")) {
            parent = value;
          } else if ((seconds = seconds(value)) <= 0) {
            return wrong("-watch needs seconds from 0.1 to 3600, not " + value);
          }
          i++;
        }
        default -> {
          return wrong("unknown option " + args[i]);
        }
      }
    }
    return show(parent, seconds, out);
  }

  private static int wrong(String what) {
    System.err.println("talaria mpitop: " + what + "; try: talaria mpitop --help");
    return STATUS_USAGE;
  }

  private static double seconds(String word) {
    try {
      double seconds = Double.parseDouble(word);
      return seconds >= 0.1 && seconds <= 3600 ? seconds : 0;
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private static int show(String parent, double seconds, PrintStream out) {
    try {
      while (true) {
        List<String> lines = jobs(JobDirectory.parent(parent));
        if (seconds > 0) {
          out.print(CLEAR);
        }
        lines.forEach(out::println);
        out.flush();
        if (seconds == 0) {
          if (lines.isEmpty()) {
            System.err.println("talaria mpitop: no job of yours runs on this host");
          }
          return lines.isEmpty() ? 1 : 0;
        }
        Thread.sleep((long) (seconds * 1000));
      }
    } catch (IOException e) {
      System.err.println("talaria mpitop: " + e.getMessage());
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    }
  }

  /** The jobs of this user. */
  private static List<String> jobs(Path parent) throws IOException {
    List<String> lines = new ArrayList<>();
    TreeSet<Path> found = new TreeSet<>();
    try (DirectoryStream<Path> jobs = Files.newDirectoryStream(parent, JobDirectory.PREFIX + "*")) {
      jobs.forEach(found::add);
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    for (Path job : found) {
      try {
        PrivateDirectory.require(job);
        lines.addAll(job(job));
      } catch (IOException e) {
        // Another user's, or it has just ended.
      }
    }
    return lines;
  }

  private static List<String> job(Path directory) throws IOException {
    try (Arena arena = Arena.ofConfined();
        FileChannel file =
            FileChannel.open(directory.resolve(JobDirectory.PAGES), StandardOpenOption.READ)) {
      int ranks = RankPages.ranks(file.size());
      if (ranks == 0) {
        return List.of();
      }
      MemorySegment mapped = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
      return table(directory.getFileName().toString(), new RankPages(mapped, ranks), ranks);
    }
  }

  /** A line for the job, one for each rank of this host, and one for each circle. */
  static List<String> table(String job, RankPages pages, int ranks) {
    List<String> lines = new ArrayList<>();
    int[] next = new int[ranks];
    int here = 0;
    for (int rank = 0; rank < ranks; rank++) {
      long pid = pages.process(rank);
      next[rank] = pid == 0 ? -1 : pages.waitsFor(rank);
      if (pid == 0) {
        continue;
      }
      here++;
      boolean ended = ProcessHandle.of(pid).isEmpty();
      String state = ended ? "has ended" : pages.waiting(rank, Call::describe);
      String queues =
          state.startsWith("waits")
              ? "; "
                  + pages.underWay(rank)
                  + " under way, "
                  + pages.notReceived(rank)
                  + " not received"
              : "";
      lines.add("  rank " + rank + " (pid " + pid + ") " + state + queues);
    }
    if (here == 0) {
      return List.of(job + ": " + ranks + " ranks, none of which has come to MPI.Init here");
    }
    lines.add(0, job + ": " + ranks + " ranks, " + here + " of them on this host and in MPI");
    for (List<Integer> circle : circles(next)) {
      StringBuilder line = new StringBuilder("  in a circle: ");
      for (int rank : circle) {
        line.append(rank).append(" waits for ");
      }
      lines.add(line.append(circle.get(0)).toString());
    }
    return lines;
  }

  /**
   * Ranks each of which waits for the next, and the last for the first.
   *
   * @param next for each rank whom it waits for, or -1
   */
  static List<List<Integer>> circles(int[] next) {
    List<List<Integer>> circles = new ArrayList<>();
    int[] seenFrom = new int[next.length];
    for (int start = 0; start < next.length; start++) {
      int at = start;
      while (at >= 0 && at < next.length && seenFrom[at] == 0) {
        seenFrom[at] = start + 1;
        at = next[at];
      }
      if (at >= 0 && at < next.length && seenFrom[at] == start + 1) {
        List<Integer> circle = new ArrayList<>();
        int member = at;
        do {
          circle.add(member);
          member = next[member];
        } while (member != at);
        circles.add(circle);
      }
    }
    return circles;
  }
}
