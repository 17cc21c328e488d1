// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.CodeAttribute;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Makes HotSpot's optimizing compiler inline no method that has the annotation NotInlined: adds
 * bytecode that is never reached until the method is larger than the limit ({@code FreqInlineSize},
 * 325 bytes). It takes no time to run. Usage: {@code java NotInlinedMethods.java CLASSES}, the
 * folder with the class files; the build calls it after the compiler.
 */
final class NotInlinedMethods {
  private static final String ANNOTATION = "Lio/talaria/nio/jit/NotInlined;";
  private static final int LIMIT_BYTES = 325;

  private final Path folder;
  private final ClassFile classFile;
  private int methods;

  private NotInlinedMethods(Path folder) {
    this.folder = folder;
    classFile =
        ClassFile.of(
            ClassFile.ClassHierarchyResolverOption.of(
                ClassHierarchyResolver.ofResourceParsing(type -> resource(type.descriptorString()))
                    .orElse(ClassHierarchyResolver.defaultResolver())));
  }

  public static void main(String[] args) throws IOException {
    NotInlinedMethods all = new NotInlinedMethods(Path.of(args[0]));
    List<Path> files;
    try (Stream<Path> found = Files.walk(all.folder)) {
      files = found.filter(file -> file.toString().endsWith(".class")).sorted().toList();
    }
    for (Path file : files) {
      all.enlarge(file);
    }
    if (all.methods == 0) {
      throw new IllegalStateException("no method in " + all.folder + " is marked " + ANNOTATION);
    }
  }

  /** A class of this module, or null. */
  private InputStream resource(String descriptor) {
    Path file = folder.resolve(descriptor.substring(1, descriptor.length() - 1) + ".class");
    try {
      return Files.exists(file) ? Files.newInputStream(file) : null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void enlarge(Path file) throws IOException {
    ClassModel model = classFile.parse(file);
    methods += (int) model.methods().stream().filter(NotInlinedMethods::isMarked).count();
    if (model.methods().stream().noneMatch(NotInlinedMethods::isTooSmall)) {
      return; // a build that compiles nothing finds what it has made
    }
    byte[] changed =
        classFile.transformClass(
            model,
            ClassTransform.transformingMethodBodies(
                NotInlinedMethods::isTooSmall, new Enlarging()));
    if (classFile.parse(changed).methods().stream().anyMatch(NotInlinedMethods::isTooSmall)) {
      throw new IllegalStateException(file + ": a marked method is still small");
    }
    Files.write(file, changed);
  }

  private static boolean isTooSmall(MethodModel method) {
    return isMarked(method) && size(method) <= LIMIT_BYTES;
  }

  private static boolean isMarked(MethodModel method) {
    return method
        .findAttribute(Attributes.runtimeInvisibleAnnotations())
        .filter(
            all ->
                all.annotations().stream()
                    .anyMatch(each -> each.className().equalsString(ANNOTATION)))
        .isPresent();
  }

  private static int size(MethodModel method) {
    return method.findAttribute(Attributes.code()).map(CodeAttribute::codeLength).orElseThrow();
  }

  /** Appends what is never reached; the library adds the stack map that the verifier wants. */
  private static final class Enlarging implements CodeTransform {
    @Override
    public void accept(CodeBuilder builder, CodeElement element) {
      builder.with(element);
    }

    @Override
    public void atEnd(CodeBuilder builder) {
      for (int i = 0; i < LIMIT_BYTES; i++) {
        builder.nop();
      }
      builder.aconst_null().athrow();
    }
  }
}
