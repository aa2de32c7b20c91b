/**
 * Files that hold the same text under related names: a copy repeats nothing, and what isn't a copy is read whole. Each row
 * has an agent of its own; the last line of its last file shows that everything before it in that file has arrived.
 */

import assert from "node:assert/strict";
import { appendFileSync, copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { FoldingHub } from "#test/harness/folding-hub.ts";
import { untilSteady } from "#test/harness/until.ts";
import { many, type Place, place, text, until } from "./agent-case.ts";

/** More than the 1,024 bytes by which a file is known. */
const LONG = many("line", 100);
const MORE = many("more", 50);
const SHORT = ["one", "two"];
const END = ["the end"];
/** Nothing more arrives for a second: the agent has noticed what was done. */
const BETWEEN = { times: 5, everyMs: 200 };
/** A file that may be a copy is held for 10 s. */
const AT_THE_END = { times: 55, everyMs: 200 };

/** A place with an agent and a hub that confirms what it has. */
interface Scene {
  readonly p: Place;
  readonly hub: FoldingHub;
  /** Starts the agent again, after what is done while it is away. */
  readonly away: (meanwhile: () => void) => Promise<void>;
}

interface Row {
  readonly name: string;
  /** Content of the first file, read before `act`. */
  readonly first: readonly [name: string, lines: readonly string[]];
  readonly act: (scene: Scene) => Promise<void> | void;
  /** Lines that arrive after the first file's. */
  readonly expected: readonly string[];
}

/** A file that is written after one of the same beginning was deleted. */
const afterDeletion = (before: string, name: string, lines: readonly string[]): Row => ({
  name: `${name} of ${lines.length} lines, written after ${before} was deleted, is read whole`,
  first: [before, LONG],
  act: async ({ p, hub }) => {
    rmSync(p.file(before));
    await settled(hub);
    writeFileSync(p.file(name), text(lines));
  },
  expected: lines,
});

const ROWS: readonly Row[] = [
  afterDeletion("job-20261121.log", "job-20261122.log", [...LONG]),
  afterDeletion("run.1.log", "run.2.log", [...LONG]),
  afterDeletion("a.log", "a.log.1", [...LONG]),
  afterDeletion("m.log", "m-20261122.log", [...LONG, ...MORE]),
  {
    name: "files of the same text that are rotated twice are read whole",
    first: ["a.log", LONG],
    act: async ({ p, hub }) => {
      for (const from of [["a.log"], ["a.log.1", "a.log"]]) {
        for (const name of from) renameSync(p.file(name), p.file(name === "a.log" ? "a.log.1" : "a.log.2"));
        writeFileSync(p.file("a.log"), text(LONG));
        await settled(hub);
      }
    },
    expected: [...LONG, ...LONG],
  },
  {
    name: "files of the same text that were rotated twice while the agent was away are read whole",
    first: ["a.log", LONG],
    act: ({ p, away }) =>
      away(() => {
        renameSync(p.file("a.log"), p.file("a.log.2"));
        for (const name of ["a.log.1", "a.log"]) writeFileSync(p.file(name), text(LONG));
      }),
    expected: [...LONG, ...LONG],
  },
  ...[
    { size: "long", lines: LONG },
    { size: "short", lines: SHORT },
  ].map(({ size, lines }) => ({
    name: `a ${size} file that is copied and truncated repeats nothing`,
    first: ["a.log", lines] as const,
    act: ({ p }: Scene) => {
      copyFileSync(p.file("a.log"), p.file("a.log.1"));
      writeFileSync(p.file("a.log"), text(MORE));
      appendFileSync(p.file("a.log.1"), text(END));
    },
    expected: [...MORE, ...END],
  })),
  ...[
    { size: "long", lines: LONG },
    { size: "short", lines: SHORT },
  ].map(({ size, lines }) => ({
    name: `the archive of a ${size} file that was truncated while the agent was away repeats nothing`,
    first: ["a.log", lines] as const,
    act: ({ p, away }: Scene) =>
      away(() => {
        appendFileSync(p.file("a.log"), text(END));
        writeFileSync(p.file("a.log.1.gz"), gzipSync(readFileSync(p.file("a.log"))));
        writeFileSync(p.file("a.log"), text(MORE));
      }),
    expected: [...MORE, ...END],
  })),
];

/** Resolves when nothing more arrives. */
async function settled(hub: FoldingHub, within: typeof BETWEEN = BETWEEN): Promise<void> {
  await untilSteady("the number of lines", () => Promise.resolve(hub.lines.length), within);
}

for (const { name, first, act, expected } of ROWS)
  test(name, async (t) => {
    const p = await place(t);
    const hub = new FoldingHub(p.nats);
    hub.start();
    t.after(() => hub.stop());
    const options = {
      paths: [join(p.logs, "*.log*")],
      input: { scan_frequency: "100ms", rotated_wait: "200ms", read_archives: true },
    };
    const agent = await p.agent(options);
    const [path, lines] = first;
    writeFileSync(p.file(path), text(lines));
    await until(() => Promise.resolve(hub.lines.length === lines.length));
    await settled(hub);
    const away = async (meanwhile: () => void): Promise<void> => {
      await agent.stop();
      meanwhile();
      await p.agent(options);
    };
    await act({ p, hub, away });
    const wanted = [...lines, ...expected];
    await until(() => Promise.resolve(hub.lines.length >= wanted.length)).catch(() => undefined);
    await settled(hub, AT_THE_END);
    assert.deepEqual(hub.lines.map((line) => line.text).sort(), wanted.toSorted());
  });
