// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/** Tests of the transport on UCX. */
package io.talaria.messaging.ucx;
