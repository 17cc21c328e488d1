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
    return switch (e) {
      case NoSuchFileException missing -> "no such file or folder";
      case AccessDeniedException denied -> "no permission";
      case FileAlreadyExistsException there -> there.getFile() + " is not a folder";
      case FileSystemException other when other.getReason() != null -> other.getReason();
      case CharacterCodingException binary -> "it holds no text in UTF-8";
      default -> e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    };
  }
}
