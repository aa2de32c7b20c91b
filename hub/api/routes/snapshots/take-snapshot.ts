/** Takes a snapshot of indices as a task: reads their documents into the pages of a repository. */

import { randomUUID } from "node:crypto";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { type Task, type TaskWork, taskHeaders } from "#hub/api/context/tasks.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { openIndexPages, refreshWhole } from "#hub/api/routes/by-query/index-pages.ts";
import { keyOf } from "#hub/auth/accounts/principal.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { IndexSnapshots, SnapshotIndex, SnapshotRecord } from "./index-snapshots.ts";

/** Documents read at a time. */
const PAGE = 500;

export interface SnapshotRequest {
  readonly repository: string;
  readonly snapshot: string;
  readonly indices: readonly IndexInfo[];
  readonly includeGlobalState: boolean;
  readonly metadata: JsonObject | undefined;
}

/** A snapshot that is being taken. */
export interface Taking {
  readonly task: Task;
  /** Resolves with the description once it is written, as SUCCESS or FAILED. */
  readonly done: Promise<SnapshotRecord>;
}

/** Starts a snapshot, with its description as IN_PROGRESS. Throws overloaded, and the errors of the repository. */
export async function takeSnapshot(
  parts: ApiContext,
  request: ApiRequest,
  store: IndexSnapshots,
  wanted: SnapshotRequest,
): Promise<Taking> {
  const begun = beginning(parts, wanted);
  await store.write(begun);
  let record: SnapshotRecord | undefined;
  const finish = async (end: Partial<SnapshotRecord>): Promise<void> => {
    // Another hub may have deleted it, with the pages that existed.
    if ((await store.read(begun.snapshot))?.uuid !== begun.uuid)
      throw new AppError("not_found", `snapshot [${begun.snapshot}] was deleted while it was taken`);
    const written = { ...begun, ...end, endMs: parts.clock.now() };
    await store.write(written);
    record = { ...written, format: 1 };
  };
  const progress = { docs: 0, indices: 0 };
  const task = await startOrRemove(parts, store, begun.snapshot, {
    owner: keyOf(request.principal),
    action: "cluster:admin/snapshot/create",
    description: `snapshot [${wanted.repository}:${wanted.snapshot}]`,
    headers: taskHeaders(request),
    status: () => ({ ...progress }),
    async run(signal) {
      try {
        const indices: SnapshotIndex[] = [];
        for (const index of wanted.indices) {
          indices.push(await storeIndex(parts, store, begun.uuid, index, progress, signal));
          progress.indices++;
        }
        await finish({ state: "SUCCESS", indices });
      } catch (error) {
        await finish({ state: "FAILED", failure: toAppError(error).message });
        throw error;
      }
      return { ...progress };
    },
  });
  const done = task.ended.then(() => {
    if (record !== undefined) return record;
    throw task.error!;
  });
  done.catch(() => undefined);
  return { task, done };
}

/** Returns the description of a snapshot that is being taken. */
function beginning(parts: ApiContext, wanted: SnapshotRequest): Omit<SnapshotRecord, "format"> {
  return {
    snapshot: wanted.snapshot,
    uuid: randomUUID(),
    state: "IN_PROGRESS",
    indices: [],
    includeGlobalState: wanted.includeGlobalState,
    ...(wanted.includeGlobalState && { globalState: globalStateOf(parts) }),
    ...(wanted.metadata !== undefined && { metadata: wanted.metadata }),
    version: parts.compatVersion,
    startMs: parts.clock.now(),
    endMs: 0,
  };
}

/** Starts the task. If that fails, the description is removed: it would report a running snapshot indefinitely. */
async function startOrRemove(
  parts: ApiContext,
  store: IndexSnapshots,
  snapshot: string,
  work: TaskWork,
): Promise<Task> {
  try {
    return parts.tasks.start(work);
  } catch (error) {
    await store.remove(snapshot);
    throw error;
  }
}

async function storeIndex(
  parts: ApiContext,
  store: IndexSnapshots,
  uuid: string,
  index: IndexInfo,
  progress: { docs: number; indices: number },
  signal: AbortSignal,
): Promise<SnapshotIndex> {
  const { name, settings, mapping, aliases, dataStream } = index;
  const writer = store.pages(uuid, progress.indices);
  await refreshWhole(parts, index, signal);
  const target = { expression: name, types: undefined, options: { expandHidden: true } };
  const pages = await openIndexPages(parts, target, {}, PAGE, signal);
  try {
    for (;;) {
      signal.throwIfAborted();
      const page = await pages.next(signal);
      if (page.length === 0) break;
      for (const document of page) await writer.add(document);
      progress.docs += page.length;
    }
    await writer.flush();
  } finally {
    await pages.close();
  }
  return {
    name,
    shards: settings.numberOfShards,
    replicas: settings.numberOfReplicas,
    settings: { ...settings.raw },
    mapping: mapping.toJSON(),
    aliases: { ...aliases },
    ...(dataStream !== undefined && { dataStream }),
    docs: writer.docs,
    bytes: writer.bytes,
    pages: writer.keys,
  };
}

/** Returns the templates of all kinds. */
function globalStateOf({ indices }: ApiContext): JsonObject {
  const { templates, components } = indices.templateCatalog.set();
  return { templates: indices.templates(), composable: templates, components };
}
