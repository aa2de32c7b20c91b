import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseDateMath, printDate, timeZone } from "./date-math.ts";
import { calendarRounding, fixedRounding } from "./rounding.ts";

const NOW = Date.parse("2018-11-14T10:20:30.400Z");
const FORMAT = "strict_date_optional_time||epoch_millis";

/** [text, round up, zone, result] */
const MATH: readonly (readonly [text: string, roundUp: boolean, zone: string, result: string])[] = [
  ["now", false, "UTC", "2018-11-14T10:20:30.400Z"],
  ["now-1d", false, "UTC", "2018-11-13T10:20:30.400Z"],
  ["now/d", false, "UTC", "2018-11-14T00:00:00.000Z"],
  ["now/d", true, "UTC", "2018-11-14T23:59:59.999Z"],
  ["now-1M/M", false, "UTC", "2018-10-01T00:00:00.000Z"],
  ["now/w", false, "UTC", "2018-11-12T00:00:00.000Z"],
  ["now/d", false, "+05:30", "2018-11-13T18:30:00.000Z"],
  ["2018-11-14", true, "UTC", "2018-11-14T23:59:59.999Z"],
  ["2018-11", true, "UTC", "2018-11-01T23:59:59.999Z"],
  ["2018", true, "UTC", "2018-01-01T23:59:59.999Z"],
  ["2018-11-14T10", true, "UTC", "2018-11-14T10:59:59.999Z"],
  ["2018-11-14T10:20:30", true, "UTC", "2018-11-14T10:20:30.999Z"],
  ["2018-11-14", false, "Europe/Berlin", "2018-11-13T23:00:00.000Z"],
  ["2018-11-14T00:00:00Z", false, "Europe/Berlin", "2018-11-14T00:00:00.000Z"],
  ["2018-01-31||+1M", false, "UTC", "2018-02-28T00:00:00.000Z"],
  ["2018-01-31||+1M/M", false, "UTC", "2018-02-01T00:00:00.000Z"],
  ["1542190830400", false, "Europe/Berlin", "2018-11-14T10:20:30.400Z"],
  // Hours pass by, also where the clocks change; days are those of the clocks.
  ["2018-03-25T00:30:00Z||+1h", false, "Europe/Berlin", "2018-03-25T01:30:00.000Z"],
  ["2018-03-25T01:00||+2h-1s", false, "Europe/Berlin", "2018-03-25T01:59:59.000Z"],
  ["2018-10-28T01:30:00Z||+0m", false, "Europe/Berlin", "2018-10-28T01:30:00.000Z"],
  ["2018-10-28T01:30:00Z||/h", false, "Europe/Berlin", "2018-10-28T01:00:00.000Z"],
  ["2018-10-28T01:30:00Z||/h", true, "Europe/Berlin", "2018-10-28T01:59:59.999Z"],
  ["2018-10-28T01:30:00Z||/d", true, "Europe/Berlin", "2018-10-28T22:59:59.999Z"],
  ["2018-10-29T01:30:00Z||-1d", false, "Europe/Berlin", "2018-10-28T01:30:00.000Z"],
  ["2018-03-24T01:30:00Z||+1d", false, "Europe/Berlin", "2018-03-25T01:30:00.000Z"],
];

describe("date math", () => {
  for (const [text, roundUp, zone, result] of MATH) {
    test(`${text} in ${zone} ${roundUp ? "rounded up " : ""}is ${result}`, () => {
      const timeMs = parseDateMath(text, { format: FORMAT, nowMs: NOW, zone: timeZone(zone), roundUp });
      assert.equal(new Date(timeMs).toISOString(), result);
    });
  }

  for (const [text, format, last] of [
    ["29/03/2015", "dd/MM/yyyy", "2015-03-29T23:59:59.999Z"],
    ["201503", "yyyyMM", "2015-03-01T23:59:59.999Z"],
    ["20150329", "basic_date", "2015-03-29T23:59:59.999Z"],
    ["29.03.2015 10", "dd.MM.yyyy HH", "2015-03-29T10:59:59.999Z"],
    ["03/29/2015 10:20 PM", "MM/dd/yyyy hh:mm a", "2015-03-29T22:20:59.999Z"],
    ["29 at 10, 3/2015", "dd 'at' H, M/yyyy", "2015-03-29T10:59:59.999Z"],
    ["1427587200", "epoch_second", "2015-03-29T00:00:00.000Z"],
    ["29/03/2015", "yyyy||dd/MM/yyyy", "2015-03-29T23:59:59.999Z"],
  ] as const) {
    test(`${text} in ${format} is rounded up to ${last}`, () => {
      const timeMs = parseDateMath(text, { format, nowMs: NOW, zone: timeZone("UTC"), roundUp: true });
      assert.equal(new Date(timeMs).toISOString(), last);
    });
  }

  test("refuses unknown units", () => {
    for (const text of ["now-", "now-1x", "now/2d", "soon", "2018-13-01", "2018-11-14||x"]) {
      assert.throws(
        () => parseDateMath(text, { format: FORMAT, nowMs: NOW, zone: timeZone("UTC"), roundUp: false }),
        { code: "parsing" },
        text,
      );
    }
  });

  test("prints in the requested zone", () => {
    assert.equal(printDate(NOW, FORMAT, timeZone("Europe/Berlin")), "2018-11-14T11:20:30.400+01:00");
    assert.equal(printDate(NOW, "yyyy-MM-dd HH:mm", timeZone("-05:00")), "2018-11-14 05:20");
    assert.equal(printDate(NOW, "epoch_millis", timeZone("Europe/Berlin")), String(NOW));
  });
});

