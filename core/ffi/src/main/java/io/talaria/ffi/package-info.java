// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What native bindings share: finding and opening a library, linking its functions, errno, struct
 * layouts and their check against the C headers, the few functions of the C library that every
 * binding wants, and the cleaning of text that devices and peers report.
 *
 * <p>A method handle of this package never makes a missing symbol a crash: it throws {@link
 * io.talaria.ffi.MissingSymbolException} when it is called. A down-call is linked <em>plain</em>,
 * or <em>critical</em> where the function neither blocks nor calls back into Java: a critical call
 * keeps the thread in Java state, which saves some nanoseconds and holds up safepoints; an up-call
 * out of one ends the JVM.
 */
package io.talaria.ffi;
