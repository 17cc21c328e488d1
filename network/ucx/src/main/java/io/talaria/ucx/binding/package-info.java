// Copyright the Talaria authors. SPDX-License-Identifier: Apache-2.0

/**
 * UCX as it is in C: functions, constants, structures, function pointers. Nothing is checked here;
 * the only package of the module that names linkers, symbols and method handles.
 */
package io.talaria.ucx.binding;
