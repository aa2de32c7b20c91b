import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { ServerLog } from "./server-log.ts";

async function read(...lines: readonly string[]): Promise<ServerLog> {
  const output = new PassThrough();
  const log = new ServerLog(output, silentLogger());
  const ended = once(output, "end");
  output.end(`${lines.join("\n")}\n`);
  await ended;
  return log;
}

test("the messages that each stream had are read", async () => {
  const log = await read("[7] [INF]   Restored 1,234 messages for stream 'TAILRACE > RAW' in 1ms");
  assert.equal(log.restored.get("RAW"), 1_234);
  assert.equal(log.crash, "");
});

test("why a server ended by a fault of its own is kept", async () => {
  const panic = "panic: runtime error: slice bounds out of range";
  const log = await read("[7] [ERR] the disk is slow", panic, "", "goroutine 29 [running]:", "panic: again");
  assert.equal(log.crash, panic);
});
