/**
 * Computes where an index is in its lifecycle, and what is due. It reads and changes nothing: the API shows the result, and
 * the hub that holds the duties carries it out.
 *
 * The age of an index counts from its `origination_date`; else from its rollover, which is the creation of the next
 * generation; else, if its policy has no rollover, from its creation. An index that its policy rolls over has no age before
 * its rollover.
 */

import { toAppError } from "#proto/kit/errors.ts";
import { writeIndexOf } from "./aliases.ts";
import { backingIndices } from "./data-streams.ts";
import type { IndexMetadata } from "./index-metadata.ts";
import type { StoredPolicy } from "./lifecycle-catalog.ts";
import { type LifecyclePhase, parsePolicy, policyName } from "./lifecycle-policy.ts";
import { type RolloverCondition, rolloverAlias } from "./rollover.ts";

/** The actions that are due. A deletion is never due together with others. */
export type DueStep =
  | { readonly kind: "rollover"; readonly alias: string; readonly conditions: readonly RolloverCondition[] }
  | { readonly kind: "readonly" }
  | { readonly kind: "forcemerge"; readonly maxSegments: number }
  | { readonly kind: "delete" };

/** The position of an index in its policy. */
export interface LifecycleState {
  readonly policy: string;
  /** The time from which its age counts, ms since 1970; undefined: it has no age yet. */
  readonly sinceMs: number | undefined;
  /** When it was rolled over, if known. */
  readonly rolledOverMs: number | undefined;
  /** "new" before the first phase. */
  readonly phase: string;
  readonly action: string;
  readonly step: string;
  /** Why nothing can be done. */
  readonly error?: string;
  readonly due: readonly DueStep[];
}

/** Which indices receive writes, and which follow others, at one moment. */
export class IndexRelations {
  readonly #streams = new Map<string, IndexMetadata[]>();
  readonly #aliases = new Map<string, IndexMetadata[]>();

