/** Reads points of geo_point fields. Judged by documents/values.ts. */

import { isExact, numberValue, readNumber, skipSpace } from "./json";
import { ACTION_POINT, ENTRY_NUMBER, ENTRY_START, NODE_TARGETS } from "./layout";
import { leaveToHost } from "./object";
import { NULL_WORD } from "./scalar";
import { pushEntry } from "./tape";

/** Reads a point into the tape: an object of two numbers, or two in an array, longitude first. Others are the host's. */
export function readPoint(node: usize, place: usize, depth: u32): usize {
  const byte = load<u8>(place);
  if (load<u32>(place) === NULL_WORD) return place + 4;
  pointParts = 0;
  const next = byte === 0x7b ? readPointObject(place + 1) : byte === 0x5b ? readPointArray(place + 1) : 0;
  if (
    next === 0 ||
    pointParts !== (HAS_LATITUDE | HAS_LONGITUDE) ||
    abs(latitude) > MAX_LATITUDE ||
    abs(longitude) > MAX_LONGITUDE
  )
    return leaveToHost(node, place, depth);
  const entry = pushEntry(load<u32>(node, NODE_TARGETS), ACTION_POINT, place, next);
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

/** `"lat` and `"lon` as they stand in memory. */
const LAT_WORD: u32 = 0x7461_6c22;
const LON_WORD: u32 = 0x6e6f_6c22;

function readPointObject(start: usize): usize {
  let place = start;
  let following: u8 = 0x2c;
  while (following === 0x2c) {
    place = skipSpace(place);
    const word = load<u32>(place);
    if ((word !== LAT_WORD && word !== LON_WORD) || load<u8>(place, 4) !== 0x22) return 0;
    place = skipSpace(place + 5);
    if (load<u8>(place) !== 0x3a) return 0;
    place = readPointPart(skipSpace(place + 1), word === LAT_WORD ? HAS_LATITUDE : HAS_LONGITUDE);
    if (place === 0) return 0;
    following = load<u8>(place++);
  }
  return following === 0x7d ? place : 0;
}

function readPointArray(start: usize): usize {
  let place = readPointPart(skipSpace(start), HAS_LONGITUDE);
  if (place === 0 || load<u8>(place) !== 0x2c) return 0;
  place = readPointPart(skipSpace(place + 1), HAS_LATITUDE);
  return place !== 0 && load<u8>(place) === 0x5d ? place + 1 : 0;
}

/** Reads a number and the white space after it; 0 if the host must, or the part was read before. */
function readPointPart(place: usize, part: u32): usize {
  const next = readNumber(place);
  if (next === 0 || !isExact() || (pointParts & part) !== 0) return 0;
  pointParts |= part;
  if (part === HAS_LATITUDE) latitude = numberValue();
  else longitude = numberValue();
  return skipSpace(next);
}
