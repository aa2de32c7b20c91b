/**
 * `tailrace-hub segment`: shows what the bytes of segment files are used for. It reads the files directly; no hub is
 * needed.
 */

import { globSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import {
  type PartBytes,
  SEGMENT_PARTS,
  type SegmentBytes,
  segmentBytes,
} from "#hub/engine/segment/segment-parts.ts";
import { loadCommandSettings } from "#hub/node/settings/reach-file.ts";
import { AppError } from "#proto/kit/errors.ts";
import { printableJson } from "#proto/kit/printable.ts";
import { systemReason } from "#proto/kit/system-reason.ts";
import type { SegmentCommand } from "./arguments.ts";
import { table } from "./terminal.ts";

/** Ending of files with live documents. */
const LIVE_DOCS = ".liv";

/** Returns the bytes by part and by field of all segments at the path. Throws file_unreadable, data_corrupt. */
export function runSegmentCommand(command: SegmentCommand, env: NodeJS.ProcessEnv): string {
  const { path, json, config, overrides } = command;
  const files = filesAt(path ?? loadCommandSettings({ file: config, overrides }, env)["path.data"]);
  const all = files.map(bytesOf);
  const docs = all.reduce((total, segment) => total + segment.docs, 0);
  const segments = files.filter((file) => !file.endsWith(LIVE_DOCS)).length;
  const parts = all.flatMap((segment) => segment.parts);
  const byPart = SEGMENT_PARTS.map((name) => ({
    name,
    bytes: sum(parts.filter(({ part }) => part === name)),
  })).filter(({ bytes }) => bytes > 0);
  const byField = fieldsOf(parts);
  if (json) return `${printableJson({ segments, docs, bytes: sum(parts), byPart, byField })}\n`;
  const row = ({ name, bytes }: { name: string; bytes: number }) => [
    name,
    String(bytes),
    (bytes / Math.max(1, docs)).toFixed(2),
  ];
  const partRows = [...byPart.map(row), row({ name: "together", bytes: sum(parts) })];
  return (
    `${segments} segments, ${docs} documents\n\n` +
    `${table(["PART", "BYTES", "PER DOCUMENT"], partRows)}\n${table(["FIELD", "BYTES", "PER DOCUMENT"], byField.map(row))}`
  );
}

/** Files of segments and of their live documents. */
function filesAt(path: string): string[] {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch (error) {
    throw new AppError("file_unreadable", `${path} can't be read: ${systemReason(error)}`, {
      cause: error,
    });
  }
  if (!isFolder) return [path];
  const files = globSync("**/*.{seg,liv}", { cwd: path })
    .sort()
    .map((file) => join(path, file));
  if (files.length === 0) throw new AppError("file_unreadable", `there is no segment below ${path}`);
  return files;
}

function bytesOf(path: string): SegmentBytes {
  if (!path.endsWith(LIVE_DOCS)) return segmentBytes(basename(path), path);
  return { docs: 0, parts: [{ part: "liveDocs", field: null, bytes: statSync(path).size }] };
}

/** Bytes by part of each field, the largest first. */
function fieldsOf(parts: readonly PartBytes[]): { name: string; bytes: number }[] {
  const sums = new Map<string, number>();
  for (const { part, field, bytes } of parts) {
    if (field === null) continue;
    const name = `${field} ${part}`;
    sums.set(name, (sums.get(name) ?? 0) + bytes);
  }
  return [...sums].map(([name, bytes]) => ({ name, bytes })).sort((a, b) => b.bytes - a.bytes);
}

function sum(parts: readonly { readonly bytes: number }[]): number {
  return parts.reduce((total, { bytes }) => total + bytes, 0);
}
