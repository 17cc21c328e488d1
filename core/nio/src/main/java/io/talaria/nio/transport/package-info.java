// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * The interface behind which a fast byte stream stands. A transport may be synchronous (shared
 * memory) or asynchronous with progress and an event descriptor (UCX); nothing above knows which.
 */
package io.talaria.nio.transport;
