// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What is done with Talaria's own permissions where a security manager is set. Knows nothing else
 * of Talaria.
 */
package io.talaria.nio.privileged;
