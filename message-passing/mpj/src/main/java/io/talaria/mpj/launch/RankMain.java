// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.engine.Jobs;
import io.talaria.mpj.engine.Settings;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The first class of a rank's JVM: joins the job, then runs the program. */
public final class RankMain {
  static final String RANK = "TALARIA_MPJ_RANK";
  static final String HOSTS = "TALARIA_MPJ_HOSTS";
  static final String DEVICE = "TALARIA_MPJ_DEVICE";
  static final String CORES = "TALARIA_MPJ_CORES";
  static final String DIRECTORY = "TALARIA_MPJ_DIRECTORY";

  /** Set if the job continues after ranks have failed. */
  static final String NOTIFY = "TALARIA_MPJ_NOTIFY";

  private RankMain() {}

  /**
   * Runs a rank; the launcher's business.
   *
   * @param args the program's class, and its arguments
   */
  public static void main(String[] args) {
    Settings settings;
    try {
      settings = Settings.of(System.getProperties());
      io.talaria.mpj.collective.Choice.check(settings.algorithms());
    } catch (IllegalArgumentException e) {
      System.err.println("talaria mpirun: " + e.getMessage());
      System.exit(Settings.STATUS_CONFIG);
      return;
    }
    try {
      Jobs.ofProcess(
          new ProcessJob(
              Integer.parseInt(System.getenv(RANK)),
              hosts(System.getenv(HOSTS)),
              Integer.parseInt(System.getenv(CORES)),
              System.getenv(DEVICE),
              Path.of(System.getenv(DIRECTORY)),
              System.getenv(NOTIFY) != null,
              settings));
    } catch (IOException e) {
      System.err.println("talaria mpirun: the launcher cannot be reached: " + e.getMessage());
      JobDirectory.delete(Path.of(System.getenv(DIRECTORY))); // No launcher is left to do it.
      System.exit(1);
    }
    int status = run(args[0], Arrays.copyOfRange(args, 1, args.length), null);
    if (status != 0) {
      System.exit(status);
    }
  }

  /** Which rank is where, in one word: number of the host, times how many ranks in a row. */
  static String hosts(List<Integer> hostOfRank) {
    StringBuilder word = new StringBuilder();
    for (int i = 0; i < hostOfRank.size(); ) {
      int end = i;
      while (end < hostOfRank.size() && hostOfRank.get(end).equals(hostOfRank.get(i))) {
        end++;
      }
      word.append(i == 0 ? "" : ",").append(hostOfRank.get(i)).append('*').append(end - i);
      i = end;
    }
    return word.toString();
  }

  /** Reads what {@link #hosts(List)} wrote. Without streams: each rank pays for their start. */
  static int[] hosts(String word) {
    int[] hostOfRank = new int[0];
    for (String run : word.split(",")) {
      int star = run.indexOf('*');
      int before = hostOfRank.length;
      hostOfRank = Arrays.copyOf(hostOfRank, before + Integer.parseInt(run.substring(star + 1)));
      Arrays.fill(hostOfRank, before, hostOfRank.length, Integer.parseInt(run.substring(0, star)));
    }
    return hostOfRank;
  }

  /** Runs a program's main method: 0, or 1 after saying what went wrong. */
  static int run(String name, String[] args, ClassLoader loader) {
    try {
      ClassLoader from = loader == null ? ClassLoader.getSystemClassLoader() : loader;
      Method main = Class.forName(name, true, from).getMethod("main", String[].class);
      if (!Modifier.isStatic(main.getModifiers())) {
        throw new NoSuchMethodException("main is not static");
      }
      main.setAccessible(true);
      main.invoke(null, (Object) args);
      return 0;
    } catch (ClassNotFoundException e) {
      System.err.println(
          "talaria mpirun: there is no class " + e.getMessage() + " on the class path; see -cp");
    } catch (NoSuchMethodException e) {
      System.err.println(
          "talaria mpirun: class " + name + " has no method public static void main(String[])");
    } catch (InvocationTargetException e) {
      Thread thread = Thread.currentThread();
      System.err.print("Exception in thread \"" + thread.getName() + "\" ");
      e.getCause().printStackTrace();
    } catch (IllegalAccessException | RuntimeException | Error e) {
      System.err.println("talaria mpirun: class " + name + " cannot be run: " + e);
      if (e.getCause() != null) {
        e.getCause().printStackTrace(); // Such as what a static initializer has thrown.
      }
    }
    return 1;
  }
}
