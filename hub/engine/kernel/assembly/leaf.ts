/** Records what the value of a field is for each of the field's targets: bytes, a number, or something for the host. */

import { length, setLength } from "./buffer";
import { readDate, timeMs } from "./date";
import {
  digitCount,
  digits,
  isEscaped,
  isExact,
  isHigh,
  isNegative,
  isWhole,
  isWide,
  numberValue,
} from "./json";
import {
  ACTION_BYTES,
  ACTION_ESCAPED,
  ACTION_HIGH,
  ACTION_HOST,
  ACTION_NUMBER,
  ENTRY_NUMBER,
  MAX_KEYWORD_BYTES,
  MAX_TEXT_BYTES,
  NODE_TARGETS,
  NODE_TARGET_COUNT,
  SCRATCH_TAPE,
  TARGET_BYTES,
  TARGET_LIMIT,
  TARGET_TYPE,
  TYPE_BOOLEAN,
  TYPE_BYTE,
  TYPE_DATE,
  TYPE_DOUBLE,
  TYPE_FLOAT,
  TYPE_INTEGER,
  TYPE_KEYWORD,
  TYPE_LONG,
  TYPE_SHORT,
  TYPE_TEXT,
} from "./layout";
import { leaveToHost, readElements } from "./object";
import {
  FALSE,
  NULL,
  NUMBER,
  STRING,
  TRUE,
  isPlain,
  kind,
  readScalar,
  valueStart,
  valueStop,
} from "./scalar";
import { scratch } from "./scratch";
import { pushEntry } from "./tape";

/** Characters of a whole number that is below 2^53 for sure. */
const MAX_EXACT_LENGTH: u32 = 15;

/** Reads the value of a leaf into the tape. */
export function readLeaf(node: usize, address: usize, depth: u32): usize {
  const byte = load<u8>(address);
  if (byte === 0x5b) return readElements(node, address + 1, depth);
  if (byte === 0x7b) return leaveToHost(node, address, depth);
  const next = readScalar(address);
  if (next === 0 || kind === NULL) return next;
  const tape = scratch + SCRATCH_TAPE;
  const before = length(tape);
  const targets = load<u32>(node, NODE_TARGETS);
  const count = load<u32>(node, NODE_TARGET_COUNT);
  for (let index: u32 = 0; index < count; index++) {
    if (pushValue(targets + index * TARGET_BYTES)) continue;
    setLength(tape, before);
    pushEntry(node, ACTION_HOST, address, next);
    break;
  }
  return next;
}

/** Records the current scalar for a target; false if it is left to the host. */
function pushValue(target: usize): bool {
  const type = load<u32>(target, TARGET_TYPE);
  if (type === TYPE_TEXT || type === TYPE_KEYWORD) return pushBytes(target, type);
  if (!readAs(type)) return false;
  const entry = pushEntry(target, ACTION_NUMBER, valueStart, valueStop);
  store<f64>(entry, number, ENTRY_NUMBER);
  return true;
}

function pushBytes(target: usize, type: u32): bool {
  const count = (valueStop - valueStart) as u32;
  if (isEscaped && isWide) return false;
  let action: u32 = isEscaped ? ACTION_ESCAPED : ACTION_BYTES;
  if (type === TYPE_TEXT) {
    if (count > (MAX_TEXT_BYTES as u32)) return false;
    if (isHigh) {
      if (!isPlain()) return false;
      action |= ACTION_HIGH;
    }
  } else {
    // Ill-formed text becomes another one where escapes are resolved.
    if (isEscaped && isHigh && !isPlain()) return false;
    if (count > (MAX_KEYWORD_BYTES as u32)) return false;
    // The limit counts characters.
    if (isHigh && count > load<u32>(target, TARGET_LIMIT)) return false;
  }
  pushEntry(target, action, valueStart, valueStop);
  return true;
}

/** Value that `readAs` found. */
let number: f64 = 0;

/** Reads the current scalar as a number, date or boolean; false if it is left to the host. */
function readAs(type: u32): bool {
  if (type === TYPE_DATE) {
    if (kind !== STRING || isEscaped || !readDate(valueStart, (valueStop - valueStart) as u32)) return false;
    number = timeMs as f64;
    return true;
  }
  if (type === TYPE_BOOLEAN) {
    number = kind === TRUE ? 1 : 0;
    return kind === TRUE || kind === FALSE;
  }
  if (kind !== NUMBER) return false;
  if (type === TYPE_DOUBLE || type === TYPE_FLOAT) {
    if (!isExact()) return false;
    number = numberValue();
    if (type === TYPE_FLOAT) number = number as f32 as f64;
    return true;
  }
  return isWhole && digitCount <= MAX_EXACT_LENGTH && readWhole(type);
}

/** Reads a whole number that has no more than 15 digits. */
function readWhole(type: u32): bool {
  const value = isNegative ? -(digits as i64) : (digits as i64);
  number = value as f64;
  if (type === TYPE_INTEGER) return value === (value as i32 as i64);
  if (type === TYPE_SHORT) return value === (value as i16 as i64);
  if (type === TYPE_BYTE) return value === (value as i8 as i64);
  return type === TYPE_LONG;
}
