/** Runs a change by query as a task. Answers with its outcome, or with its id if the client doesn't wait. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { storing, taskHeaders } from "#hub/api/context/tasks.ts";
import { errorIn, shardFailureBodies, shardFailuresOf, validationError } from "#hub/api/http/error-body.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json } from "#hub/api/http/route.ts";
import { writeTimeoutMs } from "#hub/api/parameters/write-options.ts";
import { pageCheck } from "#hub/api/stats/active-shards.ts";
import { keyOf } from "#hub/auth/accounts/principal.ts";
import { answersAs, requestVersion, warnDeprecated } from "#hub/search/options/request-version.ts";
import { valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import {
  type ChangeCount,
  type ChangeOptions,
  ChangeProgress,
  changeByQuery,
  type DocumentPages,
} from "./change-by-query.ts";
import { changeInParts, type PartOfDocuments, partsOf, readSlices, SlicedProgress } from "./sliced-change.ts";

/** Parameters of every change by query. */
export const CHANGE_PARAMS: readonly string[] = [
  "refresh",
  "timeout",
  "wait_for_active_shards",
  "wait_for_completion",
  "requests_per_second",
  "slices",
  "max_docs",
];

export interface Change {
  readonly action: string;
  readonly description: string;
  readonly counts: readonly ChangeCount[];
  readonly options: ChangeOptions;
  /** Shards of the source; 1 if it is remote. */
  readonly shards: number;
  /** Opens the documents, or one slice of them. */
  open(signal: AbortSignal, part?: PartOfDocuments): Promise<DocumentPages>;
}

/** Answers when the change has ended, or immediately with the task. Throws overloaded and the errors of the change. */
export async function startChange(
  parts: ApiContext,
  request: ApiRequest,
  change: Change,
): Promise<ApiResponse> {
  const parted = partsOf(readSlices(request.query["slices"]), change.shards);
  const progress = parted === 1 ? new ChangeProgress() : new SlicedProgress(parted);
  const startMs = parts.clock.monotonic();
  const unread: JsonObject[] = [];
  const failures = (): JsonObject[] => [...unread, ...progress.failures];
  const answer = (): JsonObject => ({
    took: Math.round(parts.clock.monotonic() - startMs),
    timed_out: false,
    ...progress.print(change.counts),
    failures: failures(),
  });
  const waits = request.flag("wait_for_completion") ?? true;
  // If the source can't be opened, this request fails, not only the task.
  const pages = waits ? undefined : await change.open(request.signal);
  if (parted > 1) await pages?.close();
  const run = async (signal: AbortSignal): Promise<void> => {
    if (progress instanceof SlicedProgress)
      await changeInParts(parts, (stop, part) => change.open(stop, part), change.options, progress, signal);
    else await changeByQuery(parts, pages ?? (await change.open(signal)), change.options, progress, signal);
  };
  const task = parts.tasks.start({
    owner: keyOf(request.principal),
    action: change.action,
    description: change.description,
    headers: taskHeaders(request),
    status: () => progress.print(change.counts),
    rethrottle: (perSecond) => progress.rethrottle(perSecond),
    async run(signal) {
      await run(signal).catch((error: unknown) => {
        if (signal.aborted) progress.canceled = true;
        else unread.push(...searchFailures(error, parts));
      });
      return answer();
    },
    ...(!waits && storing(parts)),
  });
  if (!waits) return json({ task: `${parts.cluster.nodes()[0]!.id}:${task.id}` });
  await task.ended;
  if (task.error !== undefined) throw task.error;
  const failed = failures().map(({ status }) => Number(status));
  return json(task.response, Math.max(200, ...failed));
}

/** Returns the failures of the shards that a change reads, as answers list them. Throws any other error. */
function searchFailures(error: unknown, { errors }: ApiContext): JsonObject[] {
  const failures = error instanceof AppError ? shardFailuresOf(error) : undefined;
  // From 7.x on a search that isn't whole is the error of the request.
  if (failures === undefined || answersAs(700)) throw error;
  return failures.map((failure) => {
    const shown = errorIn(failure.error, requestVersion());
    const [body] = shardFailureBodies([{ ...failure, error: shown }], errors);
    return { ...body, status: shown.status };
  });
}

/** Reads the options that all changes share. Throws request_invalid. */
export function changeOptions(
  parts: ApiContext,
  request: ApiRequest,
  body: JsonObject,
): Omit<ChangeOptions, "make"> {
  const conflicts = request.query["conflicts"] ?? body["conflicts"] ?? "abort";
  if (conflicts !== "abort" && conflicts !== "proceed")
    throw new AppError(
      "request_invalid",
      `conflicts may only be "proceed" or "abort" but was [${valueText(conflicts)}]`,
    );
  readSlices(request.query["slices"]);
  const refresh = request.query["refresh"];
  return {
    maxDocs: maxDocsOf(request, body),
    proceedOnConflict: conflicts === "proceed",
    requestsPerSecond: speedOf(request.query["requests_per_second"]),
    refresh: refresh !== undefined && refresh !== "false",
    timeoutMs: writeTimeoutMs(request),
    checkPage: pageCheck(parts, request),
  };
}

/** Reads the limit, `size` before 7.3 and `max_docs` since. Throws request_invalid if two are given that differ. */
function maxDocsOf(request: ApiRequest, body: JsonObject): number {
  if (body["size"] !== undefined || request.query["size"] !== undefined)
    warnDeprecated("Deprecated field [size] used, expected [max_docs] instead", { from: 703 });
  const given = [body["size"], body["max_docs"], request.integer("size"), request.integer("max_docs")].filter(
    (limit) => limit !== undefined && limit !== null,
  );
  const [docs = -1, second] = new Set(given.map(Number));
  if (second !== undefined)
    throw new AppError("request_invalid", `[max_docs] set to two different values [${docs}] and [${second}]`);
  const name = answersAs(703) ? "max_docs" : "size";
  if (docs === -1) return Number.POSITIVE_INFINITY;
  if (Number.isInteger(docs) && docs > 0) return docs;
  if (docs < 0)
    throw new AppError("request_invalid", `[${name}] parameter cannot be negative, found [${docs}]`);
  throw new AppError(
    "request_invalid",
    `Validation Failed: 1: ${name} should be greater than 0 if the request is limited to some number of documents or -1 if it isn't but it was [${valueText(given[0])}];`,
    { data: { type: "action_request_validation_exception" } },
  );
}

/** Throws request_invalid if a request has both `slice` and `slices`. */
export function checkSlicing(request: ApiRequest, slice: unknown): void {
  const isParted = (request.query["slices"] ?? "1") !== "1";
  checkValid(isParted && slice !== undefined && "can't specify both [slice] and [slices]");
}

/** Throws request_invalid for keys of a search that a change doesn't support. */
export function checkSearchKeys(search: JsonObject): void {
  for (const key of ["stored_fields", "from"]) {
    if (search[key] !== undefined) throw validationError([`${key} is not supported in this context`]);
  }
}

/** Returns documents per second. Throws request_invalid. */
export function speedOf(text: string | undefined): number {
  const speed = Number(text ?? -1);
  if (speed === -1) return Number.POSITIVE_INFINITY;
  if (speed > 0) return speed;
  throw new AppError(
    "request_invalid",
    `[requests_per_second] must be a float greater than 0. Use -1 to disable throttling.`,
  );
}
