/** The table by which the kernel cuts text beyond ASCII: classes of code points and their lower-case letters. */

import { lowercase } from "../analysis/filters.ts";
import { wordBreakClasses } from "../analysis/word-break.ts";
import { UNICODE_BYTES, UNICODE_LOWER, UNICODE_POINTS } from "./assembly/layout.ts";
import type { KernelMemory } from "./memory.ts";

/** Code points of the first plane. */
const FIRST_PLANE = 0x1_0000;

/** Puts the table into a block of `memory`; returns its address. */
export function storeUnicodeTable(memory: KernelMemory): number {
  const address = memory.allocate(UNICODE_BYTES);
  memory.bytes.set(wordBreakClasses(UNICODE_POINTS), address);
  const lower = new Uint16Array(memory.memory.buffer, address + UNICODE_LOWER, FIRST_PLANE);
  for (let point = 0; point < FIRST_PLANE; point++) {
    lower[point] = lowercase(String.fromCharCode(point)).charCodeAt(0);
  }
  return address;
}
