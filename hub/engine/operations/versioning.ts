/**
 * Whether an operation may change a document: versions, sequence numbers, existence. Wording as in 6.5. Versions of
 * deleted documents are kept for a while, so that a late write with an older version is recognised.
 */

import { AppError } from "#proto/kit/errors.ts";
import { DocOperation, type tailrace } from "#proto/messages.ts";

/** How long after its deletion a version is remembered, in the log's time. As index.gc_deletes. */
const KEEP_MS = 60_000;

/** Versions remembered, at most; the oldest go first. */
const MAX_TOMBSTONES = 50_000;

interface Tombstone {
  readonly version: number;
  readonly seqNo: number;
  /** When it was deleted by the clock of the log, ms since 1970-01-01 UTC. */
  readonly timeMs: number;
}

/** What a manifest keeps of them. */
export type TombstonesState = readonly (readonly [id: string, tombstone: Tombstone])[];

/** Depends on the log only, never on this machine's clock, so that every replay comes to the same versions. */
export class Tombstones {
  readonly #byId: Map<string, Tombstone>;

  constructor(state: TombstonesState = []) {
    this.#byId = new Map(state);
  }

  get(id: string): Tombstone | undefined {
    return this.#byId.get(id);
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  /** Records a deletion. */
  add(id: string, tombstone: Tombstone): void {
    this.#byId.delete(id);
    this.#byId.set(id, tombstone);
    for (const [oldId, old] of this.#byId) {
      if (old.timeMs + KEEP_MS >= tombstone.timeMs && this.#byId.size <= MAX_TOMBSTONES) break;
      this.#byId.delete(oldId);
    }
  }

  /** The document is back. */
  remove(id: string): void {
    if (this.#byId.size > 0) this.#byId.delete(id);
  }

  state(): TombstonesState {
    return [...this.#byId];
  }
}

/** Primary term of all operations: the log orders them, so there is one only. */
export const PRIMARY_TERM = 1;

/** The state of a document before an operation. */
export interface DocumentState {
  /** Of the document, or of its deletion while that is remembered; 0 for neither. */
  readonly version: number;
  readonly seqNo: number;
  readonly exists: boolean;
}

const { EXTERNAL, EXTERNAL_GTE, INTERNAL } = DocOperation.VersionType;

/** Returns the version that the operation gives the document. Throws version_conflict. */
export function nextVersion(operation: tailrace.IDocOperation, state: DocumentState): number {
  const id = operation.id ?? "";
  // Of both conditions the version is named first: it is what clients of 6.5 know.
  const version = versionOf(operation, state, id);
  checkSequence(operation, state);
  return version;
}

function versionOf(operation: tailrace.IDocOperation, state: DocumentState, id: string): number {
  if (operation.kind === DocOperation.Kind.CREATE && state.exists) {
    throw conflict(id, `document already exists (current version [${state.version}])`);
  }
  const given = operation.version ?? 0;
  switch (operation.hasVersion === true ? (operation.versionType ?? INTERNAL) : INTERNAL) {
    case EXTERNAL:
      // What was never there has no version that 0 could be compared with.
      if (given > state.version || (!state.exists && state.version === 0)) return given;
      throw conflict(
        id,
        `current version [${state.version}] is higher or equal to the one provided [${given}]`,
      );
    case EXTERNAL_GTE:
      if (given >= state.version) return given;
      throw conflict(id, `current version [${state.version}] is higher than the one provided [${given}]`);
    default:
      if (operation.hasVersion === true && (!state.exists || given !== state.version)) {
        const current = state.exists ? state.version : -1;
        throw conflict(id, `current version [${current}] is different than the one provided [${given}]`);
      }
      return state.version + 1;
  }
}

function checkSequence(operation: tailrace.IDocOperation, state: DocumentState): void {
  const term = operation.ifPrimaryTerm ?? 0;
  if (term === 0) return;
  const required = operation.ifSeqNo ?? 0;
  if (state.exists && state.seqNo === required && term === PRIMARY_TERM) return;
  const current = state.exists
    ? `current document has seqNo [${state.seqNo}] and primary term [${PRIMARY_TERM}]`
    : "but no document was found";
  throw conflict(operation.id ?? "", `required seqNo [${required}], primary term [${term}]. ${current}`);
}

function conflict(id: string, why: string): AppError {
  return new AppError("version_conflict", `[_doc][${id}]: version conflict, ${why}`);
}
