/**
 * Runs work with a temporary change of the hub, which is undone however the work ends. While documents are copied to
 * indices, these have no final pipelines: the documents went through them in the source.
 */

import { AppError, toAppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";
import { type ClusterClient, segmentOf } from "./cluster-client.ts";
import { flatSettings } from "./source-index.ts";

const SETTING = "final_pipeline";
/** Name for "no pipeline". */
const NONE = "_none";

/** A copy to an index or data stream of the hub. */
interface Copied {
  /** Name in the hub. */
  readonly target: string;
  /** Settings of an index of the source. */
  readonly settings: unknown;
}

/** Time that undoing a change may take once the import was stopped or has failed. */
const LIMIT_MS = 10_000;

/** How a change is undone. */
export interface Undo {
  /** Idempotent: has the same effect when it is run twice. */
  readonly run: (hub: ClusterClient) => Promise<unknown>;
  /** What stays changed if the undo fails, and what the user can do. */
  readonly remedy: string;
}

/**
 * Runs `work` and then `undo`, also if `work` fails or the import is stopped. Throws the first error; if the change
 * couldn't be undone, its message ends with the remedy.
 */
export async function undoAfter<T>(hub: ClusterClient, work: () => Promise<T>, undo: Undo): Promise<T> {
  try {
    const result = await work();
    await undo.run(hub);
    return result;
  } catch (cause) {
    if (await undoStopped(hub, undo)) throw cause;
    const { code, message, detail } = toAppError(cause);
    throw new AppError(code, `${message}; ${undo.remedy}`, {
      cause,
      ...(detail !== undefined && { detail }),
    });
  }
}

/** Undoes the change with requests that the end of the import doesn't abort. Returns whether it succeeded. */
async function undoStopped(hub: ClusterClient, undo: Undo): Promise<boolean> {
  const last = hub.until(AbortSignal.timeout(LIMIT_MS));
  try {
    await undo.run(last);
    return true;
  } catch {
    return false;
  } finally {
    last.close();
  }
}

/**
 * Runs `work` while the targets whose sources have a final pipeline have none. The pipelines are set again afterwards,
 * also those that an interrupted import removed. Throws what `work` throws, and as `ClusterClient.ask`.
 */
export async function aroundFinalPipelines(
  hub: ClusterClient,
  copies: readonly Copied[],
  work: () => Promise<void>,
): Promise<void> {
  const taken = new Map<string, string>();
  for (const { target, settings } of copies) {
    const ofSource = pipelineIn(settings);
    if (ofSource === undefined || ofSource === NONE) continue;
    const own = await ownPipeline(hub, target);
    if (own !== undefined) taken.set(target, own === NONE ? ofSource : own);
  }
  if (taken.size === 0) return work();
  const set = async (client: ClusterClient, target: string, pipeline: string): Promise<void> => {
    await client.ask("PUT", `/${segmentOf(target)}/_settings`, { index: { [SETTING]: pipeline } });
  };
  const withoutThem = async (): Promise<void> => {
    for (const target of taken.keys()) await set(hub, target, NONE);
    await work();
  };
  await undoAfter(hub, withoutThem, {
    run: async (client) => {
      for (const [target, pipeline] of taken) await set(client, target, pipeline);
    },
    remedy: `final pipelines of ${[...taken.keys()].join(", ")} may still be off: the same import sets them again`,
  });
}

/** Returns the pipeline of an index, or of the newest index of a data stream. */
async function ownPipeline(hub: ClusterClient, target: string): Promise<string | undefined> {
  const answer = (await hub.find(`/${segmentOf(target)}/_settings`)) ?? {};
  const newest = Object.keys(answer).toSorted().at(-1);
  const entry = newest === undefined ? undefined : answer[newest];
  return isObject(entry) ? pipelineIn(entry["settings"]) : undefined;
}

function pipelineIn(settings: unknown): string | undefined {
  const value = flatSettings(settings)[SETTING];
  return typeof value === "string" && value !== "" ? value : undefined;
}
