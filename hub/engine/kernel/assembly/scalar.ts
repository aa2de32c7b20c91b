/** Reads strings, numbers and literals of a document; globals hold the one that was read last. */

import { clearString, readNumber, readString } from "./json";
import { isPlainUnicode } from "./unicode";

/** Kinds of values. */
export const STRING: u32 = 1;
export const NUMBER: u32 = 2;
export const TRUE: u32 = 3;
export const FALSE: u32 = 4;
export const NULL: u32 = 5;

/** "true", "fals" and "null" as they are in memory. */
const TRUE_WORD: u32 = 0x6575_7274;
const FALSE_WORD: u32 = 0x736c_6166;
export const NULL_WORD: u32 = 0x6c6c_756e;

/** Kind and range of the scalar that was read last. */
export let kind: u32 = 0;
export let valueStart: usize = 0;
export let valueStop: usize = 0;
/** What isPlainUnicode says of it: 0 if it wasn't asked, 1 no, 2 yes. */
let plainness: u32 = 0;

/** Reads a string, number or literal; returns the address after it. */
export function readScalar(address: usize): usize {
  plainness = 0;
  const byte = load<u8>(address);
  if (byte === 0x22) {
    kind = STRING;
    valueStart = address + 1;
    valueStop = readString(address + 1);
    return valueStop === 0 ? 0 : valueStop + 1;
  }
  valueStart = address;
  clearString();
  const word = load<u32>(address);
  if (word === TRUE_WORD) {
    kind = TRUE;
    valueStop = address + 4;
  } else if (word === NULL_WORD) {
    kind = NULL;
    valueStop = address + 4;
  } else if (word === FALSE_WORD && load<u8>(address, 4) === 0x65) {
    kind = FALSE;
    valueStop = address + 5;
  } else {
    kind = NUMBER;
    valueStop = readNumber(address);
  }
  return valueStop;
}

/** Whether the current string is plain text beyond ASCII; several targets ask. */
export function isPlain(): bool {
  if (plainness === 0) plainness = isPlainUnicode(valueStart, (valueStop - valueStart) as u32) ? 2 : 1;
  return plainness === 2;
}
