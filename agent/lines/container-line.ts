/** Lines of container runtimes: Docker's json-file driver and the Container Runtime Interface (CRI). */

import { parseJsonObject } from "#proto/codec/json.ts";

export type ContainerFormatName = "auto" | "docker" | "cri";

/** One line of a runtime: a whole line of the container, or a piece of one. */
export interface ContainerLine {
  /** stdout or stderr. */
  readonly stream: string;
  readonly text: string;
  /** True where the container's line goes on in the next line of the same stream. */
  readonly partial: boolean;
  /** ms since 1970-01-01 UTC; 0: unknown. */
  readonly timeMs: number;
}

/** "<RFC 3339 time> <stream> <tags> <text>": the first tag is P for a piece, F for the last or only one. */
const CRI = /^(\d{4}-\d\d-\d\dT\S+) (stdout|stderr) ([^ ]*)(?: (.*))?$/s;

/** Returns what the line says, or null where it is none of the runtime's. */
export function readContainerLine(line: string, format: ContainerFormatName): ContainerLine | null {
  const docker = format === "docker" || (format === "auto" && line.startsWith("{"));
  return docker ? readDocker(line) : readCri(line);
}

function readDocker(line: string): ContainerLine | null {
  const object = parseJsonObject(line);
  const text = object?.["log"];
  if (object === undefined || typeof text !== "string") return null;
  const { stream, time } = object;
  const whole = text.endsWith("\n");
  return {
    stream: typeof stream === "string" ? stream : "stdout",
    text: whole ? text.slice(0, text.endsWith("\r\n") ? -2 : -1) : text,
    partial: !whole,
    timeMs: timeOf(time),
  };
}

function readCri(line: string): ContainerLine | null {
  const match = CRI.exec(line);
  if (match === null) return null;
  const [, time, stream = "", tags = "", text = ""] = match;
  return { stream, text, partial: tags.split(":", 1)[0] === "P", timeMs: timeOf(time) };
}

function timeOf(time: unknown): number {
  const timeMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isNaN(timeMs) || timeMs < 0 ? 0 : timeMs;
}
