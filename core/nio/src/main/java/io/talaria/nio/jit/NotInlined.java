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
 * each other they took the compiler 2.5 seconds of a core in each JVM, which a young program lacks:
 * where two JVMs share a core, it was slower than on the JDK's sockets for nine seconds. With this
 * annotation on the methods below which much is called, it takes less than one second. The price of
 * a call, a nanosecond or two, does not show in round trips. {@code docs/when-it-helps.md} has the
 * figures.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface NotInlined {}
