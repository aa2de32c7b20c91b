import assert from "node:assert/strict";
import { test } from "node:test";
import { parseStructuredData } from "./structured-data.ts";
import { SyslogLine } from "./syslog.ts";
import { LocalTime } from "./time.ts";

const READ_MS = Date.UTC(2026, 10, 29, 12);

interface Read {
  readonly time: string;
  readonly host: string | undefined;
  readonly process: string | undefined;
  readonly pid: string | undefined;
  readonly message: string | undefined;
}

/** Returns what is read of a line; null if it isn't syslog. */
function read(text: string): Read | null {
  const bytes = Buffer.from(text);
  const line = new SyslogLine(new LocalTime());
  if (!line.read(bytes, 0, bytes.length, READ_MS)) return null;
  const of = ({ start, end }: { start: number; end: number }): string | undefined =>
    start < 0 ? undefined : bytes.toString("utf8", start, end);
  const { host, process, pid, message } = line;
  // Civil times are the process's.
  const time = new Date(line.timeMs - new Date(line.timeMs).getTimezoneOffset() * 60_000).toISOString();
  return { time, host: of(host), process: of(process), pid: of(pid), message: of(message) };
}

for (const [sender, text, expected] of [
  ["rsyslog", "<13>Nov 29 02:10:00 web-1 app[12]: hi", ["02:10:00.000", "web-1", "app", "12", "hi"]],
  ["a local socket", "<13>Nov 29 02:10:00 app[12]: hi", ["02:10:00.000", undefined, "app", "12", "hi"]],
  [
    "pfSense",
    "<134>Nov 29 02:10:00 filterlog: 5,,,",
    ["02:10:00.000", undefined, "filterlog", undefined, "5,,,"],
  ],
  [
    "a sender with fractions of seconds",
    "<34>Nov 29 02:10:00.123 web-1 su: failed",
    ["02:10:00.123", "web-1", "su", undefined, "failed"],
  ],
  [
    "a sender with a day of one digit",
    "<34>Nov 9 02:10:00 web-1 su: failed",
    ["02:10:00.000", "web-1", "su", undefined, "failed"],
  ],
  [
    "Cisco ASA",
    "<166>Nov 29 2026 02:10:00 fw01 : %ASA-6-302013: Built",
    ["02:10:00.000", "fw01", undefined, undefined, "%ASA-6-302013: Built"],
  ],
  [
    "Cisco ASA without a host",
    "<166>Nov 29 2026 02:10:00: %ASA-6-302013: Built",
    ["02:10:00.000", undefined, undefined, undefined, "%ASA-6-302013: Built"],
  ],
  [
    "Cisco IOS",
    "<189>29: *Nov 29 02:10:00.123: %SYS-5-CONFIG_I: Configured",
    ["02:10:00.123", undefined, undefined, undefined, "%SYS-5-CONFIG_I: Configured"],
  ],
  [
    "a sender whose text begins with a colon after its tag",
    "<13>Nov 29 02:10:00 web-1 app: :smile: hi",
    ["02:10:00.000", "web-1", "app", undefined, ":smile: hi"],
  ],
  [
    "a sender whose text begins with an address after its tag",
    "<13>Nov 29 02:10:00 web-1 app[3]: ::1 connected",
    ["02:10:00.000", "web-1", "app", "3", "::1 connected"],
  ],
  [
    "a sender whose text begins with a colon and that has no tag",
    "<13>Nov 29 02:10:00 web-1 :irc.x PRIVMSG",
    ["02:10:00.000", "web-1", undefined, undefined, ":irc.x PRIVMSG"],
  ],
  [
    "a device whose text begins with a colon after its tag",
    "<13>Nov 29 2026 02:10:00 fw01 app: : hi",
    ["02:10:00.000", "fw01", "app", undefined, ": hi"],
  ],
  [
    "a device whose text begins with a word after a colon",
    "<13>Nov 29 2026 02:10:00 fw01 :irc.x PRIVMSG",
    ["02:10:00.000", "fw01", undefined, undefined, ":irc.x PRIVMSG"],
  ],
  [
    "Cisco ASA with ISO times",
    "<166>2026-11-29T02:10:00 fw01 : %ASA-6-302013: Built",
    ["02:10:00.000", "fw01", undefined, undefined, "%ASA-6-302013: Built"],
  ],
  [
    "Cisco ASA with a colon in the place of a host",
    "<166>Nov 29 2026 02:10:00 : %ASA-6-302013: Built",
    ["02:10:00.000", undefined, undefined, undefined, "%ASA-6-302013: Built"],
  ],
  [
    "Cisco IOS with its name",
    "<189>30: 29: sw-1: *Nov 29 02:10:00.123: %SYS-5-CONFIG_I: Configured",
    ["02:10:00.123", "sw-1", undefined, undefined, "%SYS-5-CONFIG_I: Configured"],
  ],
  [
    "a switch that writes months in capitals",
    "<190>NOV 29 02:10:00 192.168.33.8-1 CMDLOGGER[165319912]: text",
    ["02:10:00.000", "192.168.33.8-1", "CMDLOGGER", "165319912", "text"],
  ],
  [
    "a sender with a space behind the priority",
    "<167> Nov  9 02:10:00 web-1 app: hi",
    ["02:10:00.000", "web-1", "app", undefined, "hi"],
  ],
  [
    "a sender with an ISO time and no tag",
    "<14>2026-11-29T02:10:00 esx01 text without a tag",
    ["02:10:00.000", "esx01", undefined, undefined, "text without a tag"],
  ],
  [
    "a sender of CEF",
    "<14>Nov 29 02:10:00 fw01 CEF:0|Vendor|Product|1.0|100|name|5|src=1.2.3.4",
    ["02:10:00.000", "fw01", undefined, undefined, "CEF:0|Vendor|Product|1.0|100|name|5|src=1.2.3.4"],
  ],
  [
    "a sender of CEF without a host",
    "<14>Nov 29 02:10:00 CEF:0|Vendor|Product|1.0|100|name|5|src=1.2.3.4",
    ["02:10:00.000", undefined, undefined, undefined, "CEF:0|Vendor|Product|1.0|100|name|5|src=1.2.3.4"],
  ],
  [
    "a sender of LEEF into a file",
    "Nov 29 02:10:00 fw01 LEEF:1.0|Vendor|Product|1.0|100|src=1.2.3.4",
    ["02:10:00.000", "fw01", undefined, undefined, "LEEF:1.0|Vendor|Product|1.0|100|src=1.2.3.4"],
  ],
] as const)
  test(`syslog of ${sender} is read`, () => {
    const found = read(text);
    assert.ok(found !== null);
    const { time, host, process, pid, message } = found;
    assert.match(time, /^2026-11-(?:29|09)T/);
    assert.deepEqual([time.slice(11, 23), host, process, pid, message], expected);
  });

