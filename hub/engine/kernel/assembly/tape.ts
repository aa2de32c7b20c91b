/** The tape: the values found in a document, in their order. */

import { end, length, reserve, setLength } from "./buffer";
import { ENTRY_ACTION, ENTRY_BYTES, ENTRY_START, ENTRY_STOP, ENTRY_TARGET, SCRATCH_TAPE } from "./layout";
import { scratch } from "./scratch";

/** Where the current document begins. */
export let input: usize = 0;

/** Empties the tape for the document that begins at `start`. */
export function beginDocument(start: usize): void {
  input = start;
  setLength(scratch + SCRATCH_TAPE, 0);
}

/** Appends an entry and returns its address. */
export function pushEntry(target: usize, action: u32, start: usize, stop: usize): usize {
  const tape = scratch + SCRATCH_TAPE;
  reserve(tape, ENTRY_BYTES);
  const entry = end(tape);
  setLength(tape, length(tape) + ENTRY_BYTES);
  store<u32>(entry, target as u32, ENTRY_TARGET);
  store<u32>(entry, action, ENTRY_ACTION);
  store<u32>(entry, (start - input) as u32, ENTRY_START);
  store<u32>(entry, (stop - input) as u32, ENTRY_STOP);
  return entry;
}
