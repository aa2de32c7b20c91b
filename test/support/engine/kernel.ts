/** What tests of the kernel share: the kernel itself, built where it is missing; segments of two origins side by side. */

import assert from "node:assert/strict";
import { SegmentBuffer } from "#hub/engine/buffer/segment-buffer.ts";
import type { Indexing } from "#hub/engine/documents/document-indexer.ts";
import { DocumentWriter } from "#hub/engine/documents/document-writer.ts";
import type { Extent } from "#hub/engine/files/segment-file.ts";
import { MemorySink, SegmentFile } from "#hub/engine/files/segment-file.ts";
import { ensureKernel } from "#hub/engine/kernel/build.ts";
import type { DocumentRun } from "#hub/engine/kernel/document-run.ts";
import { Kernel } from "#hub/engine/kernel/kernel.ts";
import type { Mapping } from "#hub/engine/mapping/mapping.ts";
import { type LiveSegment, numberDocuments } from "#hub/engine/merge/merge-input.ts";
import { mergeSegments } from "#hub/engine/merge/merge-segments.ts";
import { ColumnarWriter } from "#test/oracles/engine/columnar/columnar-writer.ts";
import type { Random } from "./random.ts";

/** Returns an instance of the kernel as its sources are now. */
export async function testKernel(limitBytes?: number): Promise<Kernel> {
  await ensureKernel();
  return Kernel.load(limitBytes);
}

/** What indexing a document gave: nothing, or the message it was refused with. */
export type Outcome = string | undefined;

/** Indexes `sources` and returns the outcomes and the sealed segment. */
export function sealed(
  indexing: Indexing,
  mapping: Mapping,
  sources: readonly Uint8Array[],
  lenient = true,
): { readonly outcomes: Outcome[]; readonly segment: SegmentFile } {
  const { outcomes, image } = sealedBytes(indexing, mapping, sources, lenient);
  return { outcomes, segment: SegmentFile.ofMemory("test", image) };
}

/** Documents one after another, as messages hold them. */
function runOf(sources: readonly Uint8Array[]): DocumentRun {
  let end = 0;
  const ends = sources.map((source) => (end += source.length));
  return {
    bytes: Buffer.concat(sources),
    sourceStart: (index) => (index === 0 ? 0 : ends[index - 1]!),
    sourceStop: (index) => ends[index]!,
  };
}

function sealedBytes(
  indexing: Indexing,
  mapping: Mapping,
  sources: readonly Uint8Array[],
  lenient: boolean,
): { readonly outcomes: Outcome[]; readonly image: Uint8Array } {
  const buffer = new SegmentBuffer(indexing.newFields());
  const writer = new DocumentWriter(buffer, mapping, indexing);
  const failures = writer.writeRun(runOf(sources), 0, sources.length, 0, lenient);
  const outcomes = sources.map((source, number) => {
    const doc = buffer.addDocument(Buffer.from(`id${number}`), source, 1, number, "");
    if (failures?.has(number) !== true) return undefined;
    buffer.kill(doc);
    const { message, data } = failures.get(number) as { message: string; data?: unknown };
    return `${message} ${JSON.stringify(data)}`;
  });
  const sink = new MemorySink();
  buffer.seal(sink);
  writer.release();
  buffer.release();
  return { outcomes, image: sink.buffer.view().slice() };
}

/** Indexes `sources` and returns the bytes of the sealed segment. */
export function sealedImage(
  indexing: Indexing,
  mapping: Mapping,
  sources: readonly Uint8Array[],
): Uint8Array {
  return sealedBytes(indexing, mapping, sources, true).image;
}

/** Merges segments to memory, by the kernel and without it. `spoolPath`: see MergeOptions. */
export function mergedBoth(
  segments: readonly LiveSegment[],
  spoolPath?: string,
): {
  readonly byKernel: SegmentFile;
  readonly byTwin: SegmentFile;
} {
  const kernelOptions = { usesKernel: true, ...(spoolPath !== undefined && { spoolPath }) };
  const [byKernel, byTwin] = [kernelOptions, { usesKernel: false, columns: new ColumnarWriter() }].map(
    (options) => {
      const sink = new MemorySink();
      for (const _ of mergeSegments(numberDocuments(segments), sink, options));
      return SegmentFile.ofMemory("merged", sink.buffer.view().slice());
    },
  );
  return { byKernel: byKernel!, byTwin: byTwin! };
}

/** Compares two segments section by section; the index of ids has a random seed and is left out. */
export function assertSameSegment(actual: SegmentFile, expected: SegmentFile, what = ""): void {
  assert.deepEqual(withoutPlaces(actual.directory), withoutPlaces(expected.directory), what);
  const actualExtents = extentsOf(actual.directory);
  for (const [path, extent] of extentsOf(expected.directory)) {
    const theirs = Buffer.from(expected.read(extent));
    const ours = Buffer.from(actual.read(actualExtents.get(path)!));
    if (!ours.equals(theirs)) assert.fail(`${what} ${path} differs at byte ${firstDifference(ours, theirs)}`);
  }
}

function firstDifference(a: Buffer, b: Buffer): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/** Whether a value of a directory is an extent. */
function isExtent(value: unknown): value is Extent {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "number");
}

