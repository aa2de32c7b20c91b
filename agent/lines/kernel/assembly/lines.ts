/**
 * Counts line ends and packs plain lines, sixteen bytes at a time. Written in AssemblyScript; `build.ts` compiles it. Its
 * oracle in tests is test/oracles/line-kernel.ts.
 */

const LINE_FEED: u8 = 0x0a;
const CARRIAGE_RETURN: u8 = 0x0d;
/** Bytes looked at together. */
const STEP: usize = 16;

/** Tags of log.proto: field number << 3 | wire type. */
const BLOCK_EVENTS: u8 = 0x4a;
const EVENT_OFFSET: u8 = 0x08;
const EVENT_MESSAGE: u8 = 0x1a;
const EVENT_LENGTH: u8 = 0x28;

/** Why `pack` stopped: no further line end; a line that it can't pack or that doesn't fit; a line that the caller must check. */
const END: i32 = 0;
const STOPPED: i32 = 1;
const SUSPECT: i32 = 2;

/** What `pack` leaves: where it stopped in the text, where what it wrote ends, how many events that is. */
export let place: usize = 0;
export let target: usize = 0;
export let events: u32 = 0;

/** Returns the number of line feeds in bytes `start` to `end`. */
export function count(start: usize, end: usize): u32 {
  const feeds = i8x16.splat(LINE_FEED);
  let found: u32 = 0;
  let at = start;
  for (; at + STEP <= end; at += STEP) found += popcnt(i8x16.bitmask(i8x16.eq(v128.load(at), feeds)));
  for (; at < end; at++) found += u32(load<u8>(at) == LINE_FEED);
  return found;
}

/**
 * Writes the lines of bytes `start` to `end` as events, from `to` up to `limit`, both within one memory and apart.
 * `offset`: of `start` in the file. It stops before a line without an end, one of more than `maxBytes`, one that begins
 * with NUL, one that doesn't fit below `limit`, and one whose end is after `suspect`. Returns which of them it was.
 */
export function pack(
  start: usize,
  end: usize,
  to: usize,
  limit: usize,
  offset: f64,
  stripsReturn: bool,
  maxBytes: u32,
  suspect: usize,
): i32 {
  const base = u64(offset) - u64(start);
  place = start;
  target = to;
  events = 0;
  while (place < end) {
    const feed = lineFeed(place, end);
    if (feed == end) return END;
    if (feed > suspect) return SUSPECT;
    const length = u32(feed + 1 - place);
    if (length > maxBytes || load<u8>(place) == 0) return STOPPED;
    const strips = stripsReturn && feed > place && load<u8>(feed - 1) == CARRIAGE_RETURN;
    const textBytes = u32(feed - place) - u32(strips);
    if (!append(base + u64(place), textBytes, length, limit)) return STOPPED;
    place += length;
  }
  return END;
}

/** Returns where the next line feed is, or `end`. */
function lineFeed(from: usize, end: usize): usize {
  const feeds = i8x16.splat(LINE_FEED);
  let at = from;
  for (; at + STEP <= end; at += STEP) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(at), feeds));
    if (found != 0) return at + ctz(found);
  }
  for (; at < end; at++) if (load<u8>(at) == LINE_FEED) return at;
  return end;
}

/** Writes one event; an empty line needs none. Returns false if it doesn't fit. */
function append(offset: u64, textBytes: u32, length: u32, limit: usize): bool {
  if (textBytes == 0) return true;
  const size = numberSize(offset) + 1 + varintSize(textBytes) + textBytes + numberSize(length);
  if (target + 1 + varintSize(size) + size > limit) return false;
  store<u8>(target, BLOCK_EVENTS);
  let at = putVarint(target + 1, size);
  at = putNumber(at, EVENT_OFFSET, offset);
  store<u8>(at, EVENT_MESSAGE);
  at = putVarint(at + 1, textBytes);
  copy(at, place, textBytes);
  target = putNumber(at + textBytes, EVENT_LENGTH, length);
  events++;
  return true;
}

/** Lines are short: a loop is quicker than the call that memory.copy is. */
function copy(to: usize, from: usize, bytes: usize): void {
  let done: usize = 0;
  for (; done + STEP <= bytes; done += STEP) v128.store(to + done, v128.load(from + done));
  if (done == bytes) return;
  if (bytes >= STEP) v128.store(to + bytes - STEP, v128.load(from + bytes - STEP));
  else for (; done < bytes; done++) store<u8>(to + done, load<u8>(from + done));
}

@inline
function numberSize(value: u64): u32 {
  return value == 0 ? 0 : 1 + varintSize(value);
}

@inline
function varintSize(value: u64): u32 {
  return (70 - u32(clz(value | 1))) / 7;
}

function putNumber(at: usize, tag: u8, value: u64): usize {
  if (value == 0) return at;
  store<u8>(at, tag);
  return putVarint(at + 1, value);
}

@inline
function putVarint(at: usize, value: u64): usize {
  while (value >= 0x80) {
    store<u8>(at++, u8(value) | 0x80);
    value >>= 7;
  }
  store<u8>(at, u8(value));
  return at + 1;
}
