// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** The channels and the selector that programs see. */
package io.talaria.nio.channel;
