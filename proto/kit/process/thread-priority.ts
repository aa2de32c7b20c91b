/**
 * The priority of threads. A thread that does bulk work gets a lower priority than the main thread, which answers
 * requests: otherwise the main thread would get the CPU only after the time slices of all others.
 */

import { readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/**
 * How much nicer such a thread is. Linux gives it a third of the time of a normal thread that wants the same CPU. That is
 * enough for a thread that wakes up to go first, and little enough that other programs can't stop this one: with 19 it would
 * get a seventieth. A CPU that nobody else wants it has completely. All such threads have the same value, as each feeds the
 * next: documents would pile up before a thread that gets less than the one before it.
 */
const NICER = 5;
/** The largest nice value of Linux. */
const MAX_NICE = 19;
/** What V8 calls the threads that collect garbage and compile for all others of the process. */
const V8_THREAD = "V8Worker";

/**
 * Lowers the priority of the calling thread permanently; a second call lowers it further. Linux has a nice value for
 * each thread. Elsewhere it is the process's and stays as it is. Linux compares the values of threads in one session or
 * control group only, so what other services get doesn't change.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    lower(0);
  } catch {
    // A sandbox may forbid it; the thread then works as before. `lowerV8ThreadPriority` logs it once for all threads.
  }
}

/**
 * Lowers the priority of the threads that V8 started with the process to collect garbage and to compile. They work mostly for
 * threads whose priority was lowered, and would take the CPU from the main thread in their stead. Returns what prevented it:
 * an error of setpriority(2) is then that of all threads.
 */
export function lowerV8ThreadPriority(): Error | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const tasks = "/proc/self/task";
    for (const thread of readdirSync(tasks))
      if (readFileSync(`${tasks}/${thread}/comm`, "utf8").trim() === V8_THREAD) lower(Number(thread));
    return undefined;
  } catch (error) {
    // Without /proc they stay as they are, too.
    return error as Error;
  }
}

/** Lowers the priority of a thread; 0: of the calling one, see setpriority(2). */
function lower(thread: number): void {
  setPriority(thread, Math.min(MAX_NICE, getPriority(thread) + NICER));
}
