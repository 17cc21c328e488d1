// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * One-sided communication: memory that other ranks read and write. Where ranks share memory they
 * access it directly; elsewhere messages in a context of the window ask the target, whose engine
 * serves them whenever it makes progress.
 */
package io.talaria.mpj.onesided;
