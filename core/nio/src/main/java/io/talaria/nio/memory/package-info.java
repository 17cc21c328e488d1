// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Files in private directories that two processes map, their mappings, how it shows when such
 * memory is gone, and how one side sleeps there until the other wakes it.
 */
package io.talaria.nio.memory;
