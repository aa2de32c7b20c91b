/** Reads strings, numbers and literals of a document; the one that was read last stands in globals. */

import { clearString, readNumber, readString } from "./json";
import { isPlainUnicode } from "./unicode";

/** Kinds of values. */
export const STRING: u32 = 1;
export const NUMBER: u32 = 2;
export const TRUE: u32 = 3;
export const FALSE: u32 = 4;
export const NULL: u32 = 5;

/** "true", "fals" and "null" as they stand in memory. */
const TRUE_WORD: u32 = 0x6575_7274;
const FALSE_WORD: u32 = 0x736c_6166;
export const NULL_WORD: u32 = 0x6c6c_756e;

/** Kind and range of the scalar that was read last. */
export let kind: u32 = 0;
export let valueStart: usize = 0;
export let valueStop: usize = 0;
/** What isPlainUnicode says of it: 0 if it wasn't asked, 1 no, 2 yes. */
let plainness: u32 = 0;

/** Reads a string, number or literal; returns the place after it. */
export function readScalar(place: usize): usize {
  plainness = 0;
  const byte = load<u8>(place);
  if (byte === 0x22) {
    kind = STRING;
    valueStart = place + 1;
    valueStop = readString(place + 1);
    return valueStop === 0 ? 0 : valueStop + 1;
  }
  valueStart = place;
  clearString();
  const word = load<u32>(place);
  if (word === TRUE_WORD) {
    kind = TRUE;
    valueStop = place + 4;
  } else if (word === NULL_WORD) {
    kind = NULL;
    valueStop = place + 4;
  } else if (word === FALSE_WORD && load<u8>(place, 4) === 0x65) {
    kind = FALSE;
    valueStop = place + 5;
  } else {
    kind = NUMBER;
    valueStop = readNumber(place);
  }
  return valueStop;
}

/** Whether the current string is plain text beyond ASCII; several targets ask. */
export function isPlain(): bool {
  if (plainness === 0) plainness = isPlainUnicode(valueStart, (valueStop - valueStart) as u32) ? 2 : 1;
  return plainness === 2;
}
