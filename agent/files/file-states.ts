/** What is told of single files: how far each is sent and committed, whether it is open, why it can't be read. */

import type { FileState, InputContext } from "#agent/contract/input.ts";
import type { Harvester } from "#agent/harvester/harvester.ts";

/**
 * Yields the files of an input that the registry knows, and those that couldn't even be opened; `failures`: why files
 * couldn't be read of late, by their path.
 */
export function* fileStates(
  { id, registry }: Pick<InputContext, "id" | "registry">,
  open: Iterable<Harvester>,
  failures: ReadonlyMap<string, string>,
): Generator<FileState> {
  const harvesters = new Map([...open].map((harvester) => [harvester.key, harvester]));
  const unknown = new Map(failures);
  for (const [key, row] of registry.rows()) {
    if (row.input !== id) continue;
    const harvester = harvesters.get(key);
    unknown.delete(row.path);
    yield {
      path: row.path,
      place: harvester === undefined ? "closed" : placeOf(harvester),
      sizeBytes: Math.max(row.known, row.sent),
      sentBytes: row.sent,
      committedBytes: row.committed,
      lastError: failures.get(row.path) ?? "",
    };
  }
  for (const [path, lastError] of unknown)
    yield { path, place: "closed", sizeBytes: 0, sentBytes: 0, committedBytes: 0, lastError };
}

function placeOf({ deleted, movedAway }: Harvester): FileState["place"] {
  if (deleted) return "deleted";
  return movedAway ? "moved" : "open";
}
