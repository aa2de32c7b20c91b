import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { killInTurn, shuffledVictims, type Victim } from "#test/harness/kills.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { startStack } from "#test/harness/stack.ts";
import { Workspace } from "#test/harness/workspace.ts";

const SECONDS = Number(process.env["TAILRACE_FAULT_SECONDS"] ?? 60);
const FILES = 3;
const RATE = 400;

test(`every line is there once after ${SECONDS} s of random kills over ${FILES} files`, async (t) => {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const workspace = new Workspace(t);
  const stack = await startStack(workspace, { input: { paths: [workspace.path("logs", "*.log")] } });
  const logs = Array.from({ length: FILES }, (_, file) => new SequenceLog(`file-${file}`));
  const end = systemClock.monotonic() + SECONDS * 1000;
  const kills = killInTurn(stack, victimsUntil(end, random), random);
  const writers = logs.map((log) =>
    writeInBursts({
      log,
      path: workspace.path("logs", `${log.writer}.log`),
      lines: SECONDS * RATE,
      random,
      rate: RATE,
      until: kills,
    }),
  );
  await Promise.all([kills, ...writers]);
  await assertExactlyOnce(stack.hub.searchUrl, logs, `(repeat with TAILRACE_SEED=${seed})`);
});

function* victimsUntil(endMs: number, random: () => number): Iterable<Victim> {
  while (systemClock.monotonic() < endMs) yield* shuffledVictims(1, random);
}
