import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { shuffledVictims } from "./kills.ts";
import { writeInBursts } from "./line-writer.ts";
import { randomFrom } from "./random.ts";
import { flawless, SequenceLog, verify } from "./sequence-log.ts";
import { Workspace } from "./workspace.ts";

test("bursts add up to exactly the requested lines, in order, also after torn ones", async (t) => {
  const path = new Workspace(t).path("a.log");
  const log = new SequenceLog("a");
  const random = randomFrom(3);
  await writeInBursts({ log, path, lines: 500, random, rate: 40_000 });
  await writeInBursts({ log, path, lines: 300, random, rate: 40_000 });
  const text = readFileSync(path, "utf8");
  assert.ok(text.endsWith("\n"));
  assert.deepEqual(verify("a", 800, text.trimEnd().split("\n"), true), flawless(800));
});

test("the last lines are written only after the event they must follow", async (t) => {
  const path = new Workspace(t).path("a.log");
  const log = new SequenceLog("a");
  const kills = Promise.withResolvers<void>();
  const writing = writeInBursts({
    log,
    path,
    lines: 200,
    random: () => {
      if (log.count === 180) kills.resolve();
      return 0.5;
    },
    rate: 4_000,
    until: kills.promise,
  });
  await kills.promise;
  assert.ok(log.count <= 180);
  await writing;
  assert.equal(log.count, 200);
});

test("each victim is killed as often as requested, and a seed repeats the order", () => {
  const victims = shuffledVictims(3, randomFrom(5));
  assert.deepEqual(victims, shuffledVictims(3, randomFrom(5)));
  assert.equal(
    victims.toSorted((a, b) => a.localeCompare(b)).join(),
    "agent,agent,agent,hub,hub,hub,nats,nats,nats",
  );
});
