// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The selector provider that gives unmodified NIO programs fast byte streams. */
package io.talaria.nio;
