/**
 * Files that continue in the next one: a container runtime cuts a line into pieces, and a rotation may separate them.
 * The successor isn't read before its predecessor is done; the rest of the last event is taken from the successor's
 * beginning, which is then read from there on.
 */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { Harvester } from "#agent/harvester/harvester.ts";
import type { Successor } from "#agent/harvester/harvester-options.ts";
import { fileKey } from "#agent/harvester/identity.ts";
import type { Registry } from "#agent/registry/registry.ts";
import { newRow } from "#agent/registry/row.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { FileIndex } from "./file-index.ts";

export interface SuccessionOptions {
  readonly inputId: string;
  readonly registry: Registry;
  readonly index: FileIndex;
  readonly hasBirthTimes: boolean;
  readonly clock: Clock;
}

/** A predecessor that isn't found within this time is gone. */
const HELD_MS = 10_000;
const HELD_MAX = 10_000;

export class Succession {
  readonly #options: SuccessionOptions;
  readonly #heldSinceMs = new Map<string, number>();

  constructor(options: SuccessionOptions) {
    this.#options = options;
  }

  /** Returns true while a new file must not be read because the file that had its path before isn't done. */
  holds(key: string, path: string, open: Iterable<Harvester>): boolean {
    const done = new Set<string>();
    for (const each of open) {
      if (each.formerPath !== path || each.key === key) continue;
      if (!each.complete) return true;
      done.add(each.key);
    }
    const { registry, inputId, clock } = this.#options;
    let isExpected = false;
    for (const [known, row] of registry.rows()) {
      if (row.path !== path || known === key || row.input !== inputId || done.has(known)) continue;
      isExpected ||= row.tail === null && (row.size < 0 || row.sent < row.size);
    }
    const sinceMs = this.#heldSinceMs.get(key) ?? clock.monotonic();
    if (isExpected && clock.monotonic() - sinceMs <= HELD_MS && this.#heldSinceMs.size < HELD_MAX) {
      this.#heldSinceMs.set(key, sinceMs);
      return true;
    }
    this.#heldSinceMs.delete(key);
    return false;
  }

  /** Assigns to each rotated file that ends within an event the file that continues it. Returns these pairs. */
  giveTo(harvesters: Iterable<Harvester>, onGiven: (harvester: Harvester) => void): void {
    for (const harvester of harvesters) {
      if (!harvester.endsWithin) continue;
      harvester.successor = this.#successorOf(harvester);
      if (harvester.successor !== null) onGiven(harvester);
    }
  }

  /** Returns the file in which `harvester`'s continues, or null. */
  #successorOf(harvester: Harvester): Successor | null {
    const { index } = this.#options;
    const { tail } = harvester.row;
    const entry =
      tail === null
        ? index.atPath(harvester.formerPath)
        : index.get(tail.key.slice(0, tail.key.lastIndexOf("-")));
    if (entry === undefined || entry.key === harvester.key || harvester.key.startsWith(`${entry.inode}-`))
      return null;
    return this.#describe(entry.path, tail?.key);
  }

  #describe(path: string, expectedKey: string | undefined): Successor | null {
    let key: string;
    try {
      const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        key = fileKey(fstatSync(fd, { bigint: true }), this.#options.hasBirthTimes);
      } finally {
        closeSync(fd);
      }
    } catch {
      return null; // it has been rotated on
    }
    if (expectedKey !== undefined && key !== expectedKey) return null;
    return {
      key,
      read: (buffer, at, length) => readHeadOf(path, key, buffer, at, length, this.#options.hasBirthTimes),
      claim: (to) => this.#claim(key, path, to),
    };
  }

  /** Makes the successor begin at `to`; returns false if it is being read already. */
  #claim(key: string, path: string, to: number): boolean {
    const { registry, inputId, clock } = this.#options;
    const row = registry.get(key);
    if (row !== undefined) return row.sent >= to && row.committed >= to;
    registry.put(key, newRow(inputId, path, to, clock.now()));
    return true;
  }
}

/** Reads the first bytes of the file `key` at `path`; 0 if it isn't there any more. */
function readHeadOf(
  path: string,
  key: string,
  buffer: Buffer,
  at: number,
  length: number,
  hasBirthTimes: boolean,
): number {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const same = fileKey(fstatSync(fd, { bigint: true }), hasBirthTimes) === key;
      return same ? readSync(fd, buffer, at, length, 0) : 0;
    } finally {
      closeSync(fd);
    }
  } catch {
    return 0;
  }
}
