/** Copies all documents of a source into a new index as a task, and removes the index where that fails. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { storing, taskHeaders } from "#hub/api/context/tasks.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
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

/** Time a page's writes may take. */
const WRITE_TIMEOUT_MS = 60_000;

/** Versions are those of the source, which another writer could only have overtaken. */
const KEEP_VERSION: VersionType = "external_gte";

/** A copy: where the documents come from, and which new index takes them. */
export interface IndexCopy {
  readonly action: string;
  readonly description: string;
  /** Name of an index that was just made for the copy; it is deleted where the copy fails. */
  readonly target: string;
  open(signal: AbortSignal): Promise<DocumentPages>;
  /** Called with all documents in the index, before the task ends. */
  finish(): Promise<void>;
}

/** A copy under way. */
export interface CopyTask {
  /** As `_tasks` names it, without the node. */
  readonly id: number;
  /** Resolves when all is copied. Rejects with the error of the copy, cancelled where the task was. */
  readonly done: Promise<void>;
}

/** Begins a copy. Throws overloaded; the index is deleted then as well. */
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
        return { acknowledged: true, index: copy.target, ...status() };
      },
      ...(request.flag("wait_for_completion") === false && storing(parts)),
    });
    const done = task.ended.then(() => {
      if (task.error !== undefined) throw task.error;
    });
    // A request that doesn't wait leaves the outcome to the task.
    done.catch(() => undefined);
    return { id: task.id, done };
  } catch (error) {
    await parts.indices.delete([copy.target]);
    throw error;
  }
}

async function copyAll(
  parts: ApiContext,
  copy: IndexCopy,
  progress: ChangeProgress,
  signal: AbortSignal,
): Promise<void> {
  const { target } = copy;
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

async function removingOnFailure(parts: ApiContext, index: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    await parts.indices.delete([index]);
    throw error;
  }
}
