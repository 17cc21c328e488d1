// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * What Talaria's own transports on UCX have in common: opening a worker, giving back sends in
 * order, looking for failures, and closing endpoints. Exported to those transports only.
 */
package io.talaria.ucx.transport;
