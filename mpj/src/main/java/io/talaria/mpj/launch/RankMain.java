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

/** The first class of a rank's JVM: joins the job, then runs the program. */
public final class RankMain {
  static final String RANK = "TALARIA_MPJ_RANK";
  static final String SIZE = "TALARIA_MPJ_SIZE";
  static final String CORES = "TALARIA_MPJ_CORES";
  static final String DIRECTORY = "TALARIA_MPJ_DIRECTORY";

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
              Integer.parseInt(System.getenv(SIZE)),
              Integer.parseInt(System.getenv(CORES)),
              Path.of(System.getenv(DIRECTORY)),
              settings));
    } catch (IOException e) {
      System.err.println("talaria mpirun: the launcher cannot be reached: " + e.getMessage());
      System.exit(1);
    }
    int status = run(args[0], Arrays.copyOfRange(args, 1, args.length), null);
    if (status != 0) {
      System.exit(status);
    }
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
    } catch (IllegalAccessException | LinkageError e) {
      System.err.println("talaria mpirun: class " + name + " cannot be run: " + e);
    }
    return 1;
  }
}
