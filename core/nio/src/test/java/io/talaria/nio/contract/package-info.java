// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The contract of {@code java.nio.channels}, written once and run on every {@link
 * io.talaria.nio.contract.Variant}: the JDK's own channels say what is right, all others must do
 * the same.
 */
package io.talaria.nio.contract;
