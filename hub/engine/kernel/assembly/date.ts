/** ISO 8601 dates as programs write them. The twin is mapping/date-format.ts. */

/** ms since 1970 of the date that was read last. */
export let timeMs: i64 = 0;

/** Digits of a fraction that are cut to milliseconds without rounding. */
const FRACTION_DIGITS: u32 = 6;

/**
 * Reads `2024-01-31T23:59:59`, with or without a fraction of up to six digits and with or without a zone (Z, +01:00,
 * +0100). Returns false for every other shape, which may yet be a date.
 */
export function readDate(text: usize, count: u32): bool {
  if (count < 19 || load<u8>(text, 4) !== 0x2d || load<u8>(text, 7) !== 0x2d || load<u8>(text, 10) !== 0x54)
    return false;
  if (load<u8>(text, 13) !== 0x3a || load<u8>(text, 16) !== 0x3a) return false;
  isDigits = true;
  const year = pair(text) * 100 + pair(text + 2);
  const month = pair(text + 5);
  const day = pair(text + 8);
  const hour = pair(text + 11);
  const minute = pair(text + 14);
  const second = pair(text + 17);
  if (!isDigits || month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return false;
  if (hour > 23 || minute > 59 || second > 59) return false;
  const seconds =
    (((daysFromCivil(year, month, day) * 24 + hour) * 60 + minute) as i64) * 60 + (second as i64);
  timeMs = seconds * 1000;
  return readRest(text, 19, count);
}

/** Fraction and zone. */
function readRest(text: usize, from: u32, count: u32): bool {
  let offset = from;
  if (offset < count && load<u8>(text + offset) === 0x2e) {
    let digits: u32 = 0;
    let milli: u32 = 0;
    for (offset++; offset < count; offset++) {
      const digit = (load<u8>(text + offset) as u32) - 48;
      if (digit > 9) break;
      if (digits++ < 3) milli = milli * 10 + digit;
    }
    if (digits === 0 || digits > FRACTION_DIGITS) return false;
    for (let missing = digits; missing < 3; missing++) milli *= 10;
    timeMs += milli as i64;
  }
  if (offset === count) return true;
  const sign = load<u8>(text + offset++);
  if (sign === 0x5a) return offset === count;
  if (sign !== 0x2b && sign !== 0x2d) return false;
  const hasColon = count - offset === 5 && load<u8>(text + offset + 2) === 0x3a;
  if (count - offset !== 4 && !hasColon) return false;
  const minutes = pair(text + offset) * 60 + pair(text + offset + (hasColon ? 3 : 2));
  if (!isDigits) return false;
  timeMs += ((sign === 0x2d ? minutes : -minutes) as i64) * 60_000;
  return true;
}

let isDigits: bool = true;

/** Number of two digits. */
function pair(text: usize): i32 {
  const high = (load<u8>(text) as u32) - 48;
  const low = (load<u8>(text, 1) as u32) - 48;
  if (high > 9 || low > 9) isDigits = false;
  return (high * 10 + low) as i32;
}

function daysOf(year: i32, month: i32): i32 {
  if (month !== 2) return 30 + ((month + (month >> 3)) & 1);
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** Days since 1970-01-01 (H. Hinnant, "chrono-compatible low-level date algorithms"), of years 0..9999. */
function daysFromCivil(year: i32, month: i32, day: i32): i32 {
  const y = (month <= 2 ? year - 1 : year) + 400;
  const era = y / 400;
  const yearOfEra = y - era * 400;
  const dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return (era - 1) * 146_097 + dayOfEra - 719_468;
}
