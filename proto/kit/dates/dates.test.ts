import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { civilTime, utcTime } from "./civil-time.ts";
import { JAVA, JODA, monthNames, type PatternDialect } from "./date-pattern.ts";
import { compilePrinter } from "./date-printer.ts";
import { compileReader } from "./date-reader.ts";
import { UTC } from "./time-zone.ts";

const EXACT: PatternDialect = { ...JODA, exactWidths: true };

function read(text: string, pattern: string, dialect = JODA): string | null {
  const fields = compileReader(pattern, dialect, 1970)(text);
  if (fields === undefined) return null;
  const time = utcTime(fields, civilTime(fields, 1970), UTC);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

suite("date patterns", () => {
  for (const [pattern, text, iso] of [
    ["dd/MMM/yyyy:HH:mm:ss Z", "17/May/2015:10:05:03 +0200", "2015-05-17T08:05:03.000Z"],
    ["yyyyMMddHHmmssSSS", "20150517100503123", "2015-05-17T10:05:03.123Z"],
    ["yyyy-MM-dd'T'HH:mm", "2015-05-17t10:05", "2015-05-17T10:05:00.000Z"],
    ["d MMM yy", "7 Sept 69", "2069-09-07T00:00:00.000Z"],
    ["d MMM yy", "7 September 70", "1970-09-07T00:00:00.000Z"],
    ["d.MMM.yyyy", "7.Sep.1970", "1970-09-07T00:00:00.000Z"],
    ["E d MMM yyyy", "Mon. 7 Sep. 1970", "1970-09-07T00:00:00.000Z"],
    ["yyyy-DDD", "2024-366", "2024-12-31T00:00:00.000Z"],
    ["yyyy-DDD", "2023-366", null],
    ["xxxx-'W'ww-e", "2020-W53-5", "2021-01-01T00:00:00.000Z"],
    ["xxxx-'W'ww", "2021-W53", null],
    ["yyyy-MM-dd kk:mm", "2024-02-29 24:10", "2024-02-29T00:10:00.000Z"],
    ["yyyy-MM-dd HH:mm", "2024-02-29 24:10", null],
    ["yyyy-MM-dd", "2023-02-29", null],
    ["yyyy G", "44 BC", "-000043-01-01T00:00:00.000Z"],
    ["yyyy-MM-dd HH:mm z", "2024-07-01 12:00 Europe/Berlin", "2024-07-01T10:00:00.000Z"],
    ["yyyy-MM-dd HH:mm z", "2024-07-01 12:00 Mars/Base", null],
    ["hh:mm a", "12:30 am", "1970-01-01T00:30:00.000Z"],
  ] as const) {
    test(`${pattern} reads ${text} as ${iso}`, () => assert.equal(read(text, pattern), iso));
  }

  for (const [pattern, text, iso] of [
    ["Hmm", "930", "1970-01-01T09:30:00.000Z"],
    ["Hmm", "1230", "1970-01-01T12:30:00.000Z"],
    ["HH:mm", "9:30", null],
    ["yyyy", "20245", null],
  ] as const) {
    test(`with exact widths ${pattern} reads ${text} as ${iso}`, () =>
      assert.equal(read(text, pattern, EXACT), iso));
  }

  test("names are read in every spelling of their language and printed in its usual one", () => {
    const french = { ...JODA, locale: "fr_FR" };
    for (const text of ["6 déc. 2000", "6 déc 2000", "6 décembre 2000", "6 DÉCEMBRE 2000"])
      assert.equal(read(text, "d MMM yyyy", french), "2000-12-06T00:00:00.000Z", text);
    assert.equal(compilePrinter("E d MMMM", french)(Date.UTC(2000, 11, 6)), "mer 6 décembre");
  });

  test("the names of a language are made once, however often a pattern has them", () => {
    assert.equal(monthNames("pt-BR"), monthNames("pt-BR"));
    assert.throws(() => monthNames("no locale"), RangeError);
  });

  test("the last days of a year are printed in the week and the year that they belong to", () => {
    assert.equal(compilePrinter("xxxx-'W'ww-e D", JODA)(Date.UTC(2024, 11, 30)), "2025-W01-1 365");
  });

  test("quarters, months and days of the week have the text forms of java.time in its dialect only", () => {
    const printed = (pattern: string, dialect: PatternDialect): string =>
      compilePrinter(pattern, dialect)(Date.UTC(2024, 11, 30));
    const rows: [pattern: string, java: string][] = [
      ["Q QQ QQQ QQQQ QQQQQ", "4 04 Q4 4th quarter 4"],
      ["q qq qqq qqqq qqqqq", "4 04 Q4 4th quarter 4"],
      ["e ee eee eeee eeeee", "1 01 Mon Monday M"],
      ["E EE EEE EEEE EEEEE", "Mon Mon Mon Monday M"],
      ["M MM MMM MMMM MMMMM", "12 12 Dec December D"],
      ["L LL LLL LLLL LLLLL", "12 12 Dec December D"],
    ];
    for (const [pattern, java] of rows) assert.equal(printed(pattern, JAVA), java);
    assert.equal(compilePrinter("QQQQ", JAVA)(Date.UTC(2024, 0, 1)), "1st quarter");
    assert.equal(printed("eee EEEEE MMMMM", JODA), "001 Monday December");
  });

  test("a pattern that means nothing is refused with the place", () => {
    assert.throws(() => compileReader("yyyy-QQ", JODA, 1970), { message: /unknown letter "Q"/ });
    assert.throws(() => compilePrinter("yyyy 'T", JODA), { message: /quote at 6 is never closed/ });
    assert.throws(() => compileReader("MMM", { ...JODA, locale: "no locale" }, 1970), {
      message: /there is no locale "no locale"/,
    });
  });
});
