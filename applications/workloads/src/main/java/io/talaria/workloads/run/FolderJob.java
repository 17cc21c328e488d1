// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.workloads.run;

/**
 * What a server is told that keeps data in files.
 *
 * @param folder the folder, which exists and is removed by the parent
 */
public record FolderJob(String folder) {
  static FolderJob in(ScratchFolder folder) {
    return new FolderJob(folder.path().toString());
  }
}
