/** Parts of a segment's file, written and read again. */

import { MemorySink, SegmentFile, SegmentFileWriter } from "#hub/engine/files/segment-file.ts";

/** Writes by `write` and opens what was written. */
export function roundTrip<T>(write: (file: SegmentFileWriter) => T): [file: SegmentFile, entry: T] {
  const sink = new MemorySink();
  const writer = new SegmentFileWriter(sink);
  const entry = write(writer);
  writer.finish(entry);
  return [SegmentFile.ofMemory("test", sink.buffer.view().slice()), entry];
}
