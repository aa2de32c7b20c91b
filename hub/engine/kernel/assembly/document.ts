/**
 * Indexes whole documents: reads one along the plan of its mapping into a list of values (the tape), and only when all
 * of it is understood puts them into the fields. The rest is left to the host: a value (its entry says where it begins)
 * or the whole document, of which nothing was indexed then. The twin is documents/document-writer.ts.
 */

import { at, length } from "./buffer";
import { followDocument, forgetDocument, rememberDocument } from "./ending";
import { addKeyword, addKnownTerm, addNumber, addPoint } from "./field";
import { resolveEscapes, skipSpace } from "./json";
import {
  ACTION_BYTES,
  ACTION_ESCAPED,
  ACTION_HIGH,
  ACTION_HOST,
  ACTION_NUMBER,
  ACTION_POINT,
  ACTION_TERM,
  DOCUMENT_DONE,
  DOCUMENT_REFUSED,
  ENTRY_ACTION,
  ENTRY_BYTES,
  ENTRY_NUMBER,
  ENTRY_START,
  ENTRY_STOP,
  ENTRY_TARGET,
  EXTENT_BYTES,
  MAX_DOCUMENT_BYTES,
  SCRATCH_INPUT,
  SCRATCH_STATE,
  SCRATCH_TAPE,
  TARGET_FIELD,
  TARGET_LIMIT,
  TARGET_TYPE,
  TYPE_TEXT,
} from "./layout";
import { readObject } from "./object";
import { scratch } from "./scratch";
import { input } from "./tape";
import { addText } from "./tokenizer";
import { addUnicodeText } from "./unicode";

/**
 * Indexes documents of the scratch input as `doc` and those that follow: `count` entries at `extents`, each the offset
 * and the length of one. Stops at the first that isn't done and records what it needs in the scratch structure:
 * DOCUMENT_REFUSED, or the number of the tape's entry that is left to the host, after which `resumeDocument` continues.
 * Returns its number, else `count`. The bytes of documents are changed.
 */
export function writeDocuments(pool: usize, root: usize, extents: usize, count: u32, doc: u32): u32 {
  const base = at(scratch + SCRATCH_INPUT);
  forgetDocument();
  for (let index: u32 = 0; index < count; index++) {
    const extent = extents + index * EXTENT_BYTES;
    const state = writeDocument(pool, root, base + load<u32>(extent), load<u32>(extent, 4), doc + index);
    if (state === DOCUMENT_DONE) {
      rememberDocument();
      continue;
    }
    store<i32>(scratch, state, SCRATCH_STATE);
    return index;
  }
  return count;
}

function writeDocument(pool: usize, root: usize, start: usize, count: u32, doc: u32): i32 {
  if (count > (MAX_DOCUMENT_BYTES as u32)) return DOCUMENT_REFUSED;
  const end = start + count;
  // The next document's bytes come back before it is read.
  const behind = load<u8>(end);
  store<u8>(end, 0);
  followDocument(start, end);
  let address = skipSpace(start);
  address = load<u8>(address) === 0x7b ? readObject(root, address + 1, 0) : 0;
  const isRead = address !== 0 && skipSpace(address) === end;
  store<u8>(end, behind);
  return isRead ? resumeDocument(pool, doc, 0) : DOCUMENT_REFUSED;
}

/**
 * Puts the entries from number `from` on into their fields; returns DOCUMENT_DONE or the number of an entry that is
 * left to the host.
 */
export function resumeDocument(pool: usize, doc: u32, from: u32): i32 {
  const count = length(scratch + SCRATCH_TAPE) / ENTRY_BYTES;
  let resolvedStart: u32 = 0xffff_ffff;
  let resolvedStop: u32 = 0;
  for (let index = from; index < count; index++) {
    const entry = at(scratch + SCRATCH_TAPE) + index * ENTRY_BYTES;
    const action = load<u32>(entry, ENTRY_ACTION);
    if (action === ACTION_HOST) return index;
    const target = load<u32>(entry, ENTRY_TARGET);
    const field = load<u32>(target, TARGET_FIELD);
    if (action === ACTION_NUMBER) {
      addNumber(field, doc, load<f64>(entry, ENTRY_NUMBER));
      continue;
    }
    if (action === ACTION_TERM) {
      addKnownTerm(field, doc, load<u32>(entry, ENTRY_NUMBER));
      continue;
    }
    if (action === ACTION_POINT) {
      addPoint(field, doc, load<f64>(entry, ENTRY_NUMBER), load<f64>(entry, ENTRY_START));
      continue;
    }
    const start = load<u32>(entry, ENTRY_START);
    let stop = load<u32>(entry, ENTRY_STOP);
    if ((action & ~ACTION_HIGH) === ACTION_ESCAPED) {
      // A value with several targets is resolved once.
      if (resolvedStart !== start)
        resolvedStop = (resolveEscapes(input + start, input + stop) - input) as u32;
      resolvedStart = start;
      stop = resolvedStop;
    }
    if ((action & ACTION_HIGH) !== 0) addUnicodeText(pool, field, doc, input + start, stop - start);
    else if (load<u32>(target, TARGET_TYPE) === TYPE_TEXT)
      addText(pool, field, doc, input + start, stop - start);
    else if (stop - start <= load<u32>(target, TARGET_LIMIT)) {
      const term = addKeyword(pool, field, doc, input + start, stop - start);
      if (action !== ACTION_BYTES) continue;
      store<u32>(entry, ACTION_TERM, ENTRY_ACTION);
      store<u32>(entry, term, ENTRY_NUMBER);
    }
  }
  return DOCUMENT_DONE;
}
