/** Time that work takes by itself, however busy the machine is. */

/** Returns how long this thread has run on a processor since it began, ms. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
