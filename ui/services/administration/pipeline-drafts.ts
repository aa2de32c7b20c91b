/** Unsaved texts of pipelines: kept in the browser until they are saved or discarded. */

import { readPreference, writePreference } from "#ui/services/browser/preferences.ts";

export interface PipelineDraft {
  /** Name of the pipeline; "": of a new one. */
  readonly name: string;
  /** Revision of the stored pipeline that was changed; 0: of a new one. */
  readonly revision: number;
  readonly text: string;
}

const NAME = "pipeline-drafts";
/** Older ones are forgotten. */
const MAX_DRAFTS = 5;

/** Returns the draft of a pipeline; undefined if there is none. */
export function readPipelineDraft(name: string): PipelineDraft | undefined {
  return readDrafts().find((draft) => draft.name === name);
}

/** Stores a draft instead of the previous one. */
export function writePipelineDraft(draft: PipelineDraft): void {
  store([draft, ...readDrafts().filter(({ name }) => name !== draft.name)].slice(0, MAX_DRAFTS));
}

/** Forgets the draft of a pipeline. */
export function removePipelineDraft(name: string): void {
  const drafts = readDrafts();
  const others = drafts.filter((draft) => draft.name !== name);
  if (others.length < drafts.length) store(others);
}

function store(drafts: readonly PipelineDraft[]): void {
  writePreference(NAME, drafts.length === 0 ? undefined : JSON.stringify(drafts));
}

function readDrafts(): PipelineDraft[] {
  try {
    const known: unknown = JSON.parse(readPreference(NAME) ?? "[]");
    return Array.isArray(known) ? known.filter(isDraft) : [];
  } catch {
    // Another program wrote there: the drafts start again.
    return [];
  }
}

function isDraft(value: unknown): value is PipelineDraft {
  const { name, revision, text } = (value ?? {}) as Partial<PipelineDraft>;
  return typeof name === "string" && typeof revision === "number" && typeof text === "string";
}
