/** How many bytes of documents this hub's search interface is writing, and has written since the hub started. */

import type { Documents } from "#hub/api/ports/documents.ts";
import { bytesOf } from "#hub/cluster/writes/append-run.ts";

export class WritePressure {
  currentBytes = 0;
  totalBytes = 0;

  /** Counts `bytes` while `run` is under way. */
  async during<T>(bytes: number, run: () => Promise<T>): Promise<T> {
    this.currentBytes += bytes;
    this.totalBytes += bytes;
    try {
      return await run();
    } finally {
      this.currentBytes -= bytes;
    }
  }
}

/** Returns documents whose writes are counted. */
export function weighDocuments(documents: Documents, pressure: WritePressure): Documents {
  return {
    get: (index, id, options) => documents.get(index, id, options),
    write: (items, options) =>
      pressure.during(
        items.reduce((sum, item) => sum + ("source" in item ? item.source.length : 0), 0),
        () => documents.write(items, options),
      ),
    append: (run, options) => pressure.during(bytesOf(run), () => documents.append(run, options)),
  };
}
