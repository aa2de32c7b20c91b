import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { encodeAnswer } from "#hub/cluster/recovery/copy-messages.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { temporaryFolder } from "#test/support/cluster/shard-feeding.ts";
import { type HealingOptions, healCopies } from "./copy-healing.ts";

function options(
  folder: string,
  isPurged: boolean,
  read: () => Promise<Uint8Array>,
  peers = () => Promise.resolve(["a"]),
): HealingOptions {
  const answers: Record<string, unknown> = {
    hold: { copy: "c", files: 1, bytes: 1 },
    list: [["committed", 1]],
    release: {},
  };
  return {
    hosts: { whileEnded: (change) => change() },
    catalog: { all: () => [{}] as never },
    journal: {
      isPurgedAfter: () => Promise.resolve(isPurged),
      core: {
        request: (_subject, data) => {
          const { operation } = JSON.parse(Buffer.from(data).toString()) as { operation: string };
          return operation === "read" ? read() : Promise.resolve(encodeAnswer(answers[operation]));
        },
        serve: () => () => undefined,
      },
    },
    cluster: { peers, hasOthers: () => Promise.resolve(true) },
    folder,
    clock: systemClock,
    log: silentLogger(),
    signal: new AbortController().signal,
  };
}

test("a hub that needs no copy removes what a killed one left of copying", async (t) => {
  const folder = temporaryFolder(t);
  for (const name of ["engine", "engine-copy", "engine-replaced"])
    mkdirSync(join(folder, name, "x"), { recursive: true });
  await healCopies(options(folder, false, () => Promise.reject(new Error("not read"))));
  assert.deepEqual(readdirSync(folder), ["engine"]);
});

test("a disk that becomes full while a copy is written ends the start at once, without the copy", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "engine"));
  const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  await assert.rejects(healCopies(options(folder, true, () => Promise.reject(full))), {
    code: "disk_full",
    message: /free some space/,
  });
  assert.ok(!existsSync(join(folder, "engine-copy")));
});

test("a copy takes the place of the shards, and nothing else is left", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "engine"));
  await healCopies(options(folder, true, () => Promise.resolve(encodeAnswer(Buffer.from("x")))));
  assert.deepEqual(readdirSync(folder), ["engine"]);
  assert.deepEqual(readdirSync(join(folder, "engine")), ["committed"]);
});

test("a hub waits for others that were stopped, and may start a little later", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "engine"));
  const answers = [[], [], ["a"]];
  const peers = () => Promise.resolve(answers.length > 1 ? answers.shift()! : answers[0]!);
  const clock = { ...systemClock, sleep: () => Promise.resolve() };
  const read = () => Promise.resolve(encodeAnswer(Buffer.from("x")));
  await healCopies({ ...options(folder, true, read, peers), clock });
  assert.deepEqual(readdirSync(join(folder, "engine")), ["committed"]);
});

test("a hub that finds no other one in time ends so that it is started again", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "engine"));
  let nowMs = 0;
  const clock = { ...systemClock, monotonic: () => nowMs, sleep: async () => void (nowMs += 1_000) };
  const healing = healCopies({
    ...options(
      folder,
      true,
      () => Promise.reject(new Error("not read")),
      () => Promise.resolve([]),
    ),
    clock,
  });
  await assert.rejects(healing, { code: "unavailable", message: /start one that has them, then this one/ });
});
