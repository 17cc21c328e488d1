// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Files in private directories that two processes map, their mappings, and how it shows when such
 * memory is gone.
 */
package io.talaria.nio.memory;
