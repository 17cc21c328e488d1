// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.TypeKind;
import java.lang.classfile.attribute.NestHostAttribute;
import java.lang.classfile.attribute.NestMembersAttribute;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Makes ordinary classes of lambdas and method references. The JVM makes a class of each, too, but
 * only when it comes to it: with code that a young process has to interpret, so that each takes
 * one to three milliseconds of a core, where a class of the jar takes half of one. Usage: {@code
 * java -classpath LIBRARIES LambdaClasses.java CLASSES}, the folder with the class files, and what
 * they use; the build calls it after the compiler.
 *
 * <p>A class that captures nothing has one instance, as the JVM's has. What is serializable, or
 * implements several interfaces, stays as it is.
 */
final class LambdaClasses {
  private static final String MIDDLE = "$Lambda";
  private static final String METAFACTORY = "metafactory";
  private static final ClassDesc FACTORY = ClassDesc.of("java.lang.invoke.LambdaMetafactory");
  private static final String MAKE = "make";
  private static final String INSTANCE = "INSTANCE";

  private final Path folder;
  private final ClassFile classFile;

  /** What is new in each nest, by its host. */
  private final Map<ClassDesc, List<ClassDesc>> nests = new LinkedHashMap<>();

  /** All that is to be written, when nothing can fail any more. */
  private final Map<ClassDesc, byte[]> written = new LinkedHashMap<>();

  private LambdaClasses(Path folder) {
    this.folder = folder;
    classFile =
        ClassFile.of(
            ClassFile.ConstantPoolSharingOption.NEW_POOL,
            ClassFile.ClassHierarchyResolverOption.of(
                ClassHierarchyResolver.ofResourceParsing(type -> resource(type))
                    .orElse(
                        ClassHierarchyResolver.ofClassLoading(
                            ClassLoader.getSystemClassLoader()))));
  }

  public static void main(String[] args) throws IOException {
    LambdaClasses all = new LambdaClasses(Path.of(args[0]));
    List<Path> files;
    try (Stream<Path> found = Files.walk(all.folder)) {
      files = found.filter(file -> file.toString().endsWith(".class")).sorted().toList();
    }
    for (Path file : files) {
      if (isLeftOver(file)) {
        Files.delete(file);
      } else {
        all.replace(file);
      }
    }
    for (Map.Entry<ClassDesc, List<ClassDesc>> nest : all.nests.entrySet()) {
      all.enter(nest.getKey(), nest.getValue());
    }
    all.write();
  }

  /** Whether it was made for a class that has been renamed or moved since. */
  private static boolean isLeftOver(Path file) {
    String name = file.getFileName().toString();
    int end = name.lastIndexOf(MIDDLE);
    return end > 0 && Files.notExists(file.resolveSibling(name.substring(0, end) + ".class"));
  }

  private void write() throws IOException {
    for (List<ClassDesc> members : nests.values()) {
      for (ClassDesc each : members) {
        removeMade(each);
      }
    }
    for (Map.Entry<ClassDesc, byte[]> each : written.entrySet()) {
      Files.write(file(each.getKey()), each.getValue());
    }
  }

  private Path file(ClassDesc type) {
    String descriptor = type.descriptorString();
    return folder.resolve(descriptor.substring(1, descriptor.length() - 1) + ".class");
  }

