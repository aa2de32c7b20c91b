/** Processor time of the calling thread: unlike the clock, it doesn't count while the thread waits for a processor. */

/** Returns the processor time that this thread has used since it began, ms. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
