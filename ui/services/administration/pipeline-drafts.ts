/** Unsaved texts of pipelines: kept in the browser until they are saved or discarded, or somebody signs out. */

import { readOwn, writeOwn } from "#ui/services/browser/own-texts.ts";

/** Where a draft belongs. */
export interface DraftKey {
  /** Name of the account that wrote it. */
  readonly account: string;
  /** Name of the pipeline, or as `newDraftName` returns it. */
  readonly name: string;
}

export interface PipelineDraft extends DraftKey {
  /** Revision of the stored pipeline that was changed; 0: of a new one. */
  readonly revision: number;
  readonly text: string;
}

const NAME = "pipeline-drafts";
/** Older ones are forgotten. */
const MAX_DRAFTS = 5;

/** Returns the name for the draft of a new pipeline that begins with a grok expression; "": without one. */
export function newDraftName(grok: string): string {
  // No pipeline's name has a blank.
  return grok === "" ? "" : `grok ${grok}`;
}

/** Returns the draft of a pipeline; undefined if there is none. */
export function readPipelineDraft(key: DraftKey): PipelineDraft | undefined {
  return readDrafts(key).find(({ name }) => name === key.name);
}

/** Stores a draft instead of the previous one. Returns false if the browser can't keep it. */
export function writePipelineDraft(draft: PipelineDraft): boolean {
  return store(
    draft,
    [draft, ...readDrafts(draft).filter(({ name }) => name !== draft.name)].slice(0, MAX_DRAFTS),
  );
}

/** Forgets the draft of a pipeline. */
export function removePipelineDraft(key: DraftKey): void {
  const drafts = readDrafts(key);
  const others = drafts.filter(({ name }) => name !== key.name);
  if (others.length < drafts.length) store(key, others);
}

function store({ account }: DraftKey, drafts: readonly PipelineDraft[]): boolean {
  return writeOwn(account, NAME, drafts.length === 0 ? undefined : JSON.stringify(drafts));
}

function readDrafts({ account }: DraftKey): PipelineDraft[] {
  try {
    const known: unknown = JSON.parse(readOwn(account, NAME) ?? "[]");
    return Array.isArray(known) ? known.filter(isDraft) : [];
  } catch {
    // Another program wrote there: the drafts start again.
    return [];
  }
}

function isDraft(value: unknown): value is PipelineDraft {
  const { account, name, revision, text } = (value ?? {}) as Partial<PipelineDraft>;
  return (
    typeof account === "string" &&
    typeof name === "string" &&
    typeof revision === "number" &&
    typeof text === "string"
  );
}
