// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.messaging.codec;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;

import io.talaria.messaging.Codec;
import io.talaria.messaging.MessageReader;
import io.talaria.messaging.MessageWriter;
import io.talaria.messaging.codec.Codecs.Component;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;

/**
 * Generates the codec of a record: a hidden class in the record's nest, with straight-line code
 * that calls the record's accessors and constructor. The codecs of components that are not
 * primitive are final fields of it, which the JIT compiler treats as constants.
 */
final class RecordClass {
  private static final ClassDesc CODEC = desc(Codec.class);
  private static final ClassDesc OUT = desc(MessageWriter.class);
  private static final ClassDesc IN = desc(MessageReader.class);
  private static final ClassDesc NULLS = ClassDesc.of("java.util.Objects");
  private static final ClassDesc MATH = ClassDesc.of("java.lang.Math");
  private static final int PUBLIC_FINAL = ClassFile.ACC_PUBLIC | ClassFile.ACC_FINAL;

  private final Class<?> type;
  private final List<Component> components;
  private final ClassDesc self;
  private final ClassDesc recordDesc;

  private RecordClass(Class<?> type, List<Component> components) {
    this.type = type;
    this.components = components;
    self = ClassDesc.of(type.getName() + "$$Codec");
    recordDesc = desc(type);
  }

  private static ClassDesc desc(Class<?> type) {
    return ClassDesc.ofDescriptor(type.descriptorString());
  }

  @SuppressWarnings("unchecked")
  static Codec<Object> make(
      Class<?> type, List<Component> components, MethodHandles.Lookup program) {
    try {
      MethodHandles.Lookup nest =
          MethodHandles.privateLookupIn(type, program == null ? MethodHandles.lookup() : program);
      MethodHandles.Lookup hidden =
          nest.defineHiddenClass(
              new RecordClass(type, components).bytes(),
              true,
              MethodHandles.Lookup.ClassOption.NESTMATE);
      Codec<Object>[] codecs = components.stream().map(Component::codec).toArray(Codec[]::new);
      Object made =
          hidden
              .findConstructor(
                  hidden.lookupClass(), MethodType.methodType(void.class, Codec[].class))
              .asType(MethodType.methodType(Object.class, Codec[].class))
              .invokeExact(codecs);
      return (Codec<Object>) made;
    } catch (IllegalAccessException e) {
      throw new IllegalArgumentException(
          type.getName()
              + " cannot be reached ("
              + e.getMessage()
              + "): call NodeOptions.lookup(MethodHandles.lookup()) in its module first",
          e);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalArgumentException("no codec for " + type.getName() + ": " + e, e);
    }
  }

  private byte[] bytes() {
    return ClassFile.of().build(self, this::build);
  }

  private void build(ClassBuilder built) {
    built.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER | ClassFile.ACC_SYNTHETIC);
    built.withInterfaceSymbols(CODEC);
    for (int i = 0; i < components.size(); i++) {
      if (components.get(i).codec() != null) {
        built.withField("c" + i, CODEC, ClassFile.ACC_PRIVATE | ClassFile.ACC_FINAL);
      }
    }
    method(built, "<init>", MethodTypeDesc.of(CD_void, CODEC.arrayType()), this::constructor);
    method(built, "size", MethodTypeDesc.of(CD_int, CD_Object), this::size);
    method(built, "write", MethodTypeDesc.of(CD_void, CD_Object, OUT), this::write);
    method(built, "read", MethodTypeDesc.of(CD_Object, IN), this::read);
  }

  private static void method(
      ClassBuilder built,
      String name,
      MethodTypeDesc type,
      java.util.function.Consumer<CodeBuilder> code) {
    int flags = name.equals("<init>") ? ClassFile.ACC_PRIVATE : PUBLIC_FINAL;
    built.withMethodBody(name, type, flags, code);
  }

  private void constructor(CodeBuilder code) {
    code.aload(0).invokespecial(CD_Object, "<init>", MethodTypeDesc.of(CD_void));
    for (int i = 0; i < components.size(); i++) {
      if (components.get(i).codec() != null) {
        code.aload(0).aload(1).loadConstant(i).aaload().putfield(self, "c" + i, CODEC);
      }
    }
    code.return_();
  }

  private void get(CodeBuilder code, Component component) {
    code.aload(1)
        .checkcast(recordDesc)
        .invokevirtual(
            recordDesc,
            component.component().getName(),
            MethodTypeDesc.of(desc(component.component().getType())));
  }

  /** Loads a component that is an object, and refuses null unless it is an OptionalField. */
  private void getObject(CodeBuilder code, Component component) {
    get(code, component);
    if (!component.nullable()) {
      code.loadConstant(
              "component " + component.component().getName() + " of " + type.getName() + " is null")
          .invokestatic(
              NULLS, "requireNonNull", MethodTypeDesc.of(CD_Object, CD_Object, CD_String));
    }
  }

  private void size(CodeBuilder code) {
    int fixed = 0;
    for (Component component : components) {
      if (component.primitive() != null && !component.primitive().varint()) {
        fixed += component.primitive().bytes();
      }
    }
    code.loadConstant(fixed);
    for (int i = 0; i < components.size(); i++) {
      Component component = components.get(i);
      Primitive primitive = component.primitive();
      if (primitive == null) {
        code.aload(0).getfield(self, "c" + i, CODEC);
        getObject(code, component);
        code.invokeinterface(CODEC, "size", MethodTypeDesc.of(CD_int, CD_Object));
      } else if (primitive.varint()) {
        get(code, component);
        code.invokestatic(
            OUT, primitive.sizeOf(), MethodTypeDesc.of(CD_int, desc(primitive.type())), true);
      } else {
        continue;
      }
      code.invokestatic(MATH, "addExact", MethodTypeDesc.of(CD_int, CD_int, CD_int));
    }
    code.ireturn();
  }

  private void write(CodeBuilder code) {
    for (int i = 0; i < components.size(); i++) {
      Component component = components.get(i);
      Primitive primitive = component.primitive();
      if (primitive == null) {
        code.aload(0).getfield(self, "c" + i, CODEC);
        getObject(code, component);
        code.aload(2);
        code.invokeinterface(CODEC, "write", MethodTypeDesc.of(CD_void, CD_Object, OUT));
      } else {
        code.aload(2);
        get(code, component);
        code.invokeinterface(
            OUT, primitive.put(), MethodTypeDesc.of(CD_void, desc(primitive.type())));
      }
    }
    code.return_();
  }

  private void read(CodeBuilder code) {
    code.new_(recordDesc).dup();
    for (int i = 0; i < components.size(); i++) {
      Component component = components.get(i);
      Primitive primitive = component.primitive();
      if (primitive == null) {
        code.aload(0).getfield(self, "c" + i, CODEC).aload(1);
        code.invokeinterface(CODEC, "read", MethodTypeDesc.of(CD_Object, IN));
        code.checkcast(desc(component.component().getType()));
      } else {
        code.aload(1);
        code.invokeinterface(IN, primitive.get(), MethodTypeDesc.of(desc(primitive.type())));
      }
    }
    ClassDesc[] parameters =
        components.stream().map(each -> desc(each.component().getType())).toArray(ClassDesc[]::new);
    code.invokespecial(recordDesc, "<init>", MethodTypeDesc.of(CD_void, parameters));
    code.return_(TypeKind.REFERENCE);
  }
}
