// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The transport's binding on the module {@code ucx}: adapters without a state of their own. Needs
 * Java 25.
 */
package io.talaria.nio.ucx.ffm;