  /** A class of this module, or null. */
  private InputStream resource(ClassDesc type) {
    Path file = file(type);
    try {
      return Files.exists(file) ? Files.newInputStream(file) : null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void replace(Path file) throws IOException {
    ClassModel model = classFile.parse(file);
    if (model.methods().stream().noneMatch(LambdaClasses::hasLambda)) {
      return; // a build that compiles nothing finds what it has made
    }
    ClassDesc outer = model.thisClass().asSymbol();
    ClassDesc host =
        model
            .findAttribute(Attributes.nestHost())
            .map(each -> each.nestHost().asSymbol())
            .orElse(outer);
    Map<ClassDesc, byte[]> made = new LinkedHashMap<>();
    byte[] changed =
        classFile.transformClass(
            model,
            ClassTransform.transformingMethodBodies(
                LambdaClasses::hasLambda,
                (builder, element) -> {
                  if (!(element instanceof InvokeDynamicInstruction call) || !isLambda(call)) {
                    builder.with(element);
                    return;
                  }
                  ClassDesc name = nested(outer, MIDDLE + (made.size() + 1));
                  made.put(name, new LambdaClass(call, name, host).bytes(model));
                  builder.invokestatic(name, MAKE, call.typeSymbol());
                }));
    written.put(outer, changed);
    written.putAll(made);
    nests.computeIfAbsent(host, each -> new ArrayList<>()).addAll(made.keySet());
  }

  /** Removes what was made of an earlier state of the class that a made one belongs to. */
  private void removeMade(ClassDesc made) throws IOException {
    Path file = file(made);
    String name = file.getFileName().toString();
    String begin = name.substring(0, name.lastIndexOf(MIDDLE) + MIDDLE.length());
    try (DirectoryStream<Path> all = Files.newDirectoryStream(file.getParent(), begin + "*")) {
      for (Path each : all) {
        Files.delete(each);
      }
    }
  }

  private static ClassDesc nested(ClassDesc outer, String suffix) {
    String descriptor = outer.descriptorString();
    return ClassDesc.ofDescriptor(descriptor.substring(0, descriptor.length() - 1) + suffix + ";");
  }

  private static boolean hasLambda(MethodModel method) {
    return method.code().stream()
        .flatMap(CodeModel::elementStream)
        .anyMatch(each -> each instanceof InvokeDynamicInstruction call && isLambda(call));
  }

  private static boolean isLambda(InvokeDynamicInstruction call) {
    DirectMethodHandleDesc by = call.bootstrapMethod();
    return by.owner().equals(FACTORY) && by.methodName().equals(METAFACTORY);
  }

  /** Enters classes in the list of those that may use each other's private methods. */
  private void enter(ClassDesc host, List<ClassDesc> members) throws IOException {
    byte[] bytes = written.containsKey(host) ? written.get(host) : Files.readAllBytes(file(host));
    ClassModel model = classFile.parse(bytes);
    List<ClassDesc> all = new ArrayList<>();
    model
        .findAttribute(Attributes.nestMembers())
        .ifPresent(had -> had.nestMembers().forEach(each -> all.add(each.asSymbol())));
    members.stream().filter(each -> !all.contains(each)).forEach(all::add);
    byte[] changed =
        classFile.transformClass(
            model,
            ClassTransform.dropping(NestMembersAttribute.class::isInstance)
                .andThen(
                    ClassTransform.endHandler(
                        builder -> builder.with(NestMembersAttribute.ofSymbols(all)))));
    written.put(host, changed);
  }

  /** The class of one lambda. */
  private final class LambdaClass {
    private final ClassDesc name;
    private final ClassDesc host;

    /** The interface, and what is captured. */
    private final MethodTypeDesc factory;

    private final String methodName;

    /** The interface's method, as the JVM knows it, and as the lambda's types make it. */
    private final MethodTypeDesc erased;

    private final MethodTypeDesc actual;

    private final DirectMethodHandleDesc body;

    LambdaClass(InvokeDynamicInstruction call, ClassDesc name, ClassDesc host) {
      this.name = name;
      this.host = host;
      factory = call.typeSymbol();
      methodName = call.name().stringValue();
      List<ConstantDesc> arguments = call.bootstrapArgs();
      erased = (MethodTypeDesc) arguments.get(0);
      body = (DirectMethodHandleDesc) arguments.get(1);
      actual = (MethodTypeDesc) arguments.get(2);
    }

    byte[] bytes(ClassModel outer) {
      return classFile.build(
          name,
          builder -> {
            builder
                .withVersion(outer.majorVersion(), outer.minorVersion())
                .withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER | ClassFile.ACC_SYNTHETIC)
                .withInterfaceSymbols(factory.returnType())
                .with(NestHostAttribute.of(host));
            outer.findAttribute(Attributes.sourceFile()).ifPresent(builder::with);
            fields(builder);
            constructor(builder);
            make(builder);
            method(builder);
          });
    }

    private int captured() {
      return factory.parameterCount();
    }

    private static String field(int index) {
      return "captured" + index;
    }

    private MethodTypeDesc constructorType() {
      return factory.changeReturnType(ConstantDescs.CD_void);
    }

    private void fields(ClassBuilder builder) {
      for (int i = 0; i < captured(); i++) {
        builder.withField(
            field(i), factory.parameterType(i), ClassFile.ACC_PRIVATE | ClassFile.ACC_FINAL);
      }
      if (captured() == 0) {
        builder.withField(INSTANCE, name, ClassFile.ACC_STATIC | ClassFile.ACC_FINAL);
        builder.withMethodBody(
            ConstantDescs.CLASS_INIT_NAME,
            ConstantDescs.MTD_void,
            ClassFile.ACC_STATIC,
            code ->
                code.new_(name)
                    .dup()
                    .invokespecial(name, ConstantDescs.INIT_NAME, ConstantDescs.MTD_void)
                    .putstatic(name, INSTANCE, name)
                    .return_());
      }
    }

    private void constructor(ClassBuilder builder) {
      builder.withMethodBody(
          ConstantDescs.INIT_NAME,
          constructorType(),
          ClassFile.ACC_PRIVATE,
          code -> {
            code.aload(0)
                .invokespecial(
                    ConstantDescs.CD_Object, ConstantDescs.INIT_NAME, ConstantDescs.MTD_void);
            for (int i = 0; i < captured(); i++) {
              ClassDesc type = factory.parameterType(i);
              code.aload(0)
                  .loadLocal(TypeKind.from(type), code.parameterSlot(i))
                  .putfield(name, field(i), type);
            }
            code.return_();
          });
    }

    private void make(ClassBuilder builder) {
      builder.withMethodBody(
          MAKE,
          factory,
          ClassFile.ACC_STATIC,
          code -> {
            if (captured() == 0) {
              code.getstatic(name, INSTANCE, name);
            } else {
              code.new_(name).dup();
              for (int i = 0; i < captured(); i++) {
                code.loadLocal(TypeKind.from(factory.parameterType(i)), code.parameterSlot(i));
              }
              code.invokespecial(name, ConstantDescs.INIT_NAME, constructorType());
            }
            code.areturn();
          });
    }

    private void method(ClassBuilder builder) {
      builder.withMethodBody(
          methodName,
          erased,
          ClassFile.ACC_PUBLIC,
          code -> {
            boolean makes = body.kind() == DirectMethodHandleDesc.Kind.CONSTRUCTOR;
            if (makes) {
              code.new_(body.owner()).dup();
            }
            List<ClassDesc> takes = makes ? constructed() : body.invocationType().parameterList();
            for (int i = 0; i < captured(); i++) {
              code.aload(0).getfield(name, field(i), factory.parameterType(i));
            }
            for (int i = 0; i < erased.parameterCount(); i++) {
              ClassDesc given = erased.parameterType(i);
              code.loadLocal(TypeKind.from(given), code.parameterSlot(i));
              adapt(code, given, actual.parameterType(i), takes.get(captured() + i));
            }
            call(code);
            ClassDesc got = makes ? body.owner() : body.invocationType().returnType();
            give(code, got);
          });
    }

    private List<ClassDesc> constructed() {
      return MethodTypeDesc.ofDescriptor(body.lookupDescriptor()).parameterList();
    }

    private void call(CodeBuilder code) {
      ClassDesc owner = body.owner();
      String called = body.methodName();
      MethodTypeDesc type = MethodTypeDesc.ofDescriptor(body.lookupDescriptor());
      switch (body.kind()) {
        case STATIC -> code.invokestatic(owner, called, type, false);
        case INTERFACE_STATIC -> code.invokestatic(owner, called, type, true);
        case VIRTUAL, SPECIAL -> code.invokevirtual(owner, called, type);
        case INTERFACE_VIRTUAL, INTERFACE_SPECIAL -> code.invokeinterface(owner, called, type);
        case CONSTRUCTOR -> code.invokespecial(owner, ConstantDescs.INIT_NAME, type);
        default -> throw new IllegalStateException(name + ": a lambda of " + body);
      }
    }

    /** What the body has returned becomes what the interface's method returns. */
    private void give(CodeBuilder code, ClassDesc got) {
      ClassDesc wanted = erased.returnType();
      if (wanted.equals(ConstantDescs.CD_void)) {
        switch (TypeKind.from(got).slotSize()) {
          case 0 -> {}
          case 1 -> code.pop();
          default -> code.pop2();
        }
        code.return_();
        return;
      }
      adapt(code, got, got.isPrimitive() ? got : actual.returnType(), wanted);
      code.return_(TypeKind.from(wanted));
    }

    /**
     * Makes of a value on the stack what is wanted.
     *
     * @param given its type as the JVM knows it
     * @param known its type as the compiler has checked it
     * @param wanted the type that follows
     */
    private void adapt(CodeBuilder code, ClassDesc given, ClassDesc known, ClassDesc wanted) {
      if (given.isPrimitive() && wanted.isPrimitive()) {
        code.conversion(TypeKind.from(given), TypeKind.from(wanted));
      } else if (given.isPrimitive()) {
        ClassDesc box = Boxes.of(given);
        code.invokestatic(box, "valueOf", MethodTypeDesc.of(box, given));
      } else if (wanted.isPrimitive()) {
        ClassDesc box = known.isPrimitive() ? Boxes.of(known) : known;
        ClassDesc inside = Boxes.inside(box);
        code.checkcast(box)
            .invokevirtual(box, inside.displayName() + "Value", MethodTypeDesc.of(inside))
            .conversion(TypeKind.from(inside), TypeKind.from(wanted));
      } else if (!given.equals(wanted) && !wanted.equals(ConstantDescs.CD_Object)) {
        code.checkcast(wanted);
      }
    }
  }

  /** The classes of values in objects. */
  private static final class Boxes {
    private static final Map<ClassDesc, ClassDesc> ALL =
        Map.of(
            ConstantDescs.CD_boolean, ConstantDescs.CD_Boolean,
            ConstantDescs.CD_byte, ConstantDescs.CD_Byte,
            ConstantDescs.CD_char, ConstantDescs.CD_Character,
            ConstantDescs.CD_short, ConstantDescs.CD_Short,
            ConstantDescs.CD_int, ConstantDescs.CD_Integer,
            ConstantDescs.CD_long, ConstantDescs.CD_Long,
            ConstantDescs.CD_float, ConstantDescs.CD_Float,
            ConstantDescs.CD_double, ConstantDescs.CD_Double);

    private Boxes() {}

    static ClassDesc of(ClassDesc primitive) {
      return ALL.get(primitive);
    }

    static ClassDesc inside(ClassDesc box) {
      return ALL.entrySet().stream()
          .filter(each -> each.getValue().equals(box))
          .map(Map.Entry::getKey)
          .findFirst()
          .orElseThrow(() -> new IllegalStateException(box + " is no box"));
    }
  }
}
