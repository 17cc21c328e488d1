// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of transport verbs without nodes. */
package io.talaria.messaging.verbs;
