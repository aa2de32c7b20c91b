import assert from "node:assert/strict";
import { test } from "node:test";
import { binaryKind } from "./text-probe.ts";

const TEXT = Buffer.from("one line of text\n");

for (const [path, isRecord] of [
  ["/var/log/wtmp", true],
  ["/var/log/btmp.1", true],
  ["/var/log/wtmp-20261129", true],
  ["/var/log/sysstat/sa29", true],
  ["/var/log/sysstat/sa20261129", true],
  ["/var/log/journal/system.journal", true],
  ["/var/log/sa1.log", false],
  ["/srv/sa29.log", false],
  ["/srv/utmp.log", false],
  ["/var/log/app.log", false],
] as const)
  test(`${path} ${isRecord ? "holds records by its name" : "is judged by its content"}`, () => {
    assert.equal(binaryKind(path, TEXT), isRecord ? "login or journal records" : null);
  });
