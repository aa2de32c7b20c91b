/** Facts about running processes from /proc. */

import { readdirSync, readFileSync } from "node:fs";

/** CPU time in /proc/PID/stat is counted in hundredths of a second on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const NS_PER_SECOND = 1e9;

/** Returns the pids whose command line holds every one of `words`. */
export function findProcesses(...words: string[]): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
      return pid !== process.pid && words.every((word) => command.includes(word));
    });
}

/** Returns the CPU-seconds (user and system, all threads, ended ones too) a process has used; 0 where it is gone. */
export function cpuSeconds(pid: number): number {
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /, "")
    .split(" ");
  const ticks = Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  // Ticks are rounded down, and threads' nanoseconds lack ended threads: the larger sum is nearer to the truth.
  return Math.max(ticks / TICKS_PER_SECOND, threadSeconds(pid));
}

/** Returns the CPU-seconds of the running threads of a process; 0 where the kernel doesn't count nanoseconds. */
function threadSeconds(pid: number): number {
  let ns = 0;
  for (const thread of list(`/proc/${pid}/task`))
    ns += Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0]);
  return ns / NS_PER_SECOND;
}

/** Returns the nice value of each thread of a process. */
export function niceOfThreads(pid: number): ReadonlyMap<string, number> {
  const threads = new Map<string, number>();
  for (const thread of list(`/proc/${pid}/task`)) {
    const fields = read(`/proc/${pid}/task/${thread}/stat`)
      .replace(/^.*\) /, "")
      .split(" ");
    threads.set(thread, Number(fields[16] ?? 0));
  }
  return threads;
}

/** Returns the resident memory of a process, bytes; 0 where it is gone. */
export function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

/** Returns the largest resident memory a process ever had, bytes; 0 where it is gone. */
export function peakResidentBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

/** Returns the resident memory of a process without pages of files, bytes; 0 where it is gone. */
export function ownBytes(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
