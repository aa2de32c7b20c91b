/** Pipelines, trials of them, and dead letters at the hub. All calls throw HubError. */

import type { TextProblem } from "#ui/services/console/body-problems.ts";
import { callHub } from "#ui/services/hub/hub-client.ts";
import { asFacts, type Facts, type HubError } from "#ui/services/hub/json-call.ts";
import { valueText } from "#ui/services/search/log-document.ts";

export interface PipelineText {
  readonly id: string;
  readonly text: string;
  readonly description: string;
  /** `page`: made here; else it comes from files and can only be read. */
  readonly origin: string;
  readonly revision: number;
}

/** An event after a step; null: dropped there. */
export interface TrialStep {
  readonly name: string;
  readonly matched: boolean;
  readonly event: Facts | null;
}

export interface Trial {
  readonly input: Facts;
  readonly steps: readonly TrialStep[];
  readonly refused: readonly string[];
}

export interface GrokAnswer {
  readonly matched: boolean;
  /** Characters of the text that were read. */
  readonly end: number;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly matched_pattern: string;
  readonly failed_pattern: string;
}

/** What a step did to an event. */
export interface Change {
  readonly field: string;
  readonly kind: "added" | "changed" | "removed";
  readonly value: string;
}

export async function listPipelines(signal: AbortSignal): Promise<readonly Facts[]> {
  const { pipelines } = asFacts(await callHub("GET", "/api/pipelines", undefined, signal));
  return Array.isArray(pipelines) ? pipelines.map(asFacts) : [];
}

export async function getPipeline(id: string, signal: AbortSignal): Promise<PipelineText> {
  return pipelineOf(await callHub("GET", addressOf(id), undefined, signal));
}

/** Stores and runs a pipeline, only if its revision is still `revision`; 0: only if there is none of this name. */
export async function putPipeline(
  id: string,
  text: string,
  description: string,
  revision: number,
): Promise<PipelineText> {
  return pipelineOf(await callHub("PUT", `${addressOf(id)}?revision=${revision}`, { text, description }));
}

function addressOf(id: string): string {
  return `/api/pipelines/${encodeURIComponent(id)}`;
}

/** Of files the hub shows the files, and no revision. */
function pipelineOf(answer: unknown): PipelineText {
  const pipeline = answer as Omit<PipelineText, "text" | "revision"> & {
    readonly text?: string;
    readonly revision?: number;
    readonly files: readonly { readonly text: string }[];
  };
  const { text = pipeline.files.map((file) => file.text).join("\n"), revision = 0 } = pipeline;
  return { ...pipeline, text, revision };
}

export async function deletePipeline(id: string): Promise<void> {
  await callHub("DELETE", addressOf(id));
}

/** Runs lines through a text that needn't be stored. */
export async function tryPipeline(
  text: string,
  lines: readonly string[],
  signal: AbortSignal,
): Promise<readonly Trial[]> {
  const events = lines.length === 0 ? [""] : lines;
  const answer = await callHub("POST", "/api/pipelines/_try/simulate", { text, events }, signal);
  return (asFacts(answer)["simulations"] as readonly Trial[] | undefined) ?? [];
}

/** Returns what the hub found wrong with a text: up to the end of the word that begins at its line and column. */
export function problemsOf({ details }: HubError, text: string): TextProblem[] {
  const { diagnostics } = details;
  if (!Array.isArray(diagnostics)) return [];
  const lines = text.split("\n");
  return diagnostics.map(asFacts).map(({ line, column, message, hint }) => {
    const row = Math.min(Math.max(Number(line) || 1, 1), lines.length) - 1;
    const before = lines.slice(0, row).reduce((sum, one) => sum + one.length + 1, 0);
    const at = Math.min((Number(column) || 1) - 1, lines[row]!.length);
    const [word] = /^[\w@-]+|^.?/.exec(lines[row]!.slice(at))!;
    const from = before + at;
    return { from, to: from + word.length, message: [message, hint].filter(Boolean).join("\n") };
  });
}

export async function tryGrok(
  pattern: string,
  text: string,
  definitions: string,
  signal: AbortSignal,
): Promise<GrokAnswer> {
  return (await callHub("POST", "/api/grok", { pattern, text, definitions }, signal)) as GrokAnswer;
}

export async function listLetters(after: number, signal: AbortSignal): Promise<readonly Facts[]> {
  const { letters } = asFacts(await callHub("GET", `/api/dead-letters?after=${after}`, undefined, signal));
  return Array.isArray(letters) ? letters.map(asFacts) : [];
}

/** Sends a letter through the pipelines again, changed if an event is given. */
export async function replayLetter(sequence: number, event: unknown): Promise<void> {
  await callHub("POST", `/api/dead-letters/${sequence}/replay`, event === undefined ? {} : { event });
}

/** Returns what differs between two events, by dotted field. */
export function changesOf(before: Facts, after: Facts): Change[] {
  const old = flat(before);
  const now = flat(after);
  const changes: Change[] = [];
  for (const [field, value] of now) {
    if (!old.has(field)) changes.push({ field, kind: "added", value });
    else if (old.get(field) !== value) changes.push({ field, kind: "changed", value });
  }
  for (const [field, value] of old) if (!now.has(field)) changes.push({ field, kind: "removed", value });
  return changes;
}

function flat(facts: Facts, prefix = "", into = new Map<string, string>()): Map<string, string> {
  for (const [key, value] of Object.entries(facts)) {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    if (isObject) flat(asFacts(value), `${prefix}${key}.`, into);
    else into.set(`${prefix}${key}`, valueText(value));
  }
  return into;
}
