/**
 * Endings of documents: documents of one source usually share their trailing fields. Where a document's outermost
 * object continues as the one before did, byte by byte to the end, its values are taken over from that one's tape, the
 * keywords among them with the numbers of their terms. What is remembered is valid within one run of documents.
 */

import { at, end, length, push32, reserve, setEnd, setLength } from "./buffer";
import {
  ACTION_ESCAPED,
  ACTION_HIGH,
  ACTION_POINT,
  ENTRY_ACTION,
  ENTRY_BYTES,
  ENTRY_NUMBER,
  ENTRY_START,
  ENTRY_STOP,
  ENTRY_TARGET,
  PLACE_BYTES,
  PLACE_LEFT,
  PLACE_TAPE,
  SCRATCH_PLACES,
  SCRATCH_PLACES_BEFORE,
  SCRATCH_TAPE,
  SCRATCH_TAPE_BEFORE,
} from "./layout";
import { scratch } from "./scratch";
import { beginDocument, input } from "./tape";
import { equals } from "./terms";

/** Offsets of a document that are remembered; its members beyond are read. */
const MAX_PLACES: u32 = 32;
/** Endings of a document that are compared: who makes them differ in their last bytes gains nothing. */
const MAX_COMPARED: u32 = 4;

/** End of the current document. */
let stop: usize = 0;
/** Begin and end of the one before; 0: there is none to compare with. */
let inputBefore: usize = 0;
let stopBefore: usize = 0;
/** The next remembered offset of the one before to look at, and how many endings may still be compared. */
let next: usize = 0;
let comparisons: u32 = 0;

/** Forgets all: a run begins. */
export function forgetDocument(): void {
  stopBefore = 0;
}

/** Begins the document from `start` to `stop`, with an empty tape; that of the one before is kept. */
export function followDocument(start: usize, end: usize): void {
  swap(SCRATCH_TAPE, SCRATCH_TAPE_BEFORE);
  swap(SCRATCH_PLACES, SCRATCH_PLACES_BEFORE);
  setLength(scratch + SCRATCH_PLACES, 0);
  beginDocument(start);
  stop = end;
  next = at(scratch + SCRATCH_PLACES_BEFORE);
  comparisons = MAX_COMPARED;
}

/** The current document is read and indexed: the next one may end like it. */
export function rememberDocument(): void {
  inputBefore = input;
  stopBefore = stop;
}

/**
 * Returns the end of the document where it continues as the one before did and what follows is on the tape; else 0, and
 * the offset is recorded, where a member of the outermost object begins.
 */
export function takeEnding(address: usize): usize {
  const left = (stop - address) as u32;
  const tape = scratch + SCRATCH_TAPE;
  const before = length(tape);
  if (stopBefore !== 0 && comparisons > 0) {
    const known = placeBefore(left);
    if (known !== 0) {
      comparisons--;
      const shift = ((address - input) - (stopBefore - left - inputBefore)) as u32;
      if (equals(address, stopBefore - left, left) && takeEntries(load<u32>(known, PLACE_TAPE), shift)) {
        takePlaces(known, before - load<u32>(known, PLACE_TAPE));
        return stop;
      }
      setLength(tape, before);
    }
  }
  notePlace(left, before);
  return 0;
}

/** Where the document before had as many bytes to its end; 0 for nowhere. */
function placeBefore(left: u32): usize {
  const last = end(scratch + SCRATCH_PLACES_BEFORE);
  while (next < last && load<u32>(next, PLACE_LEFT) > left) next += PLACE_BYTES;
  return next < last && load<u32>(next, PLACE_LEFT) === left ? next : 0;
}

/** Appends the entries of the tape before from `from` on; false if the bytes of one aren't as they came. */
function takeEntries(from: u32, shift: u32): bool {
  const tape = scratch + SCRATCH_TAPE;
  const others = scratch + SCRATCH_TAPE_BEFORE;
  reserve(tape, length(others) - from);
  let to = end(tape);
  for (let entry = at(others) + from; entry < end(others); entry += ENTRY_BYTES, to += ENTRY_BYTES) {
    const action = load<u32>(entry, ENTRY_ACTION);
    // Escapes are resolved in place.
    if ((action & ~ACTION_HIGH) === ACTION_ESCAPED) return false;
    const moved: u32 = action === ACTION_POINT ? 0 : shift;
    store<u32>(to, load<u32>(entry, ENTRY_TARGET), ENTRY_TARGET);
    store<u32>(to, action, ENTRY_ACTION);
    store<u32>(to, load<u32>(entry, ENTRY_START) + moved, ENTRY_START);
    store<u32>(to, load<u32>(entry, ENTRY_STOP) + moved, ENTRY_STOP);
    store<u64>(to, load<u64>(entry, ENTRY_NUMBER), ENTRY_NUMBER);
  }
  setEnd(tape, to);
  return true;
}

/** Records the offsets of the document before from `from` on, their entries being `shift` bytes further on this tape. */
function takePlaces(from: usize, shift: u32): void {
  for (let address = from; address < end(scratch + SCRATCH_PLACES_BEFORE); address += PLACE_BYTES)
    notePlace(load<u32>(address, PLACE_LEFT), load<u32>(address, PLACE_TAPE) + shift);
}

function notePlace(left: u32, entries: u32): void {
  const offsets = scratch + SCRATCH_PLACES;
  if (length(offsets) >= MAX_PLACES * PLACE_BYTES) return;
  push32(offsets, left);
  push32(offsets, entries);
}

/** Exchanges two growing buffers. */
function swap(a: usize, b: usize): void {
  const bytes = v128.load(scratch + a);
  v128.store(scratch + a, v128.load(scratch + b));
  v128.store(scratch + b, bytes);
}
