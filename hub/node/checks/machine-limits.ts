/** Reads the machine's limits for the bootstrap checks. */

import { readFileSync, statfsSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname } from "node:path";
import type { MachineLimits } from "./bootstrap-checks.ts";

/** Sources of the limits; replaced in tests. */
export interface FactSources {
  /** Returns the text of a file; undefined if it can't be read. */
  readonly read: (path: string) => string | undefined;
  /** Returns the magic number of the file system of `path` (statfs(2), f_type); undefined if the path doesn't exist. */
  readonly filesystemType: (path: string) => number | undefined;
  /** Bytes the control group allows; 0 or more than the machine has: no limit. */
  readonly constrainedMemoryBytes: () => number;
  readonly totalMemoryBytes: () => number;
}

/** Magic numbers of linux/magic.h. */
const IN_MEMORY = new Set([0x0102_1994 /* tmpfs */, 0x8584_58f6 /* ramfs */]);
const OVERLAY = 0x794c_7630;

const systemSources: FactSources = {
  read: (path) => ignoreMissing(() => readFileSync(path, "utf8")),
  filesystemType: (path) => ignoreMissing(() => statfsSync(path).type),
  constrainedMemoryBytes: () => process.constrainedMemory(),
  totalMemoryBytes: totalmem,
};

/** Returns the limits for a hub whose data goes to `dataFolder` (absolute; it may not exist yet). */
export function readMachineLimits(dataFolder: string, sources: FactSources = systemSources): MachineLimits {
  const limit = sources.constrainedMemoryBytes();
  const limited = limit > 0 && limit < sources.totalMemoryBytes();
  return {
    maxMapCount: wholeNumber(sources.read("/proc/sys/vm/max_map_count")),
    openFilesLimit: openFilesLimit(sources.read("/proc/self/limits")),
    memoryLimitBytes: limited ? limit : undefined,
    dataFilesystem: kindOfFilesystem(nearestType(dataFolder, sources)),
  };
}

/** Returns the soft limit, which Node raises to the hard limit at its start. */
function openFilesLimit(limits: string | undefined): number | undefined {
  const soft = /^Max open files\s+(\S+)/m.exec(limits ?? "")?.[1];
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : wholeNumber(soft);
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}

/** Returns the file system type of `folder`, or of its nearest existing parent. */
function nearestType(folder: string, { filesystemType }: FactSources): number | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const type = filesystemType(at);
    if (type !== undefined || at === dirname(at)) return type;
  }
}

function kindOfFilesystem(type: number | undefined): MachineLimits["dataFilesystem"] {
  if (type === undefined) return "unknown";
  if (IN_MEMORY.has(type)) return "memory";
  return type === OVERLAY ? "container layer" : "disk";
}

function ignoreMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
