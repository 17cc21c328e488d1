// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.mpj.engine;

/** A class loader that knows the job of the classes it loads: a rank that is a thread. */
public interface JobSource {
  /** The job. */
  Job job();
}
