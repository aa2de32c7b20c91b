/** Snapshots as answers show them. */

import { versionNumber } from "#hub/api/parameters/index-settings.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { SnapshotRecord } from "./index-snapshots.ts";

/** Returns a snapshot of a repository as `_snapshot` shows it. */
export function printSnapshot(record: SnapshotRecord, isVerbose: boolean, repository: string): JsonObject {
  const { snapshot, uuid, state, indices, version, startMs, failure } = record;
  const names = indices.map(({ name }) => name);
  const place = answersAs(714) ? { repository } : {};
  if (!isVerbose) return { snapshot, uuid, ...place, indices: names, state };
  const shards = shardsOf(record);
  const endMs = record.endMs === 0 ? startMs : record.endMs;
  return {
    snapshot,
    uuid,
    ...place,
    version_id: versionNumber(version),
    version,
    indices: names,
    ...(answersAs(709) && {
      data_streams: [...new Set(indices.flatMap(({ dataStream = [] }) => dataStream))],
    }),
    include_global_state: record.includeGlobalState,
    ...(record.metadata !== undefined && { metadata: record.metadata }),
    state,
    ...(failure !== undefined && { reason: failure }),
    start_time: new Date(startMs).toISOString(),
    start_time_in_millis: startMs,
    end_time: new Date(endMs).toISOString(),
    end_time_in_millis: endMs,
    duration_in_millis: endMs - startMs,
    failures: [],
    shards: { total: shards, failed: 0, successful: shards },
  };
}

/** Returns a snapshot as `_status` shows it. The description counts as a file. */
export function printStatus(repository: string, record: SnapshotRecord, nowMs: number): JsonObject {
  const { snapshot, uuid, state, indices, includeGlobalState, startMs, endMs } = record;
  const isDone = state !== "IN_PROGRESS";
  const counts = (shards: number): JsonObject => ({
    initializing: 0,
    started: isDone ? 0 : shards,
    finalizing: 0,
    done: isDone ? shards : 0,
    failed: 0,
    total: shards,
  });
  const timeMs = (isDone ? endMs : nowMs) - startMs;
  const stats = (files: number, bytes: number): JsonObject => {
    const size = { file_count: files, size_in_bytes: bytes };
    const older = {
      number_of_files: files,
      processed_files: files,
      total_size_in_bytes: bytes,
      processed_size_in_bytes: bytes,
    };
    const times = { start_time_in_millis: startMs, time_in_millis: timeMs };
    return { incremental: size, total: size, ...times, ...(!answersAs(700) && older) };
  };
  const files = indices.reduce((sum, { pages }) => sum + pages.length, 1);
  const bytes = indices.reduce((sum, index) => sum + index.bytes, JSON.stringify(record).length);
  return {
    snapshot,
    repository,
    uuid,
    state,
    include_global_state: includeGlobalState,
    shards_stats: counts(shardsOf(record)),
    stats: stats(files, bytes),
    indices: Object.fromEntries(
      indices.map((index) => [
        index.name,
        { shards_stats: counts(index.shards), stats: stats(index.pages.length, index.bytes), shards: {} },
      ]),
    ),
  };
}

/** Returns the number of shards of all indices of a snapshot. */
export function shardsOf({ indices }: SnapshotRecord): number {
  return indices.reduce((sum, { shards }) => sum + shards, 0);
}
