import assert from "node:assert/strict";
import { test } from "node:test";
import { sendingLogger } from "#proto/kit/log.ts";
import { TrustedProxies } from "#proto/kit/trusted-proxies.ts";
import { TestClock } from "#test/support/agent/recording-output.ts";
import { intakeShares } from "./input-host.ts";

test("connections that are refused are in the log once a minute at most, with the address, the limit and what helps", () => {
  const lines: string[] = [];
  const clock = new TestClock();
  const { connections, onRefused } = intakeShares(
    sendingLogger("info", (line) => lines.push(line)),
    clock,
    new TrustedProxies([]),
  );
  connections.take("192.0.2.1", 4_096);
  const refuse = (): void => {
    assert.throws(() => connections.take("192.0.2.1"), { code: "overloaded" });
    onRefused("192.0.2.1", new Error("4096 connections are open for you"));
  };
  refuse();
  clock.ms += 59_000;
  refuse();
  assert.equal(lines.length, 1);
  assert.match(
    lines[0]!,
    /refuses connections from 192\.0\.2\.1, which has 4096 of the 8192 .*proxy_protocol/,
  );
  clock.ms += 1_000;
  refuse();
  assert.equal(lines.length, 2);
});