describe("time zones", () => {
  test("handle both sides of a change, the skipped hour and the repeated one", () => {
    const berlin = timeZone("Europe/Berlin");
    assert.equal(berlin.offsetAt(Date.parse("2018-03-25T00:59:59.999Z")), 3_600_000);
    assert.equal(berlin.offsetAt(Date.parse("2018-03-25T01:00:00Z")), 7_200_000);
    assert.equal(berlin.toUtc(Date.parse("2018-03-25T02:30:00Z")), Date.parse("2018-03-25T01:00:00Z"));
    assert.equal(berlin.toUtc(Date.parse("2018-10-28T02:30:00Z")), Date.parse("2018-10-28T00:30:00Z"));
    assert.equal(timeZone("Australia/Lord_Howe").offsetAt(Date.parse("2018-07-01")), 10.5 * 3_600_000);
  });

  test("that don't exist are refused", () => {
    assert.throws(() => timeZone("Mars/Base"), { code: "request_invalid" });
  });
});

describe("rounding", () => {
  test("holds for every time: floor(t) <= t < next(floor(t)), and buckets don't move within themselves", () => {
    const start = Date.parse("2018-03-20T00:00:00Z");
    for (const zone of ["UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kathmandu", "+05:45"].map(
      timeZone,
    )) {
      const all = [
        ...(["minute", "hour", "day", "week", "month", "quarter", "year"] as const).map((unit) =>
          calendarRounding(unit, zone),
        ),
        fixedRounding(5_400_000, zone),
        fixedRounding(43_200_000, zone),
      ];
      for (const [at, rounding] of all.entries()) {
        for (let timeMs = start; timeMs < start + 10 * 86_400_000; timeMs += 1_234_567) {
          const floor = rounding.floor(timeMs);
          assert.ok(
            floor <= timeMs && timeMs < rounding.next(floor),
            `${zone.name} ${at} ${new Date(timeMs).toISOString()}`,
          );
          assert.equal(rounding.floor(floor), floor);
        }
      }
    }
  });
});

for (const [minutes, time, start, next, why] of [
  [20, "2018-10-28T01:45Z", "2018-10-28T01:40Z", "2018-10-28T02:00Z", "the second 02:40"],
  [20, "2018-10-28T00:45Z", "2018-10-28T00:40Z", "2018-10-28T01:00Z", "the first 02:40"],
  [120, "2018-10-28T01:10Z", "2018-10-28T01:00Z", "2018-10-28T03:00Z", "the second 02:00"],
  [180, "2018-10-28T01:10Z", "2018-10-27T22:00Z", "2018-10-28T02:00Z", "a bucket across the change"],
  [
    70,
    "2018-10-28T01:15Z",
    "2018-10-28T00:40Z",
    "2018-10-28T01:40Z",
    "the second 02:15 in the bucket of the first 02:40",
  ],
  [120, "2018-03-25T01:10Z", "2018-03-25T01:00Z", "2018-03-25T02:00Z", "the 02:00 that is skipped"],
  [90, "2018-03-25T01:10Z", "2018-03-25T01:00Z", "2018-03-25T02:30Z", "the 03:00 after it"],
] as const) {
  test(`rounds to ${minutes} minutes of Berlin: ${why}`, () => {
    const rounding = fixedRounding(minutes * 60_000, timeZone("Europe/Berlin"));
    const floor = rounding.floor(Date.parse(time));
    assert.equal(new Date(floor).toISOString(), new Date(start).toISOString());
    assert.equal(new Date(rounding.next(floor)).toISOString(), new Date(next).toISOString());
  });
}
