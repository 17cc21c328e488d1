// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * Private directories, and the names of the files in them, which tell whose they are so that anyone
 * can sweep what a killed process left.
 */
package io.talaria.nio.files;
