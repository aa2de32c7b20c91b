/**
 * The contract between the agent and its inputs.
 *
 * An input must run on its own: `start` doesn't wait for data, `stop` ends all its tasks. It must read only
 * when it holds a slot of the output. It must move its stored position only when a batch is settled. It must
 * count and log what it drops. Its errors must not reach another input.
 */

import type { Static, TObject } from "typebox";
import type { Registry } from "#agent/registry/registry.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { DROPS_HELP } from "#proto/kit/net/datagram-drops.ts";
import type { Output } from "./output.ts";

/** What the agent passes to an input. */
export interface InputContext {
  /** `id` of the settings, or one made of the type and the settings. */
  readonly id: string;
  /** Returns true for the id of an input of the settings. Ids made of settings change with them. */
  readonly isInput: (id: string) => boolean;
  /** {"fields": {}, "tags": []} of the settings as UTF-8; empty for none. */
  readonly fieldsJson: Uint8Array;
  readonly output: Output;
  readonly registry: Registry;
  readonly metrics: InputMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** `path.data`, for what an input keeps on disk. */
  readonly dataFolder: string;
  /** Longest wait for more lines before a batch is sent, ms. */
  readonly lingerMs: number;
  /** Largest batch, bytes of log data. */
  readonly batchBytes: number;
  /** Returns true for a file that the agent writes itself and must not read. */
  readonly isOwnFile: (file: { readonly dev: number; readonly ino: number }, path: string) => boolean;
  /** False if the file system doesn't provide the birth time of files. */
  readonly hasBirthTimes: boolean;
  /** Returns true if a path lies on a disk of this machine, whose reads the agent may wait for. */
  readonly isNear: (path: string) => boolean;
  /** Ends the agent in order: for inputs that end by themselves. */
  readonly onEnd: () => void;
}

/** State of an input, for status and metrics. */
export interface InputState {
  readonly files: number;
  /** Unread files that wait until others are closed; undefined for inputs without files. */
  readonly waitingFiles?: number;
  readonly linesRead: number;
  readonly bytesRead: number;
  /** Known bytes that aren't acknowledged, without unfinished lines. */
  readonly lagBytes: number;
  /** Unread or uncommitted bytes in files that are deleted but held open. */
  readonly openDeletedBytes: number;
  /** Since the start. */
  readonly errors: number;
  readonly lastError: string;
}

/** State of one file, for status. */
export interface FileState {
  readonly path: string;
  /** `moved`: its path is outside the input's patterns; `deleted`: it has no path and is held open. */
  readonly place: "open" | "closed" | "moved" | "deleted";
  /** At the last check. */
  readonly sizeBytes: number;
  /** Everything below is in the hub's log, bytes. */
  readonly sentBytes: number;
  /** Everything below is in committed segments, bytes. */
  readonly committedBytes: number;
  /** Bytes after the last line end of a file that was read to its end: they are sent when the line ends. */
  readonly unfinishedBytes: number;
  /** Why it couldn't be read recently; empty if it could. */
  readonly lastError: string;
}

/** A running input. */
export interface Input extends Component {
  /**
   * Releases what acknowledgements need (open files), after the output has settled the batches it could. `stop` came
   * before.
   */
  release?(): void;
  /**
   * Stores what isn't acknowledged when the agent ends, before `release`. Only for inputs whose senders don't repeat
   * their data.
   */
  preserve?(): void;
  /** Returns true while sent events are not acknowledged. With `preserve`, which would store them. */
  hasUnacknowledged?(): boolean;
  state(): InputState;
  /** Returns why a started input reads nothing at present; empty if it does. Only for inputs that depend on others. */
  problem?(): string;
  /** Returns the known files. Only for inputs that read files. */
  files?(): Iterable<FileState>;
  /** Goes back to the committed position because the hub's log was lost or rolled back. Only for inputs that can. */
  rewind?(): void;
}

/** One kind of input: its settings, their documentation, and how to make it. */
export interface InputPlugin<S extends TObject = TObject, Values = NoInfer<Static<S>>> {
  /** `type` of the settings. */
  readonly type: string;
  /** One sentence for the settings reference. */
  readonly summary: string;
  /** Slots of the output that it holds while it waits for data; they are added to the output's. */
  readonly heldSlots: number;
  /** Settings beside the common ones; each with a description, and a default unless it is required. */
  readonly schema: S;
  /** Checks rules that the schema can't express. Throws settings_invalid without a location. */
  validate(settings: Values): void;
  create(settings: Values, context: InputContext): Input;
  /**
   * Tries the resources of the machine that the input needs, for `test config`. Rejects with the error that `start`
   * would throw.
   */
  probe?(settings: Values): Promise<void>;
}

/** Keeps the type of a plugin's settings while it is defined. */
export function defineInput<S extends TObject>(plugin: InputPlugin<S>): InputPlugin<S> {
  return plugin;
}

/** Returns settings_invalid. `setting`: name of the setting at fault in the input's schema; the message names its line. */
export function settingFault(setting: string, message: string, cause?: unknown): AppError {
  return new AppError("settings_invalid", message, { cause, data: { setting } });
}

/** Returns the name that `settingFault` was given; undefined where the fault concerns the whole input. */
export function settingAtFault({ data }: AppError): string | undefined {
  return typeof data["setting"] === "string" ? data["setting"] : undefined;
}

export interface InputMetrics {
  /** Bytes of files that were gone before they were read. */
  readonly lostBytes: Counter<"input">;
  /** Bytes of NULs passed over. */
  readonly nulBytes: Counter<"input">;
  /** Bytes left out of events that were too long. */
  readonly truncatedBytes: Counter<"input">;
  /** Events that include_lines and exclude_lines left out. */
  readonly filtered: Counter<"input">;
  /** Messages that network inputs could not take. */
  readonly dropped: Counter<"input">;
  /** Files whose content was replaced. */
  readonly rewritten: Counter<"input">;
  readonly errors: Counter<"input">;
  readonly scans: Counter<"input">;
  /** Processor time of searches for files, s. */
  readonly scanSeconds: Counter<"input">;
}

/** Makes them. */
export function inputMetrics(metrics: Metrics): InputMetrics {
  return {
    lostBytes: metrics.counter(
      "tailrace_agent_lost_bytes_total",
      "Bytes of files that were gone before they were read.",
      ["input"],
    ),
    nulBytes: metrics.counter("tailrace_agent_nul_bytes_total", "Bytes of NULs passed over in files.", [
      "input",
    ]),
    truncatedBytes: metrics.counter(
      "tailrace_agent_truncated_bytes_total",
      "Bytes left out of events that were too long.",
      ["input"],
    ),
    filtered: metrics.counter("tailrace_agent_filtered_events_total", "Events that filters left out.", [
      "input",
    ]),
    dropped: metrics.counter(
      "tailrace_agent_dropped_messages_total",
      `Messages that a network input dropped because its buffers were full, ${DROPS_HELP}.`,
      ["input"],
    ),
    rewritten: metrics.counter("tailrace_agent_rewritten_files_total", "Files whose content was replaced.", [
      "input",
    ]),
    errors: metrics.counter("tailrace_agent_input_errors_total", "Failures to open or read.", ["input"]),
    scans: metrics.counter("tailrace_agent_scans_total", "Searches for files.", ["input"]),
    scanSeconds: metrics.counter(
      "tailrace_agent_scan_cpu_seconds_total",
      "Processor time that searches for files took.",
      ["input"],
    ),
  };
}
