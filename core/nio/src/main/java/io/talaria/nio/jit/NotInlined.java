// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

package io.talaria.nio.jit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method that HotSpot's optimizing compiler is to compile once, by itself, and not once more with
 * each of its callers, and theirs. A step of the build, {@code src/build/NotInlinedMethods.java},
 * makes these methods too large to be inlined, by bytecode that is never reached.
 *
 * <p>A select passes through ten small methods, which become hot at the same time. Inlined into
 * each other they were compiled several times over, on cores that a young program lacks; so were
 * the methods that send and receive a message in {@code mpj}. {@code docs/architecture.md} says
 * which methods to mark, and how to see what is compiled.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface NotInlined {}
