/** Reads points of geo_point fields. Judged by documents/values.ts. */

import { isExact, numberValue, readNumber, skipSpace } from "./json";
import { ACTION_POINT, ENTRY_NUMBER, ENTRY_START, NODE_TARGETS } from "./layout";
import { leaveToHost } from "./object";
import { NULL_WORD } from "./scalar";
import { pushEntry } from "./tape";

/**
 * Reads a point into the tape: an object of two numbers, or two in an array, longitude first. Others are left to the
 * host.
 */
export function readPoint(node: usize, address: usize, depth: u32): usize {
  const byte = load<u8>(address);
  if (load<u32>(address) === NULL_WORD) return address + 4;
  pointParts = 0;
  const next = byte === 0x7b ? readPointObject(address + 1) : byte === 0x5b ? readPointArray(address + 1) : 0;
  if (
    next === 0 ||
    pointParts !== (HAS_LATITUDE | HAS_LONGITUDE) ||
    abs(latitude) > MAX_LATITUDE ||
    abs(longitude) > MAX_LONGITUDE
  )
    return leaveToHost(node, address, depth);
  const entry = pushEntry(load<u32>(node, NODE_TARGETS), ACTION_POINT, address, next);
  store<f64>(entry, latitude, ENTRY_NUMBER);
  store<f64>(entry, longitude, ENTRY_START);
  return next;
}

/** The current point, in degrees, and which parts of it were read. */
let latitude: f64 = 0;
let longitude: f64 = 0;
let pointParts: u32 = 0;
const HAS_LATITUDE: u32 = 1;
const HAS_LONGITUDE: u32 = 2;
const MAX_LATITUDE: f64 = 90;
const MAX_LONGITUDE: f64 = 180;

/** `"lat` and `"lon` as they are in memory. */
const LAT_WORD: u32 = 0x7461_6c22;
const LON_WORD: u32 = 0x6e6f_6c22;

function readPointObject(start: usize): usize {
  let address = start;
  let following: u8 = 0x2c;
  while (following === 0x2c) {
    address = skipSpace(address);
    const word = load<u32>(address);
    if ((word !== LAT_WORD && word !== LON_WORD) || load<u8>(address, 4) !== 0x22) return 0;
    address = skipSpace(address + 5);
    if (load<u8>(address) !== 0x3a) return 0;
    address = readPointPart(skipSpace(address + 1), word === LAT_WORD ? HAS_LATITUDE : HAS_LONGITUDE);
    if (address === 0) return 0;
    following = load<u8>(address++);
  }
  return following === 0x7d ? address : 0;
}

function readPointArray(start: usize): usize {
  let address = readPointPart(skipSpace(start), HAS_LONGITUDE);
  if (address === 0 || load<u8>(address) !== 0x2c) return 0;
  address = readPointPart(skipSpace(address + 1), HAS_LATITUDE);
  return address !== 0 && load<u8>(address) === 0x5d ? address + 1 : 0;
}

/** Reads a number and the white space after it; 0 if the host must, or the part was read before. */
function readPointPart(address: usize, part: u32): usize {
  const next = readNumber(address);
  if (next === 0 || !isExact() || (pointParts & part) !== 0) return 0;
  pointParts |= part;
  if (part === HAS_LATITUDE) latitude = numberValue();
  else longitude = numberValue();
  return skipSpace(next);
}
