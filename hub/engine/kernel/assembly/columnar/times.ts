/** Times as YYYY-MM-DDTHH:MM:SS.mmmZ. The twin is stored/columnar/value-kinds.ts. */

/** Length of a time. */
export const TIME_BYTES: u32 = 24;
/** What `readTime` returns for everything else. */
export const NO_TIME: i64 = i64.MIN_VALUE;

const DAY_MS: i64 = 86_400_000;
/** Days of the months of a year that isn't a leap year, less 28: two bits each, January lowest. */
const MORE_DAYS: u32 = 0b11_10_11_10_11_11_10_11_10_11_00_11;

/** Milliseconds since 1970 of a time of the proleptic Gregorian calendar, of which no other text is written. */
export function readTime(from: usize): i64 {
  if (load<u8>(from, 4) !== 0x2d || load<u8>(from, 7) !== 0x2d || load<u8>(from, 10) !== 0x54) return NO_TIME;
  if (load<u8>(from, 13) !== 0x3a || load<u8>(from, 16) !== 0x3a) return NO_TIME;
  if (load<u8>(from, 19) !== 0x2e || load<u8>(from, 23) !== 0x5a) return NO_TIME;
  const year = digits(from, 4);
  const month = digits(from + 5, 2);
  const day = digits(from + 8, 2);
  const hour = digits(from + 11, 2);
  const minute = digits(from + 14, 2);
  const second = digits(from + 17, 2);
  const ms = digits(from + 20, 3);
  if (year < 1 || month < 1 || month > 12 || hour < 0 || hour > 23 || ms < 0) return NO_TIME;
  if (minute < 0 || minute > 59 || second < 0 || second > 59) return NO_TIME;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = 28 + ((MORE_DAYS >>> (2 * (month - 1))) & 3) + (month === 2 && isLeap ? 1 : 0);
  if (day < 1 || day > days) return NO_TIME;
  return daysBefore(year, month, day) * DAY_MS + (((hour * 60 + minute) * 60 + second) * 1000 + ms);
}

/** The number that is written in `count` digits; negative where one of them is none. */
function digits(from: usize, count: u32): i32 {
  let value: i32 = 0;
  for (let address = from; address < from + count; address++) {
    const digit = (load<u8>(address) as u32) - 0x30;
    if (digit > 9) return -1;
    value = value * 10 + (digit as i32);
  }
  return value;
}

/** Days from 1970-01-01 to a day. */
function daysBefore(year: i32, month: i32, day: i32): i64 {
  const shifted = month <= 2 ? year - 1 : year;
  const era = shifted / 400;
  const yearOfEra = shifted - era * 400;
  const dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return (era * 146_097 + dayOfEra - 719_468) as i64;
}
