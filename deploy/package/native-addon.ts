/**
 * Loads LevelDB's native part in the bundle, where there is no folder of packages to look it up in: from the file
 * beside the bundle, else from what the bundle itself carries.
 */

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

/** "x64-glibc" → the addon, brotli, as base64. Empty where it is a file beside the bundle. */
export type EmbeddedAddons = Readonly<Record<string, string>>;

/** Name of the addon beside the bundle. */
export const ADDON_FILE = "classic-level.node";

/** Returns the addon's exports. Throws where none fits this machine, saying what to do. */
export function loadAddon(embedded: EmbeddedAddons): unknown {
  const beside = join(import.meta.dirname, ADDON_FILE);
  if (existsSync(beside)) return open(beside);
  const key = `${process.arch}-${libc()}`;
  const packed = embedded[key];
  if (packed === undefined) {
    const known = Object.keys(embedded).join(", ") || "none";
    throw new Error(
      `this bundle has no native part for ${key} (it has: ${known}); use the package for this machine`,
    );
  }
  return openUnpacked(brotliDecompressSync(Buffer.from(packed, "base64")));
}

/** A library must be a file to be loaded; it stays loaded when the file is gone. */
function openUnpacked(bytes: Uint8Array): unknown {
  const problems: string[] = [];
  for (const parent of new Set([tmpdir(), homedir(), process.cwd()])) {
    let folder: string | undefined;
    try {
      folder = mkdtempSync(join(parent, ".tailrace-agent-"));
      const path = join(folder, ADDON_FILE);
      writeFileSync(path, bytes, { mode: 0o700 });
      return open(path);
    } catch (error) {
      problems.push(`${parent}: ${(error as Error).message}`);
    } finally {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new Error(
    `the agent needs a folder to load its native part from, writable and not mounted noexec; set TMPDIR to one (${problems.join("; ")})`,
  );
}

function open(path: string): unknown {
  const addon = { exports: {} };
  process.dlopen(addon, path);
  return addon.exports;
}

function libc(): "glibc" | "musl" {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean };
  report.excludeNetwork = true; // it would look up the names of all peers
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime === undefined ? "musl" : "glibc";
}
