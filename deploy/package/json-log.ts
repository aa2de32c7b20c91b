/** The bundle's log: always JSON, as the formatter for terminals is a worker thread with its own packages. */

import { createLogger as createEither, type Logger, type LogOptions } from "#proto/kit/log.ts";

export type { Logger, LogOptions } from "#proto/kit/log.ts";
export { silentLogger } from "#proto/kit/log.ts";

/** Returns the root logger of a process, writing JSON lines to standard error. */
export function createLogger(options: LogOptions): Logger {
  return createEither({ ...options, pretty: false });
}
