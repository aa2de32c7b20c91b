import assert from "node:assert/strict";
import { test } from "node:test";
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

for (const text of [
  "Nov 29 02:10:00 app[12]: no priority, so no host is missing",
  "Nov 29 02:10:00.123 web-1 su: no priority",
  "<13>Nov 31 2026 02:10:00 web-1 a: no such day",
  "<999>Nov 29 02:10:00 web-1 a: no such priority",
  "<13>Nov 29 02:10:00 fe80::1: an address is no tag",
  "<13>hello",
])
  test(`other lines are none of syslog: ${text}`, () => assert.equal(read(text), null));