function extentsOf(directory: unknown, path = ""): Map<string, Extent> {
  const found = new Map<string, Extent>();
  for (const [name, value] of Object.entries(directory as object)) {
    const here = `${path}/${name}`;
    if (here === "/idIndex") continue;
    if (isExtent(value)) found.set(here, value);
    else if (typeof value === "object" && value !== null) {
      for (const [below, extent] of extentsOf(value, here)) found.set(below, extent);
    }
  }
  return found;
}

/** The directory with lengths in the place of extents and without the seed of ids. */
function withoutPlaces(directory: unknown): unknown {
  return JSON.parse(
    JSON.stringify(directory, (name, value: unknown) =>
      name === "idIndex" ? undefined : isExtent(value) ? value[1] : value,
    ),
  );
}

const WORDS = [
  "GET",
  "/index.html",
  "error",
  "_x_",
  "it's",
  "3.14",
  "1,000",
  "a:b",
  "10.0.0.1",
  "Mozilla/5.0",
  "x",
];
const BITS = Array.from("aZ09_.:,;'-/ 	\"é中");
/** A character or two of every class that words are cut by, and those whose lower case is odd. */
const WIDE_BITS = Array.from(
  "aZ9_.:'\" éßÄΣİKȺאב״ג٣ー、カタ〱ひ中漢한글ไทยລາ\u0301\u200d\u3099·’‧＿．𝒳𐐀😀👍🏽🇩🇪\ufeff\u0085𠮷",
);

/** A text of words and of characters that make words join and part. */
export function randomText(random: Random, parts = 12): string {
  let text = "";
  for (let left = random.below(parts); left > 0; left--) {
    if (random.oneIn(12)) for (let more = random.below(12); more > 0; more--) text += random.pick(WIDE_BITS);
    else if (random.oneIn(3))
      for (let more = random.below(8); more > 0; more--)
        text += random.pick(BITS.slice(0, random.oneIn(6) ? BITS.length : 14));
    else text += `${random.pick(WORDS)} `;
    if (random.oneIn(200)) text += random.pick(["é", "ひ中", "ไ", "x\u0301"]).repeat(random.below(300));
    if (random.oneIn(200)) text += random.pick(["a", "1.", "_", "b'"]).repeat(random.below(400));
  }
  return text;
}

const NAMES = [
  "message",
  "k",
  "n",
  "d",
  "f",
  "t",
  "yes",
  "i",
  "english",
  "lower",
  "nil",
  "g",
  "ip",
  "all",
  "u",
  "raw",
];

/** A document for the mapping of a field of every type; one in eight has a byte changed. */
export function randomDocument(random: Random): Uint8Array {
  const document: Record<string, unknown> = {};
  for (let left = random.below(8); left > 0; left--) document[random.pick(NAMES)] = randomValue(random, 0);
  if (random.oneIn(3)) document["o"] = { x: random.below(1000), deep: { y: randomText(random, 2) } };
  if (random.oneIn(4)) document["c"] = randomCompletion(random);
  if (random.oneIn(9)) document["off"] = randomValue(random, 0);
  if (random.oneIn(9)) document["shut"] = { z: 1, unknown: randomValue(random, 0) };
  if (random.oneIn(30)) document["unknown"] = randomValue(random, 0);
  const bytes = Buffer.from(JSON.stringify(document, null, random.oneIn(4) ? 1 : 0));
  if (random.oneIn(8)) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}

/** Random documents, many of which end as the one before them does, from some member on. */
export function randomDocuments(random: Random, count: number): Uint8Array[] {
  const documents: Uint8Array[] = [];
  for (let made = 0; made < count; made++) {
    const document = randomDocument(random);
    const before = documents.at(-1);
    documents.push(before === undefined || random.oneIn(2) ? document : spliced(document, before, random));
  }
  return documents;
}

/** The beginning of one document and the end of another, cut before members; a document or not. */
function spliced(begin: Uint8Array, end: Uint8Array, random: Random): Uint8Array {
  const [until, from] = [begin, end].map((bytes) =>
    Buffer.from(bytes).indexOf(',"', random.below(bytes.length + 1)),
  );
  if (until === -1 || from === -1) return end;
  return Buffer.concat([begin.subarray(0, until), end.subarray(from)]);
}

function randomCompletion(random: Random): unknown {
  const input = random.oneIn(2) ? randomText(random) : [randomText(random), randomText(random)];
  return random.oneIn(3) ? input : { input, weight: random.oneIn(5) ? "1x" : random.below(100) };
}

function randomValue(random: Random, depth: number): unknown {
  switch (random.below(depth > 2 ? 7 : 10)) {
    case 0:
      return random.below(2 ** 31) - 2 ** 30;
    case 1:
      return random.below(2 ** 31) / 10 ** random.below(12);
    case 2:
      return random.below(2 ** 31) * 10 ** random.below(20);
    case 3:
      return random.oneIn(2);
    case 4:
      return new Date(random.below(2 ** 31) * 1500)
        .toISOString()
        .slice(0, random.oneIn(4) ? random.below(25) : 24);
    case 7:
      return Array.from({ length: random.below(4) }, () => randomValue(random, depth + 1));
    case 8:
      return random.oneIn(2) ? null : { x: randomValue(random, depth + 1) };
    default:
      return randomText(random);
  }
}
