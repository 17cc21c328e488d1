// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The programs that the tests run as processes: ordinary NIO code that knows nothing of Talaria.
 */
package io.talaria.it.programs;
