/** Bytes on disk of access logs by part, as they arrive and merged, for each byte of their JSON. */

import { mkdirSync } from "node:fs";
import { accessBlock } from "./access-corpus.ts";
import type { Benchmark, Result, Target } from "./benchmark.ts";
import { indexPart } from "./ingest.ts";
import type { Parts } from "./ingest-run.ts";
import { BLOCK_DOCS } from "./log-corpus.ts";
import { MessageFileWriter } from "./message-file.ts";

const DOCUMENTS = 500_000;
const FRESH: Target = { atMost: 0.45 };
const MERGED: Target = { atMost: 0.25 };

export const disk: Benchmark = {
  name: "disk",
  about: "bytes of access logs on disk for each byte of their JSON, by part, as they arrive and merged",
  async run({ workspace, scale, docs, progress }) {
    const blocks = Math.max(1, Math.round((docs ?? DOCUMENTS * scale) / BLOCK_DOCS));
    const total = blocks * BLOCK_DOCS;
    const messages = new MessageFileWriter(workspace.path("messages"));
    for (let block = 0; block < blocks; block++) messages.add(accessBlock(block, total));
    messages.close();
    const { sourceBytes, path } = messages;
    progress(`${total} documents of ${(sourceBytes / total).toFixed(1)} bytes`);
    const folder = workspace.path("disk", "");
    mkdirSync(folder, { recursive: true });
    const figures = await indexPart({
      folder,
      messages: path,
      count: blocks,
      kernel: true,
      merges: true,
      corpus: "access",
    });
    const rows = (state: string, parts: Parts): Result[] =>
      Object.entries(parts).map(([part, bytes]) =>
        row(`${state}, ${part}`, bytes / total, "bytes per document"),
      );
    const perByte = "bytes per byte of JSON";
    return [
      { ...row("as it arrives", figures.diskBytes / sourceBytes, perByte), target: FRESH },
      { ...row("merged", figures.mergedBytes / sourceBytes, perByte), target: MERGED },
      ...rows("as it arrives", figures.parts),
      ...rows("merged", figures.mergedParts),
      row("engine, merges as they come due", total / figures.cpuSeconds, "documents per CPU-second"),
      row("merge into one segment", total / figures.mergeSeconds, "documents per CPU-second"),
    ];
  },
};

function row(name: string, value: number, unit: string): Result {
  return { case: name, value, unit, reference: null };
}