  constructor(indices: Iterable<IndexMetadata>) {
    for (const index of indices) {
      if (index.dataStream !== undefined) add(this.#streams, index.dataStream, index);
      for (const alias of Object.keys(index.aliases)) add(this.#aliases, alias, index);
    }
    for (const [stream, members] of this.#streams) this.#streams.set(stream, backingIndices(members, stream));
  }

  /** Returns the stream or alias through which `index` is written to; undefined if there is none. */
  writtenThrough(index: IndexMetadata): string | undefined {
    const { dataStream } = index;
    if (dataStream !== undefined && this.newestOf(dataStream)?.uuid === index.uuid) return dataStream;
    return Object.keys(index.aliases).find((alias) => this.writeIndexOf(alias)?.uuid === index.uuid);
  }

  newestOf(stream: string): IndexMetadata | undefined {
    return this.#streams.get(stream)?.at(-1);
  }

  /** Returns the index that an alias writes to; undefined if there is none or no single one. */
  writeIndexOf(alias: string): IndexMetadata | undefined {
    try {
      return writeIndexOf(this.#aliases.get(alias) ?? [], alias);
    } catch {
      return undefined;
    }
  }

  /** Returns the successor of an index: the next one in its stream, or the write index of its rollover alias. */
  successorOf(index: IndexMetadata): IndexMetadata | undefined {
    const { dataStream } = index;
    if (dataStream !== undefined) {
      const members = this.#streams.get(dataStream) ?? [];
      return members[members.findIndex(({ uuid }) => uuid === index.uuid) + 1];
    }
    const alias = rolloverAlias(index);
    const writing = alias === undefined ? undefined : this.writeIndexOf(alias);
    if (alias === undefined || writing === undefined || writing.uuid === index.uuid) return undefined;
    return Object.hasOwn(index.aliases, alias) || isLaterOf(writing.name, index.name) ? writing : undefined;
  }
}

function add(map: Map<string, IndexMetadata[]>, key: string, index: IndexMetadata): void {
  const members = map.get(key);
  if (members === undefined) map.set(key, [index]);
  else members.push(index);
}

/** Returns true for "logs-000012" and "logs-000002". */
function isLaterOf(name: string, earlier: string): boolean {
  const [later, before] = [name, earlier].map((each) => /^(.+)-(\d{1,15})$/.exec(each));
  return later?.[1] !== undefined && later[1] === before?.[1] && Number(later[2]) > Number(before[2]);
}

/** Returns where `index` is in its lifecycle; undefined for an index that names no policy. */
export function lifecycleOf(
  index: IndexMetadata,
  relations: IndexRelations,
  policyOf: (name: string) => StoredPolicy | undefined,
  nowMs: number,
): LifecycleState | undefined {
  const policy = policyName(index);
  if (policy === undefined) return undefined;
  const nothing = { policy, rolledOverMs: index.rolledOverMs, due: [] };
  const stored = policyOf(policy);
  if (stored === undefined) return { ...nothing, sinceMs: undefined, ...missing(policy) };
  let phases: LifecyclePhase[];
  try {
    phases = parsePolicy(stored.policy);
  } catch (error) {
    return { ...nothing, sinceMs: undefined, ...missing(policy), error: toAppError(error).message };
  }
  const rollover = phases[0]?.name === "hot" ? phases[0].rollover : undefined;
  const isComplete = String(index.settings.raw["lifecycle.indexing_complete"]) === "true";
  const rolledOverMs = rolloverTime(index, relations, rollover !== undefined && isComplete, nowMs);
  const sinceMs =
    originationDate(index) ??
    rolledOverMs ??
    (rollover === undefined ? index.settings.creationDate : undefined);
  const state = { policy, sinceMs, rolledOverMs };
  if (rollover !== undefined && rolledOverMs === undefined)
    return { ...state, ...rolling(index, relations, rollover) };
  return { ...state, ...aging(index, relations, policy, phases, nowMs - (sinceMs ?? nowMs)) };
}

function missing(policy: string) {
  return { phase: "new", action: "init", step: "ERROR", error: `policy [${policy}] does not exist` };
}

/**
 * An index that is written to again because its successors are gone has not been rolled over. One that was made after its
 * successor, such as a restored or imported one, counts from its own creation.
 */
function rolloverTime(
  index: IndexMetadata,
  relations: IndexRelations,
  isComplete: boolean,
  nowMs: number,
): number | undefined {
  const succeededMs = index.rolledOverMs ?? relations.successorOf(index)?.settings.creationDate;
  const atMs = succeededMs === undefined ? undefined : Math.max(succeededMs, index.settings.creationDate);
  if (isComplete) return atMs ?? nowMs;
  const { dataStream } = index;
  const alias = rolloverAlias(index);
  const writing =
    dataStream === undefined ? alias && relations.writeIndexOf(alias) : relations.newestOf(dataStream);
  if (writing && writing.uuid === index.uuid) return undefined;
  return atMs;
}

function originationDate({ settings }: IndexMetadata): number | undefined {
  const date = Number(settings.raw["lifecycle.origination_date"] ?? -1);
  return Number.isSafeInteger(date) && date >= 0 ? date : undefined;
}

type Rest = Omit<LifecycleState, "policy" | "sinceMs" | "rolledOverMs">;

/** The state of an index that its policy still has to roll over. */
function rolling(
  index: IndexMetadata,
  relations: IndexRelations,
  conditions: readonly RolloverCondition[],
): Rest {
  const at = { phase: "hot", action: "rollover" };
  const { name, dataStream } = index;
  if (dataStream !== undefined)
    return {
      ...at,
      step: "check-rollover-ready",
      due: [{ kind: "rollover", alias: dataStream, conditions }],
    };
  const refuse = (error: string): Rest => ({ ...at, step: "ERROR", error, due: [] });
  const alias = rolloverAlias(index);
  if (alias === undefined)
    return refuse(`setting [index.lifecycle.rollover_alias] for index [${name}] is empty or not defined`);
  if (!Object.hasOwn(index.aliases, alias))
    return refuse(`index.lifecycle.rollover_alias [${alias}] does not point to index [${name}]`);
  if (relations.writeIndexOf(alias)?.uuid !== index.uuid)
    return refuse(`index [${name}] is not the write index for alias [${alias}]`);
  return { ...at, step: "check-rollover-ready", due: [{ kind: "rollover", alias, conditions }] };
}

/** The state of an index of this age. A phase is reached only after those before it. */
function aging(
  index: IndexMetadata,
  relations: IndexRelations,
  policy: string,
  phases: readonly LifecyclePhase[],
  ageMs: number,
): Rest {
  const next = phases.findIndex(({ minAgeMs }) => minAgeMs > 0 && ageMs < minAgeMs);
  const reached = next === -1 ? phases : phases.slice(0, next);
  const phase = reached.at(-1)?.name ?? "new";
  const written = relations.writtenThrough(index);
  if (reached.at(-1)?.deletes !== true)
    return { phase, action: "complete", step: "complete", due: duringLife(index, reached, written) };
  if (written === undefined) return { phase, action: "delete", step: "delete", due: [{ kind: "delete" }] };
  const what = written === index.dataStream ? "data stream" : "alias";
  const error = `index [${index.name}] is the write index of ${what} [${written}], which policy [${policy}] doesn't delete; roll it over`;
  return { phase, action: "delete", step: "ERROR", error, due: [] };
}

function duringLife(
  index: IndexMetadata,
  reached: readonly LifecyclePhase[],
  written: string | undefined,
): DueStep[] {
  // The write index isn't blocked.
  const isBlocked = written !== undefined || String(index.settings.raw["blocks.write"]) === "true";
  const blocks = !isBlocked && reached.some(({ isReadOnly }) => isReadOnly);
  const maxSegments = reached.findLast((phase) => phase.maxSegments !== undefined)?.maxSegments;
  return [
    ...(blocks ? [{ kind: "readonly" } as const] : []),
    ...(maxSegments === undefined ? [] : [{ kind: "forcemerge", maxSegments } as const]),
  ];
}
