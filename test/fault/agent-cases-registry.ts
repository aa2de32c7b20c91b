/** Cases of the agent's table about its registry: damaged, gone, or another agent's. */

import assert from "node:assert/strict";
import {
  closeSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { type Case, type Cases, metric, type Place, until } from "./agent-case.ts";

const REGISTRY = ["agent", "data", "registry"];
/** So many rows that the database has files of data besides its log. */
const FILES = 200;
/** What was acknowledged is in the registry within a second. */
const WRITTEN_MS = 1_500;

/** Writes garbage over bytes of a file, from its share `from` on. */
function overwrite(path: string, from: number, bytes: Buffer): void {
  const fd = openSync(path, "r+");
  writeSync(fd, bytes, 0, bytes.length, Math.floor(statSync(path).size * from));
  closeSync(fd);
}

const cut = (path: string, share: number): void =>
  truncateSync(path, Math.floor(statSync(path).size * share));

/** What happens to which files of the database, and whether the agent must notice. */
const DAMAGES: readonly (readonly [
  what: string,
  files: RegExp,
  apply: (path: string) => void,
  isTold: boolean,
])[] = [
  [
    "its log is cut short",
    /\.log$/,
    (path) => truncateSync(path, Math.max(0, statSync(path).size - 7)),
    false,
  ],
  ["its log is overwritten", /\.log$/, (path) => overwrite(path, 0.5, Buffer.alloc(200, 7)), false],
  ["CURRENT is missing", /^CURRENT$/, (path) => rmSync(path), true],
  ["CURRENT is empty", /^CURRENT$/, (path) => truncateSync(path), true],
  ["the MANIFEST is garbage", /^MANIFEST/, (path) => writeFileSync(path, Buffer.alloc(300, 7)), true],
  ["the MANIFEST is missing", /^MANIFEST/, (path) => rmSync(path), true],
  ["its data is overwritten", /\.ldb$/, (path) => overwrite(path, 0.2, Buffer.alloc(2_000)), true],
  ["its data is missing", /\.ldb$/, (path) => rmSync(path), true],
  ["half of its data is missing", /\.ldb$/, (path) => cut(path, 0.5), true],
];

/** Fills the registry with rows, twice, so that both its log and its data have some. */
async function fill(p: Place, log: SequenceLog): Promise<void> {
  for (const lines of [3, 2]) {
    const agent = await p.agent();
    for (let file = 0; file < FILES; file++) p.write(log, `${file}.log`, lines);
    await until(async () => new Set(await p.lines()).size === log.count);
    await pause(WRITTEN_MS);
    await (lines === 3 ? agent.stop() : agent.kill9());
  }
}

/** Each damage after a crash, which leaves no fresh snapshot. */
const damaged: Case = async (p) => {
  const log = new SequenceLog("w", "plain");
  await fill(p, log);
  for (const [what, files, apply, isTold] of DAMAGES) {
    const folder = join(p.folder, ...REGISTRY);
    const meant = readdirSync(folder).filter((name) => files.test(name));
    assert.ok(meant.length > 0, `${what}: there is none`);
    for (const name of meant) apply(join(folder, name));
    const saidBefore = p.said().length;
    const agent = await p.agent();
    for (let file = 0; file < FILES; file += 20) p.write(log, `${file}.log`, 2);
    await until(async () => new Set(await p.lines()).size === log.count);
    assert.equal(await metric(agent, "tailrace_agent_registry_entries"), FILES, what);
    assert.equal(/registry is repaired/.test(p.said().slice(saidBefore)), isTold, what);
    await pause(WRITTEN_MS);
    await agent.kill9();
  }
  await p.agent();
  await p.proves(log, { unordered: true });
  const kept = readdirSync(join(p.folder, "agent", "data")).filter((name) => name.startsWith("registry.bad"));
  assert.equal(kept.length, 2, "damaged ones kept");
};

export const REGISTRY_CASES: Cases = {
  18: async (p) => {
    const log = new SequenceLog("w", "plain");
    for (let round = 0; round < 4; round++) {
      const agent = await p.agent();
      p.write(log, "a.log", 300);
      await until(async () => (await p.lines()).length >= 300 * (round + 1));
      await agent.kill9();
      const folder = join(p.folder, ...REGISTRY);
      for (const name of readdirSync(folder).filter((each) => each.endsWith(".log"))) {
        const { size } = statSync(join(folder, name));
        truncateSync(join(folder, name), Math.max(0, size - 7 * (round + 1)));
      }
    }
    await p.agent();
    await p.proves(log);
  },
  19: damaged,
  21: async (p) => {
    await p.agent();
    await assert.rejects(p.agent(), /ended with 1/);
    assert.match(p.said(), /lock|another agent|in use/i);
  },
};
