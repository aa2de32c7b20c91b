/**
 * Files of the committed positions, one for each host of a hub: `position.json` of the only one, else
 * `position-<number>-of-<count>.json`. If the number of hosts has changed, each gets the lowest position: the shards drop
 * messages that they already have.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import type { Logger } from "#proto/kit/log.ts";
import { comparePositions, type Position, START } from "#proto/position.ts";
import { readChecked, withChecksum } from "./checked-json.ts";
import type { HostSeat } from "./shard-owner.ts";

/** What was committed last. */
export interface Committed {
  /** In DOC; every shard of the host covers it. */
  readonly position: Position;
  /** Generations of the shards' manifests, by `shardKey`; never above that of the newest manifest. */
  readonly generations: ReadonlyMap<string, number>;
}

/**
 * A checked JSON object with version, incarnation, sequence and generations, which are by "<index uuid>/<shard>"; version 2 had
 * none, version 1 no checksum.
 */
const POSITION_VERSION = 3;
const UNCHECKED = '{"v":1,';

const NOTHING: Committed = { position: START, generations: new Map() };

const ONLY_FILE = "position.json";
const FILE_OF_MANY = /^position-\d+-of-(\d+)\.json$/;

/** Returns whether a file of the shards' folder contains a committed position. */
export function isPositionFile(name: string): boolean {
  return name === ONLY_FILE || FILE_OF_MANY.test(name);
}

/**
 * Returns what a host committed last; START and no generations if unknown or damaged: the log is then read from its start,
 * and each shard drops what it has.
 */
export function readCommitted(folder: string, seat: HostSeat, log: Logger): Committed {
  const path = join(folder, fileOf(seat));
  if (!existsSync(path)) return NOTHING;
  try {
    return parseCommitted(readFileSync(path));
  } catch (error) {
    log.error({ err: error, path }, "the committed position is unreadable; reading the log from its start");
    return NOTHING;
  }
}

export function writeCommitted(
  folder: string,
  seat: HostSeat,
  { position: { incarnation, sequence }, generations: byShard }: Committed,
): void {
  const generations = Object.fromEntries(byShard);
  const json = JSON.stringify({ v: POSITION_VERSION, incarnation, sequence, generations });
  writeFileAtomic(join(folder, fileOf(seat)), withChecksum(json));
}

/** Converts the files to those of `count` hosts; must be called before any of them opens its shards. */
export function alignPositions(folder: string, count: number, log: Logger): void {
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  const names = readdirSync(folder).filter(isPositionFile);
  const others = names.filter((name) => countOf(name) !== count);
  const isWhole = count === 1 || seats(count).every((seat) => names.includes(fileOf(seat)));
  if (others.length === 0 && isWhole) return;
  const committed = lowestOf(folder, names, log);
  for (const seat of seats(count)) writeCommitted(folder, seat, committed);
  // A crash before this leaves two sets of files with the same position.
  for (const name of others) rmSync(join(folder, name), { force: true });
}

/** Sets the position of all hosts, whose number the files already have; forgets what they committed before. */
export function resetPositions(folder: string, position: Position): void {
  const [name = ONLY_FILE] = readdirSync(folder).filter(isPositionFile);
  for (const seat of seats(countOf(name))) writeCommitted(folder, seat, { position, generations: new Map() });
}

/** Returns the position up to which all shards below `folder` are committed, whatever the number of hosts; START if unknown. */
export function committedPosition(folder: string, log: Logger): Position {
  if (!existsSync(folder)) return START;
  return lowestOf(folder, readdirSync(folder).filter(isPositionFile), log).position;
}

/** Returns what all hosts committed, from complete sets of files; `names`: of the files. */
function lowestOf(folder: string, names: readonly string[], log: Logger): Committed {
  const known = [...new Set(names.map(countOf))]
    .filter((each) => seats(each).every((seat) => names.includes(fileOf(seat))))
    .flatMap((each) => seats(each).map((seat) => readCommitted(folder, seat, log)));
  return known.length === 0 ? NOTHING : known.reduce(lowest);
}

function seats(count: number): HostSeat[] {
  return Array.from({ length: count }, (_, number) => ({ number, count }));
}

function fileOf({ number, count }: HostSeat): string {
  return count === 1 ? ONLY_FILE : `position-${number}-of-${count}.json`;
}

function countOf(name: string): number {
  return Number(FILE_OF_MANY.exec(name)?.[1] ?? 1);
}

/** Each generation is of a shard that one of the two hosts had. */
function lowest(a: Committed, b: Committed): Committed {
  return {
    position: comparePositions(a.position, b.position) <= 0 ? a.position : b.position,
    generations: new Map([...a.generations, ...b.generations]),
  };
}

/** Throws data_corrupt if a byte differs from what was written. */
function parseCommitted(bytes: Buffer): Committed {
  const { json, isChecked } = readChecked(bytes);
  if (!isChecked && !json.startsWith(UNCHECKED))
    throw new AppError("data_corrupt", "the file has lost its checksum");
  const {
    v,
    incarnation,
    sequence,
    generations = {},
  } = JSON.parse(json) as Position & {
    readonly v: number;
    readonly generations?: Readonly<Record<string, number>>;
  };
  // A manifest has a checksum of the same form.
  if (!Number.isInteger(v)) throw new AppError("data_corrupt", "the file holds no committed position");
  if (v > POSITION_VERSION)
    throw new AppError(
      "data_corrupt",
      `the committed position has format version ${v}, which this hub can't read`,
    );
  return { position: { incarnation, sequence }, generations: new Map(Object.entries(generations)) };
}
