/**
 * Finds the files that match patterns. One scan of 10,000 files takes well under 100 ms of CPU time, in slices, so that
 * shipping continues meanwhile.
 */

import { type Dirent, lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { systemCode } from "#proto/kit/errors.ts";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";
import { displayPath, joinPath, lstatOrNull, type RawPath } from "./path.ts";
import { matchesName, type Pattern, type Segment } from "./pattern.ts";

/** A regular file that matches a pattern. */
export interface Found {
  readonly raw: RawPath;
  /** The path as text; see `displayPath`. */
  readonly path: string;
  readonly stat: Stats;
}

/** Results of a scan besides files. */
export interface ScanResult {
  /** Folders in which matching files may appear. */
  readonly folders: ReadonlySet<string>;
  /** Paths left out with the reason, at most 100. */
  readonly skipped: ReadonlyMap<string, string>;
  /** False if the scan saw only a part: files that were not found may still exist. */
  readonly complete: boolean;
  /** Paths that could not be read, at most 1,000; files at and below them may still exist. */
  readonly unseen: ReadonlySet<string>;
  /** True if the system gave no descriptor to list a folder with. */
  readonly exhausted: boolean;
  /** Processor time that it took, ms. */
  readonly cpuMs: number;
}

export interface ScanOptions {
  readonly patterns: readonly Pattern[];
  /** True if symbolic links are followed. */
  readonly symlinks: boolean;
  readonly exclude: (path: string) => boolean;
  /** Called with each folder before it is listed: files created in it later needn't be in the list. */
  readonly onFolder: (folder: string) => void;
  /** Called with each file; nothing is kept, as ten thousand of them would stay in memory until the end. */
  readonly onFound: (found: Found) => void;
  /** Returns true for a path that this scan has already found by another pattern. */
  readonly wasFound: (path: string) => boolean;
}

/** Stats between two turns of the event loop: about 2 ms. */
const SLICE = 500;
/** `**` looks this deep; links can't make it endless, but a mistake in a pattern could make it long. */
const DEPTH_MAX = 32;
const SKIPPED_KEPT = 100;
const UNSEEN_MAX = 1_000;
const LINK = "symbolic link; set symlinks: true to follow it";

/** Returns true for the error of a system that gives no more file descriptors. */
export function isExhaustion(error: unknown): boolean {
  return ["EMFILE", "ENFILE"].includes(systemCode(error));
}

/** Finds the files that match the patterns now. Resolves early, incomplete, when `signal` is aborted. */
export async function scan(options: ScanOptions, signal: AbortSignal): Promise<ScanResult> {
  const walk = new Walk(options);
  let cpuMs = 0;
  let before = threadCpuMs();
  for (const pattern of options.patterns) {
    for (const _ of walk.run(pattern)) {
      cpuMs += threadCpuMs() - before;
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (signal.aborted) return { ...walk.result(cpuMs), complete: false };
      before = threadCpuMs();
    }
  }
  return walk.result(cpuMs + threadCpuMs() - before);
}

/**
 * The content of a folder. Most entries are files, which need nothing but their name: ten thousand objects would
 * survive the collection of the young generation.
 */
interface Listing {
  readonly files: readonly RawPath[];
  readonly others: readonly Dirent<string>[];
}

const EMPTY: Listing = { files: [], others: [] };

class Walk {
  readonly #options: ScanOptions;
  readonly #folders = new Set<string>();
  readonly #skipped = new Map<string, string>();
  /** The last listing: `**` needs the files and then the folders of the same folder. */
  #listed: { readonly folder: RawPath; readonly listing: Listing } | undefined;
  readonly #unseen = new Set<string>();
  #exhausted = false;
  #steps = 0;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  result(cpuMs: number): ScanResult {
    return {
      folders: this.#folders,
      skipped: this.#skipped,
      complete: !this.#exhausted && this.#unseen.size < UNSEEN_MAX,
      unseen: this.#unseen,
      exhausted: this.#exhausted,
      cpuMs,
    };
  }

  /** Yields after each slice. */
  *run(pattern: Pattern): Generator<void> {
    yield* this.#descend("/", pattern.segments, 0, 0, new Set());
  }

  *#descend(
    folder: RawPath,
    segments: readonly Segment[],
    at: number,
    depth: number,
    above: Set<string>,
  ): Generator<void> {
    const part = segments[at];
    if (part === undefined) return;
    if (part.kind === "literal") {
      yield* this.#literal(folder, part.name, segments, at, depth, above);
      return;
    }
    const here = this.#enter(folder, depth, above);
    if (here === null) return;
    if (part.kind === "folders") yield* this.#descend(folder, segments, at + 1, depth, above);
    const isLast = at === segments.length - 1;
    const { files, others } = this.#list(folder);
    for (const name of part.kind === "match" && isLast ? files : []) {
      if (!matchesName(part, displayPath(name))) continue;
      this.#file(joinPath(folder, name), null);
      if (++this.#steps % SLICE === 0) yield;
    }
    for (const entry of others) {
      const name = entry.name as RawPath;
      const display = displayPath(name);
      const path = joinPath(folder, name);
      const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && this.#options.symlinks);
      if (part.kind === "folders") {
        const isFollowed = entry.isDirectory() || (entry.isSymbolicLink() && this.#options.symlinks);
        if (isFollowed && !display.startsWith(".")) yield* this.#descend(path, segments, at, depth + 1, here);
      } else if (matchesName(part, display)) {
        if (isLast) this.#file(path, entry);
        else if (isFolder) yield* this.#descend(path, segments, at + 1, depth + 1, here);
        else if (entry.isSymbolicLink()) this.#skip(displayPath(path), LINK);
        if (++this.#steps % SLICE === 0) yield;
      }
    }
  }

  *#literal(
    folder: RawPath,
    name: string,
    segments: readonly Segment[],
    at: number,
    depth: number,
    above: Set<string>,
  ): Generator<void> {
    const path = joinPath(folder, name);
    const isBelowWildcard = depth > 0;
    if (isBelowWildcard && !this.#options.symlinks && lstatOrNull(path)?.isSymbolicLink() === true) {
      this.#skip(displayPath(path), LINK);
      return;
    }
    if (at < segments.length - 1) {
      yield* this.#descend(path, segments, at + 1, depth, above);
      return;
    }
    this.#expect(folder);
    try {
      this.#file(path, lstatSync(path));
    } catch (error) {
      this.#reportProblem(path, error);
    }
  }

  /** Reports a file that matches a whole pattern. `entry`: null if it is known to be a file. */
  #file(path: RawPath, entry: Dirent<string> | Stats | null): void {
    const display = displayPath(path);
    const { exclude, wasFound, symlinks } = this.#options;
    if (exclude(display) || wasFound(display) || entry?.isDirectory() === true) return;
    const link = entry?.isSymbolicLink() === true;
    if (link && !symlinks) this.#skip(display, LINK);
    else if (entry !== null && !link && !entry.isFile()) this.#skip(display, "no regular file");
    else this.#statFile(path, display);
  }

  #statFile(path: RawPath, display: string): void {
    try {
      const stat = statSync(path);
      if (stat.isFile()) this.#options.onFound({ raw: path, path: display, stat });
    } catch (error) {
      this.#reportProblem(path, error);
    }
  }

  /** Returns the folders from the root to `folder`, itself included, or null if it is already among them. */
  #enter(folder: RawPath, depth: number, above: Set<string>): Set<string> | null {
    try {
      const { dev, ino } = statSync(folder);
      const id = `${dev}:${ino}`;
      if (depth > DEPTH_MAX) return this.#skipFolder(folder, `deeper than ${DEPTH_MAX} folders`);
      if (depth > 0 && this.#options.symlinks && above.has(id))
        return this.#skipFolder(folder, "a symbolic link to a folder above it");
      this.#expect(folder);
      return new Set(above).add(id);
    } catch (error) {
      this.#reportProblem(folder, error);
      return null;
    }
  }

  /** Records a folder in which matching files may appear. */
  #expect(folder: RawPath): void {
    const path = displayPath(folder);
    this.#folders.add(path);
    this.#options.onFolder(path);
  }

  #skipFolder(folder: RawPath, reason: string): null {
    this.#skip(displayPath(folder), reason);
    return null;
  }

  #list(folder: RawPath): Listing {
    if (this.#listed?.folder !== folder) this.#listed = { folder, listing: this.#read(folder) };
    return this.#listed.listing;
  }

  #read(folder: RawPath): Listing {
    try {
      const entries = readdirSync(folder, { withFileTypes: true });
      if (typeof folder === "string" && !entries.some(({ name }) => name.includes("\ufffd")))
        return listingOf(entries);
      // Slow path: a name that isn't UTF-8 must be kept as bytes or the file can't be opened.
      const raw = readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
      return listingOf(raw.map(asTextWherePossible));
    } catch (error) {
      this.#reportProblem(folder, error);
      return EMPTY;
    }
  }

  /** A missing folder is no fault. After any other error nothing is known of what the path leads to. */
  #reportProblem(path: RawPath, error: unknown): void {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return;
    const display = displayPath(path);
    this.#exhausted ||= isExhaustion(error);
    if (this.#unseen.size < UNSEEN_MAX) this.#unseen.add(display);
    this.#skip(display, code === "EACCES" ? "permission denied" : (error as Error).message);
  }

  #skip(path: string, reason: string): void {
    if (this.#skipped.size < SKIPPED_KEPT) this.#skipped.set(path, reason);
  }
}

function listingOf(entries: readonly Dirent<string>[]): Listing {
  const files: RawPath[] = [];
  const others: Dirent<string>[] = [];
  for (const entry of entries) {
    if (entry.isFile()) files.push(entry.name);
    else others.push(entry);
  }
  return { files, others };
}

function asTextWherePossible(entry: Dirent<Buffer>): Dirent<string> {
  const text = entry.name.toString();
  if (!text.includes("\ufffd")) (entry as unknown as Dirent<string>).name = text;
  return entry as unknown as Dirent<string>;
}