for (const [head, expectedMs] of [
  ["7: Nov 29 2026 02:10:00.5 UTC", Date.UTC(2026, 10, 29, 2, 10, 0, 500)],
  ["*Nov 29 02:10:00.5 UTC", Date.UTC(2026, 10, 29, 2, 10, 0, 500)],
  ["Dec 31 02:10:00 GMT", Date.UTC(2025, 11, 31, 2, 10)],
] as const)
  test(`the time of a device in UTC is read as that: ${head}`, () => {
    const bytes = Buffer.from(`<189>${head}: %LINK-3-UPDOWN: up`);
    const line = new SyslogLine(new LocalTime());
    assert.equal(line.read(bytes, 0, bytes.length, READ_MS), true);
    assert.equal(line.timeMs, expectedMs);
  });

for (const head of ["2026-11-29T02:10:00.5", "2026-11-29 02:10:00.500"])
  test(`a time without a zone behind a priority is the process's: ${head}`, () => {
    const found = read(`<13>${head} web-1 app: hi`);
    assert.deepEqual([found?.time, found?.host], ["2026-11-29T02:10:00.500Z", "web-1"]);
  });

test("an event format stands in the place of a tag behind an ISO time", () => {
  const found = read("2026-11-29T02:10:00Z fw01 CEF:0|Vendor|Product|1.0|100|name|5|");
  assert.deepEqual([found?.host, found?.message], ["fw01", "CEF:0|Vendor|Product|1.0|100|name|5|"]);
});

test("structured data with spaces where the standard's examples have them is read", () => {
  const text = '[ a@1 iut="3" source= "Application"][b@1 class="high" ]';
  assert.deepEqual(parseStructuredData(text), {
    "a@1": { iut: "3", source: "Application" },
    "b@1": { class: "high" },
  });
});

for (const text of [
  "2026-11-29 02:10:00 web-1 app: no priority, so no zone is missing",
  "<13>app: Nov 29 02:10:00 isn't a device's time",
  "Nov 29 02:10:00 app[12]: no priority, so no host is missing",
  "Nov 29 02:10:00.123 web-1 su: no priority",
  "<13>Nov 31 2026 02:10:00 web-1 a: no such day",
  "<999>Nov 29 02:10:00 web-1 a: no such priority",
  "<13>Nov 29 02:10:00 fe80::1: an address isn't a tag",
  "<13>hello",
])
  test(`other lines are none of syslog: ${text}`, () => assert.equal(read(text), null));
