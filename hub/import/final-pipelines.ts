/** Final pipelines of indices that documents are copied to: the documents went through them in the source. */

import { isObject } from "#proto/kit/json.ts";
import type { ClusterClient } from "./cluster-client.ts";
import { flatSettings } from "./source-index.ts";

const SETTING = "final_pipeline";
/** Stands for no pipeline. */
const NONE = "_none";

/** What is copied to an index or data stream of the hub. */
interface Copied {
  /** Name in the hub. */
  readonly target: string;
  /** Settings of an index of the source. */
  readonly settings: unknown;
}

/**
 * Takes the final pipelines off the targets whose sources have one. Returns a function that sets them again, also those
 * that an interrupted import took off. Throws as `ClusterClient.ask`.
 */
export async function takeOffFinalPipelines(
  hub: ClusterClient,
  copies: readonly Copied[],
): Promise<() => Promise<void>> {
  const taken = new Map<string, string>();
  for (const { target, settings } of copies) {
    const ofSource = pipelineIn(settings);
    if (ofSource === undefined || ofSource === NONE) continue;
    const own = await ownPipeline(hub, target);
    if (own === undefined) continue;
    taken.set(target, own === NONE ? ofSource : own);
  }
  const setAll = async (pipelineOf: (target: string) => string): Promise<void> => {
    for (const target of taken.keys())
      await hub.ask("PUT", `/${encodeURIComponent(target)}/_settings`, {
        index: { [SETTING]: pipelineOf(target) },
      });
  };
  await setAll(() => NONE);
  return () => setAll((target) => taken.get(target)!);
}

/** Returns the pipeline of an index, or of the newest index of a data stream. */
async function ownPipeline(hub: ClusterClient, target: string): Promise<string | undefined> {
  const answer = (await hub.find(`/${encodeURIComponent(target)}/_settings`)) ?? {};
  const newest = Object.keys(answer).toSorted().at(-1);
  const entry = newest === undefined ? undefined : answer[newest];
  return isObject(entry) ? pipelineIn(entry["settings"]) : undefined;
}

function pipelineIn(settings: unknown): string | undefined {
  const value = flatSettings(settings)[SETTING];
  return typeof value === "string" && value !== "" ? value : undefined;
}
