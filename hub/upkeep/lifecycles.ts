/**
 * Carries out the lifecycle policies of indices once a minute, on the hub that has the duties: rolls over, blocks
 * writes, merges segments, deletes.
 *
 * | what is known | what is done | what can go wrong, and what follows |
 * |---|---|---|
 * | the index is written to through its stream or rollover alias | it is rolled over once conditions are met and it has documents; never deleted | the new index is there without the alias, since a rollover ended half-way: the alias is moved to it if it is empty, else the step fails and is tried again |
 * | it was rolled over, or its policy has no rollover | its age counts; the phases reached have effect, one after the other | a clock set back makes it younger: it stays longer |
 * | the next generations were deleted | the time of its rollover is stored with it, so it keeps its age; written to again, it loses it | |
 * | its rollover alias is missing, points elsewhere or has no write index | nothing, `_ilm/explain` has the reason | |
 * | its policy is missing or can't be read | nothing, as above | |
 * | `indexing_complete`, without a next generation | its age counts from when a check first finds it so | |
 * | it was imported or restored | its age counts from its creation here, unless it has an `origination_date` | |
 * | it is due for deletion | policy, mode and index are read once more from the store, not from the watched copy | the policy, the index or its aliases changed since, or it is another index of its name: it stays |
 * | another hub takes the duties during a check | each step first makes sure that this hub still has them | both act at once: the second one finds the new index, or none to delete |
 */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { INTERNAL_PREFIX } from "#hub/cluster/catalog/index-names.ts";
import type { LifecycleCatalog } from "#hub/cluster/catalog/lifecycle-catalog.ts";
import { policyName } from "#hub/cluster/catalog/lifecycle-policy.ts";
import {
  type DueStep,
  IndexRelations,
  type LifecycleState,
  lifecycleOf,
} from "#hub/cluster/catalog/lifecycle-state.ts";
import {
  type IndexSize,
  isRolloverDue,
  type RolloverIndices,
  rollOnward,
} from "#hub/cluster/catalog/rollover.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";

/** Interval of the checks. */
const EVERY_MS = 60_000;

/** What the policies read and change: the catalog. */
export interface LifecycleIndices extends RolloverIndices {
  readonly lifecycles: LifecycleCatalog;
  change(name: string, change: (index: IndexMetadata) => IndexMetadata): Promise<IndexMetadata>;
  putSettings(name: string, changes: Readonly<JsonObject>): Promise<void>;
  deleteExactly(index: Pick<IndexMetadata, "name" | "uuid">): Promise<void>;
  reload(name: string): Promise<void>;
}

export interface LifecyclesOptions {
  readonly indices: LifecycleIndices;
  readonly size: (index: IndexMetadata) => Promise<IndexSize>;
  readonly merge: (index: IndexMetadata, maxSegments: number) => Promise<void>;
  /** Whether this hub still has the duties. */
  readonly mayAct: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** An index at one moment of a check. */
interface Checked {
  readonly index: IndexMetadata;
  readonly state: LifecycleState;
}

/** May be started again after a stop: another hub did the work meanwhile. */
export class Lifecycles implements Component {
  readonly #options: LifecyclesOptions;
  readonly #done: Counter<"step">;
  readonly #failed: Counter<"step">;
  /** By uuid: the segments that an index was merged into since this process began, and the error that was logged. */
  readonly #merged = new Map<string, number>();
  readonly #logged = new Map<string, string>();
  readonly #task = new BackgroundTask();

