/**
 * Walks objects and arrays along the plan of a mapping: where each name leads, what is skipped, what is left to the
 * host.
 */

import { takeEnding } from "./ending";
import { isEscaped, readString, skipSpace } from "./json";
import {
  ACTION_HOST,
  KIND_CLOSED_OBJECT,
  KIND_HOST_LEAF,
  KIND_LEAF,
  KIND_POINT,
  KIND_SKIPPED,
  NAME_AT,
  NAME_BYTES,
  NAME_GUESS,
  NAME_HASH,
  NAME_LENGTH,
  NAME_NODE,
  NODE_GUESS,
  NODE_KIND,
  NODE_MASK,
  NODE_TABLE,
  NODE_TARGETS,
} from "./layout";
import { readLeaf } from "./leaf";
import { readPoint } from "./point";
import { NULL_WORD, kind, readScalar } from "./scalar";
import { pushEntry } from "./tape";
import { equals, hashOf } from "./terms";

/** Objects and arrays within each other that are read here; deeper documents are left to the host. */
const MAX_DEPTH: u32 = 64;

/** Hash of an object's name. */
export function hashName(name: usize, count: u32): u32 {
  return hashOf(0, name, count);
}

/** Reads an object from after its brace; returns the address after it, 0 to refuse the document. */
export function readObject(node: usize, start: usize, depth: u32): usize {
  if (depth >= MAX_DEPTH) return 0;
  let address = skipSpace(start);
  if (load<u8>(address) === 0x7d) return address + 1;
  // Objects mostly have the same names in the same order: the offset of the next name is remembered after each.
  let guess = node + NODE_GUESS;
  while (load<u8>(address) === 0x22) {
    if (depth === 0) {
      const ending = takeEnding(address);
      if (ending !== 0) return ending;
    }
    const name = address + 1;
    let entry = load<u32>(guess) as usize;
    let child: usize = 0;
    if (entry !== 0 && isNamed(entry, name)) {
      address = name + load<u32>(entry, NAME_LENGTH);
      child = load<u32>(entry, NAME_NODE);
    } else {
      address = readString(name);
      if (address === 0 || isEscaped) return 0;
      entry = findName(node, name, (address - name) as u32);
      child = entry === 0 ? unknownChild(node, name, (address - name) as u32) : load<u32>(entry, NAME_NODE);
      if (child === 0) return 0;
      store<u32>(guess, entry as u32);
    }
    if (entry !== 0) guess = entry + NAME_GUESS;
    address = skipSpace(address + 1);
    if (load<u8>(address) !== 0x3a) return 0;
    address = readValue(child, skipSpace(address + 1), depth + 1);
    if (address === 0) return 0;
    address = skipSpace(address);
    const byte = load<u8>(address);
    if (byte === 0x7d) return address + 1;
    if (byte !== 0x2c) return 0;
    address = skipSpace(address + 1);
  }
  return 0;
}

/** Whether a name ends before a quote at `name`. */
function isNamed(entry: usize, name: usize): bool {
  const count = load<u32>(entry, NAME_LENGTH);
  return load<u8>(name + count) === 0x22 && equals(load<u32>(entry, NAME_AT), name, count);
}

/** Entry of a name in the table of an object; 0 for none. */
function findName(node: usize, name: usize, count: u32): usize {
  const hash = hashName(name, count);
  const mask = load<u32>(node, NODE_MASK);
  const table = load<u32>(node, NODE_TABLE);
  let entry = table + (hash & mask) * NAME_BYTES;
  for (let slot = hash & mask; load<u32>(entry, NAME_NODE) !== 0; entry = table + slot * NAME_BYTES) {
    if (
      load<u32>(entry, NAME_HASH) === hash &&
      load<u32>(entry, NAME_LENGTH) === count &&
      equals(load<u32>(entry, NAME_AT), name, count)
    )
      return entry;
    slot = (slot + 1) & mask;
  }
  return 0;
}

/** Node of a name that the object lacks; 0 if it is left to the host. */
function unknownChild(node: usize, name: usize, count: u32): usize {
  if (load<u32>(node, NODE_KIND) !== KIND_CLOSED_OBJECT) return 0;
  // Dotted names and those of metadata have a meaning; the others are passed over.
  if (load<u8>(name) === 0x5f) return 0;
  for (let index: u32 = 0; index < count; index++) if (load<u8>(name + index) === 0x2e) return 0;
  return load<u32>(node, NODE_TARGETS);
}

/** Reads the value of a node; returns the address after it, 0 to refuse the document. */
function readValue(node: usize, address: usize, depth: u32): usize {
  const kind = load<u32>(node, NODE_KIND);
  if (kind === KIND_LEAF) return readLeaf(node, address, depth);
  if (kind === KIND_SKIPPED) return skipValue(address, depth);
  if (kind === KIND_HOST_LEAF) return leaveToHost(node, address, depth);
  if (kind === KIND_POINT) return readPoint(node, address, depth);
  const byte = load<u8>(address);
  if (byte === 0x7b) return readObject(node, address + 1, depth);
  if (byte === 0x5b) return readElements(node, address + 1, depth);
  return load<u32>(address) === NULL_WORD ? address + 4 : 0;
}

/** Reads an array from after its bracket, each element as a value of the node. */
export function readElements(node: usize, start: usize, depth: u32): usize {
  if (depth >= MAX_DEPTH) return 0;
  let address = skipSpace(start);
  if (load<u8>(address) === 0x5d) return address + 1;
  let following: u8 = 0x2c;
  while (following === 0x2c) {
    address = readValue(node, skipSpace(address), depth + 1);
    if (address === 0) return 0;
    address = skipSpace(address);
    following = load<u8>(address++);
  }
  return following === 0x5d ? address : 0;
}

/** Skips a value and records that it is left to the host. */
export function leaveToHost(node: usize, address: usize, depth: u32): usize {
  const next = skipValue(address, depth);
  if (next !== 0) pushEntry(node, ACTION_HOST, address, next);
  return next;
}

/** Passes over a value; returns the address after it, 0 to refuse the document. */
export function skipValue(address: usize, depth: u32): usize {
  const byte = load<u8>(address);
  if (byte !== 0x7b && byte !== 0x5b) return readScalar(address);
  if (depth >= MAX_DEPTH) return 0;
  const isObject = byte === 0x7b;
  const close: u8 = isObject ? 0x7d : 0x5d;
  let next = skipSpace(address + 1);
  if (load<u8>(next) === close) return next + 1;
  let following: u8 = 0x2c;
  while (following === 0x2c) {
    next = skipSpace(next);
    if (isObject) next = skipName(next);
    if (next !== 0) next = skipValue(next, depth + 1);
    if (next === 0) return 0;
    next = skipSpace(next);
    following = load<u8>(next++);
  }
  return following === close ? next : 0;
}

/** Passes over a name and its colon; returns where the value begins. */
function skipName(address: usize): usize {
  if (load<u8>(address) !== 0x22) return 0;
  const quote = readString(address + 1);
  if (quote === 0) return 0;
  const colon = skipSpace(quote + 1);
  return load<u8>(colon) === 0x3a ? skipSpace(colon + 1) : 0;
}
