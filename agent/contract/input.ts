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
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { InputMetrics } from "./input-metrics.ts";
import type { Output } from "./output.ts";

/** What the agent passes to an input. */
export interface InputContext {
  /** `id` of the settings, or one made of the type and the settings. */
  readonly id: string;
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
  /** Returns true for a file the agent must not read, as it writes it itself. */
  readonly isOwnFile: (file: { readonly dev: number; readonly ino: number }, path: string) => boolean;
  /** False where the file system doesn't provide the birth time of files. */
  readonly hasBirthTimes: boolean;
  /** Returns true where a path lies on a disk of this machine, of which reads may be waited for. */
  readonly isNear: (path: string) => boolean;
  /** Ends the agent in order: for inputs that come to an end themselves. */
  readonly onEnd: () => void;
}

/** State of an input, for status and metrics. */
export interface InputState {
  readonly files: number;
  /** Unread files that wait until others are closed; undefined for inputs without files. */
  readonly waitingFiles?: number;
  readonly linesRead: number;
  readonly bytesRead: number;
  /** Bytes known that no acknowledgement covers, without lines that haven't ended. */
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
  /** Bytes after the last line end of a file that was read to its end: they are sent when their line ends. */
  readonly unfinishedBytes: number;
  /** Why it couldn't be read of late; empty where it could. */
  readonly lastError: string;
}

/** A running input. */
export interface Input extends Component {
  /** Gives up what acknowledgements need (open files), after the output has settled what it could. `stop` came before. */
  release?(): void;
  state(): InputState;
  /** Returns the files it knows. Only for inputs that read files. */
  files?(): Iterable<FileState>;
  /** Goes back to what is committed, as the hub's log was lost or rolled back. Only for inputs that can. */
  rewind?(): void;
}

/** One kind of input: its settings, their documentation, and how to make it. */
export interface InputPlugin<S extends TObject = TObject, Values = NoInfer<Static<S>>> {
  /** `type` of the settings. */
  readonly type: string;
  /** One sentence for the settings reference. */
  readonly summary: string;
  /** Slots of the output that it keeps while it waits for data; they are added to the output's. */
  readonly heldSlots: number;
  /** Settings beside the common ones; each with a description, and a default unless it is required. */
  readonly schema: S;
  /** Checks what the schema can't say. Throws settings_invalid without a place. */
  validate(settings: Values): void;
  create(settings: Values, context: InputContext): Input;
  /** Tries what the input needs of the machine, for `test config`. Rejects with the error that `start` would give. */
  probe?(settings: Values): Promise<void>;
}

/** Keeps the type of a plugin's settings while it is defined. */
export function defineInput<S extends TObject>(plugin: InputPlugin<S>): InputPlugin<S> {
  return plugin;
}
