// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.launch;

import io.talaria.mpj.engine.Job;
import io.talaria.mpj.engine.JobSource;
import java.net.URL;
import java.net.URLClassLoader;

/**
 * The classes of a rank that is a thread: its own copies of the program and of the API, whose
 * statics would be shared otherwise. Engine, devices and JDK are the JVM's.
 */
final class RankLoader extends URLClassLoader implements JobSource {
  private final Job job;

  RankLoader(URL[] classPath, Job job) {
    super(classPath, RankLoader.class.getClassLoader());
    this.job = job;
  }

  @Override
  public Job job() {
    return job;
  }

  private static boolean own(String name) {
    return !name.startsWith("io.talaria.ffi.")
        && !name.startsWith("io.talaria.mpj.device.")
        && !name.startsWith("io.talaria.mpj.datatype.")
        && !name.startsWith("io.talaria.mpj.engine.")
        && !name.startsWith("io.talaria.mpj.collective.")
        && !name.startsWith("java.")
        && !name.startsWith("javax.")
        && !name.startsWith("jdk.")
        && !name.startsWith("sun.")
        && !name.startsWith("com.sun.");
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!own(name)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : findOrAsk(name, resolve);
    }
  }

  private Class<?> findOrAsk(String name, boolean resolve) throws ClassNotFoundException {
    try {
      return findClass(name);
    } catch (ClassNotFoundException e) {
      return super.loadClass(name, resolve);
    }
  }
}
