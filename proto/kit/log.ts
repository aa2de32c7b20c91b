/** Structured log: JSON lines, readable lines on a terminal, secrets left out. */

import { pino, stdSerializers } from "pino";
import { withoutSteering } from "./printable.ts";

export type Logger = pino.Logger;

/** Fields that never reach a log, directly or in an object. */
const SECRETS = [
  "authorization",
  "cookie",
  "client_secret",
  "password",
  "token",
  "code",
  "access_token",
  "refresh_token",
  "api_key",
];

/** Fields of errors; an error in another field loses its message and stack. */
const ERRORS = { err: errorOf, error: errorOf };

export interface LogOptions {
  /** "agent" or "hub". */
  readonly name: string;
  /** error, warn, info or debug. */
  readonly level: string;
  /** Lines for people instead of JSON. */
  readonly pretty: boolean;
}

/** Returns the root logger of a process, writing to standard error. */
export function createLogger({ name, level, pretty }: LogOptions): Logger {
  const options: pino.LoggerOptions = {
    name,
    level,
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: ERRORS,
    redact: { paths: [...SECRETS, ...SECRETS.map((key) => `*.${key}`)], censor: "[hidden]" },
  };
  if (!pretty) return pino(options, pino.destination({ fd: 2, sync: true }));
  return pino({
    ...options,
    // JSON escapes control characters; the printer of lines would write them unescaped.
    hooks: { streamWrite: withoutSteering },
    transport: {
      target: "pino-pretty",
      options: { destination: 2, ignore: "pid,hostname,name", translateTime: "HH:MM:ss" },
    },
  });
}

/** Names the code of an error otherwise: a field `code` may be that of a sign-in, which is hidden. */
function errorOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, ...rest } = stdSerializers.err(error);
  return code === undefined ? rest : { ...rest, error_code: code };
}

/** Returns a logger of a thread; `send` takes its lines to `writeSentLine` of the thread that writes the log. */
export function sendingLogger(level: string, send: (line: string) => void): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    timestamp: false,
    formatters: { level: (label) => ({ level: label }) },
    serializers: ERRORS,
  };
  return pino(options, { write: send });
}

/** Writes a line of `sendingLogger` into the log. */
export function writeSentLine(log: Logger, line: string): void {
  const { level, msg, ...fields } = JSON.parse(line) as { level: string; msg?: string };
  const write =
    level === "fatal" || level === "error" || level === "warn" || level === "debug" ? level : "info";
  log[write](fields, msg);
}

/** Returns a logger that writes nothing, for tests. */
export function silentLogger(): Logger {
  return pino({ level: "silent" });
}
