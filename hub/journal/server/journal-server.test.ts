import assert from "node:assert/strict";
import { test } from "node:test";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { type Logger, silentLogger } from "#proto/kit/log.ts";
import { JournalServer } from "./journal-server.ts";

/** Checks an external NATS of this version; returns the warnings. */
function check(version: string, cluster?: string): unknown[] {
  const warnings: unknown[] = [];
  const log = Object.assign(Object.create(silentLogger()) as Logger, {
    warn: (...given: unknown[]) => void warnings.push(given),
  });
  const external = { servers: ["nats://log-1:4222"] };
  const server = new JournalServer({ dataDir: "", host: "", port: 0, external, log }, () => undefined);
  server.check({ nats: { info: { version, cluster, jetstream: true } } } as unknown as Connection);
  return warnings;
}

test("servers of an external cluster that can lose a stream bring a warning, and the hub starts", () => {
  const [warning] = check("2.9.25", "nats");
  assert.match(JSON.stringify(warning), /nats:\/\/log-1:4222.*2\.9\.25.*upgrade them/);
  assert.deepEqual([check("2.10.23", "nats"), check("2.9.25")], [[], []]);
});

test("an external server that the log can't work with is refused", () => {
  for (const version of ["2.9.9", "2.10.22"])
    assert.throws(() => check(version, "nats"), { code: "nats_refused" }, version);
});
