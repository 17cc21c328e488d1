// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Configuration by {@code talaria.*} system properties, and what identifies this host. */
package io.talaria.nio.config;
