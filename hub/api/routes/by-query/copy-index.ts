/** Copies all documents of a source into a new index as a task, and removes the index if that fails. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { storing, taskHeaders } from "#hub/api/context/tasks.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import { keyOf } from "#hub/auth/accounts/principal.ts";
import type { VersionType } from "#hub/cluster/writes/writes.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import {
  ChangeProgress,
  changeByQuery,
  type DocumentPages,
  type FoundDocument,
  storedSource,
} from "./change-by-query.ts";

/** Time that a page's writes may take. */
const WRITE_TIMEOUT_MS = 60_000;

/** Versions are those of the source; only another writer could have stored a later one. */
const KEEP_VERSION: VersionType = "external_gte";

/** A copy: the source of the documents and the new index that gets them. */
export interface IndexCopy {
  readonly action: string;
  readonly description: string;
  /** An index that was just made for the copy; it is deleted if the copy fails. */
  readonly target: Pick<IndexInfo, "name" | "uuid">;
  open(signal: AbortSignal): Promise<DocumentPages>;
  /** Called once all documents are in the index, before the task ends. */
  finish(): Promise<void>;
}

/** A running copy. */
export interface CopyTask {
  /** Number of the task in `_tasks`, without the node. */
  readonly id: number;
  /**
   * Resolves when everything is copied. Rejects with the error of the copy, or with cancelled if the task was
   * cancelled.
   */
  readonly done: Promise<void>;
}

/** Starts a copy. Throws overloaded; the index is deleted in that case too. */
export async function startCopy(parts: ApiContext, request: ApiRequest, copy: IndexCopy): Promise<CopyTask> {
  const progress = new ChangeProgress();
  const status = (): JsonObject => progress.print(["created", "updated"]);
  try {
    const task = parts.tasks.start({
      owner: keyOf(request.principal),
      action: copy.action,
      description: copy.description,
      headers: taskHeaders(request),
      status,
      async run(signal) {
        await removingOnFailure(parts, copy.target, () => copyAll(parts, copy, progress, signal));
        return { acknowledged: true, index: copy.target.name, ...status() };
      },
      ...(request.flag("wait_for_completion") === false && storing(parts)),
    });
    const done = task.ended.then(() => {
      if (task.error !== undefined) throw task.error;
    });
    // If the request doesn't wait, only the task reports the outcome.
    done.catch(() => undefined);
    return { id: task.id, done };
  } catch (error) {
    await parts.indices.deleteExactly(copy.target);
    throw error;
  }
}

async function copyAll(
  parts: ApiContext,
  copy: IndexCopy,
  progress: ChangeProgress,
  signal: AbortSignal,
): Promise<void> {
  const target = copy.target.name;
  const options = {
    maxDocs: Number.POSITIVE_INFINITY,
    proceedOnConflict: false,
    requestsPerSecond: Number.POSITIVE_INFINITY,
    refresh: true,
    timeoutMs: WRITE_TIMEOUT_MS,
    make: (found: FoundDocument) => ({
      kind: "index" as const,
      index: target,
      id: found.id,
      source: storedSource(found),
      ...(found.routing !== undefined && { routing: found.routing }),
      ...(found.version !== undefined && { version: found.version, versionType: KEEP_VERSION }),
    }),
  };
  await changeByQuery(parts, await copy.open(signal), options, progress, signal);
  const [failure] = progress.failures;
  if (failure !== undefined)
    throw new AppError(
      "request_invalid",
      `document [${String(failure["id"])}] can't be copied into [${target}]: ${JSON.stringify(failure["cause"])}`,
    );
  await copy.finish();
}

async function removingOnFailure(
  parts: ApiContext,
  index: IndexCopy["target"],
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    await parts.indices.deleteExactly(index);
    throw error;
  }
}