  constructor(options: LifecyclesOptions) {
    this.#options = options;
    const { metrics } = options;
    const name = "tailrace_lifecycle_steps";
    this.#done = metrics.counter(`${name}_total`, "steps of lifecycle policies that were carried out", [
      "step",
    ]);
    this.#failed = metrics.counter(
      `${name}_failed_total`,
      "steps of these that failed; they are tried again",
      ["step"],
    );
  }

  start(): Promise<void> {
    this.#task.repeat(this.#options.clock, EVERY_MS, () => this.check());
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** Checks once. Never throws: a step that fails is tried again at the next check. */
  async check(): Promise<void> {
    const { indices, log } = this.#options;
    try {
      const managed = indices.all().filter((index) => policyName(index) !== undefined);
      const merges: (readonly [IndexMetadata, number])[] = [];
      let relations = new IndexRelations(indices.all());
      for (const { name } of managed) {
        if (!this.#mayAct()) return;
        const checked = this.#look(name, relations);
        if (checked === undefined) continue;
        const hasChanged = await this.#advance(checked, merges);
        if (hasChanged) relations = new IndexRelations(indices.all());
      }
      await this.#forget();
      // One each time, at the end: a merge takes minutes, and rollovers must not wait for all of them.
      const first = merges.find(([{ uuid }]) => !this.#merged.has(uuid)) ?? merges[0];
      if (first !== undefined && this.#mayAct()) await this.#merge(...first);
    } catch (error) {
      log.warn({ err: toAppError(error) }, "the lifecycle policies cannot be carried out for now");
    }
  }

  #mayAct(): boolean {
    const { indices, mayAct } = this.#options;
    return !this.#task.signal.aborted && !indices.lifecycles.isStopped && mayAct();
  }

  #look(
    name: string,
    relations: IndexRelations = new IndexRelations(this.#options.indices.all()),
  ): Checked | undefined {
    const { indices, clock } = this.#options;
    const index = indices.get(name);
    if (index === undefined || name.startsWith(INTERNAL_PREFIX)) return undefined;
    const state = lifecycleOf(index, relations, (policy) => indices.lifecycles.get(policy), clock.now());
    return state === undefined ? undefined : { index, state };
  }

  /** Does what is due but merges, which it adds to `merges`. Returns true if indices changed. */
  async #advance(checked: Checked, merges: (readonly [IndexMetadata, number])[]): Promise<boolean> {
    const { index, state } = checked;
    let step: string = "complete";
    try {
      await this.#stamp(checked);
      this.#report(checked);
      let hasChanged = false;
      for (const due of state.due) {
        step = due.kind;
        if (due.kind === "forcemerge") {
          if (index.state === "open" && this.#merged.get(index.uuid) !== due.maxSegments)
            merges.push([index, due.maxSegments]);
        } else if (await this.#carryOut(index, due)) {
          hasChanged = true;
          this.#done.inc({ step });
        }
      }
      const { lifecycles } = this.#options.indices;
      const fault = lifecycles.fault(index);
      const isPast = fault?.step !== "forcemerge" || merges.every(([each]) => each.uuid !== index.uuid);
      if (fault !== undefined && isPast) await lifecycles.clearFault(index.name);
      return hasChanged;
    } catch (error) {
      await this.#fail(index, step, toAppError(error).message);
      return true;
    }
  }

  /** Stores when the index was rolled over: those after it may be deleted before it. */
  async #stamp({ index: { name, uuid, rolledOverMs }, state }: Checked): Promise<void> {
    if (state.error !== undefined || state.rolledOverMs === rolledOverMs) return;
    await this.#options.indices.change(name, (now) => {
      if (now.uuid !== uuid) return now;
      const { rolledOverMs: _, ...rest } = now;
      return state.rolledOverMs === undefined ? rest : { ...rest, rolledOverMs: state.rolledOverMs };
    });
  }

  /** Returns true if something was done. */
  async #carryOut(index: IndexMetadata, due: Exclude<DueStep, { kind: "forcemerge" }>): Promise<boolean> {
    if (due.kind === "rollover") return this.#rollOver(index, due);
    if (due.kind === "delete") return this.#delete(index);
    await this.#options.indices.putSettings(index.name, { "blocks.write": true });
    return true;
  }

  async #rollOver(
    index: IndexMetadata,
    { alias, conditions }: Extract<DueStep, { kind: "rollover" }>,
  ): Promise<boolean> {
    const { indices, size, clock, log } = this.#options;
    const { name } = index;
    const found = await size(index);
    // One index a period without documents would be of no use.
    if (found.docs === 0) return false;
    const ageMs = clock.now() - index.settings.creationDate;
    if (!isRolloverDue(conditions.map((each) => [each, each.isMet(ageMs, found)]))) return false;
    const now = this.#look(name);
    if (now?.index.uuid !== index.uuid || now.state.due[0]?.kind !== "rollover" || !this.#mayAct())
      return false;
    const source = { index: now.index, isStream: index.dataStream !== undefined };
    const isEmpty = async (each: IndexMetadata): Promise<boolean> => (await size(each)).docs === 0;
    const target = await rollOnward(indices, alias, source, isEmpty);
    const facts = { index: name, alias, target, docs: found.docs, bytes: found.bytes };
    log.info(facts, "a lifecycle policy rolled an index over");
    return true;
  }

  async #delete({ name, uuid }: IndexMetadata): Promise<boolean> {
    const { indices, log } = this.#options;
    await indices.reload(name);
    const policy = this.#look(name)?.state.policy;
    if (policy === undefined) return false;
    await indices.lifecycles.reload(policy);
    const now = this.#look(name);
    if (now?.index.uuid !== uuid || now.state.due[0]?.kind !== "delete" || !this.#mayAct()) return false;
    await indices.deleteExactly({ name, uuid });
    const since = new Date(now.state.sinceMs!).toISOString();
    log.info({ index: name, policy, since }, "a lifecycle policy deleted an index");
    return true;
  }

  async #merge(index: IndexMetadata, maxSegments: number): Promise<void> {
    const { merge } = this.#options;
    const { signal } = this.#task;
    const stopped = new Promise<"stopped">((resolve) => {
      signal.addEventListener("abort", () => resolve("stopped"), { once: true });
    });
    try {
      // The host's thread ends the merge by itself.
      if ((await Promise.race([merge(index, maxSegments), stopped])) === "stopped") return;
      this.#merged.set(index.uuid, maxSegments);
      this.#done.inc({ step: "forcemerge" });
    } catch (error) {
      this.#merged.set(index.uuid, 0); // others come first
      await this.#fail(index, "forcemerge", toAppError(error).message);
    }
  }

  /** Logs why nothing can be done with an index, once for each reason. */
  #report({ index: { name, uuid }, state: { error, policy } }: Checked): void {
    if (error === undefined) this.#logged.delete(uuid);
    else if (this.#logged.get(uuid) !== error)
      this.#options.log.warn(
        { index: name, policy, reason: error },
        "a lifecycle policy has no effect on an index",
      );
    if (error !== undefined) this.#logged.set(uuid, error);
  }

  async #fail({ name, uuid }: IndexMetadata, step: string, reason: string): Promise<void> {
    const { indices, log } = this.#options;
    if (indices.get(name)?.uuid !== uuid) return; // another hub deleted it first
    this.#failed.inc({ step });
    const { lifecycles } = indices;
    if (lifecycles.fault({ name, uuid })?.reason === reason) return;
    log.warn({ index: name, step, reason }, "a step of a lifecycle policy failed; it is tried again");
    await lifecycles.setFault(name, { uuid, step, reason });
  }

  /** Drops what is recorded of indices that are gone or have no policy any more. */
  async #forget(): Promise<void> {
    const { indices } = this.#options;
    const managed = indices.all().filter((index) => policyName(index) !== undefined);
    const uuids = new Set(managed.map(({ uuid }) => uuid));
    for (const map of [this.#merged, this.#logged])
      for (const uuid of map.keys()) if (!uuids.has(uuid)) map.delete(uuid);
    const names = new Set(managed.map(({ name }) => name));
    for (const name of indices.lifecycles.faulty())
      if (!names.has(name)) await indices.lifecycles.clearFault(name);
  }
}
