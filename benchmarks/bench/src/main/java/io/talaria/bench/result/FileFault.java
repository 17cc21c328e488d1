// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.bench.result;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Says in words what is wrong with a file: many exceptions of the JDK say only its name. */
public final class FileFault {
  private FileFault() {}

  /**
   * Returns the reason.
   *
   * @param e what has been thrown
   */
  public static String reason(IOException e) {
    if (e instanceof NoSuchFileException) {
      return "no such file or folder";
    } else if (e instanceof AccessDeniedException) {
      return "no permission";
    } else if (e instanceof FileAlreadyExistsException there) {
      return there.getFile() + " is not a folder";
    } else if (e instanceof FileSystemException other && other.getReason() != null) {
      return other.getReason();
    } else if (e instanceof CharacterCodingException) {
      return "it holds no text in UTF-8";
    }
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }
}
