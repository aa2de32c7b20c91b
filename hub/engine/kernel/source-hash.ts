/** The sources of a compiled kernel: the build puts their hash into the module, and a hub compares it. */

import { createHash } from "node:crypto";
import { globSync, readFileSync, statSync } from "node:fs";
import { type WasmModule, webAssembly } from "./memory.ts";

/** Name of the custom section. */
const SECTION = "sources";

/** Returns the module's bytes with the hash of the sources in `folder`, a URL that ends with a slash. */
export function withSources(wasm: Uint8Array, folder: URL): Uint8Array {
  const name = Buffer.from(SECTION);
  const hash = hashOf(folder);
  // A custom section: identifier 0, length, name with its length, content (WebAssembly Core 2.0, 5.5.3).
  const header = Buffer.from([0, 1 + name.length + hash.length, name.length]);
  return Buffer.concat([wasm, header, name, hash]);
}

/** Returns true if the sources in `folder` are what `module`, written at `builtMs`, was made of. */
export function isMadeOf(module: WasmModule, builtMs: number, folder: URL): boolean {
  const isOlder = namesIn(folder).every((name) => statSync(new URL(name, folder)).mtimeMs <= builtMs);
  if (isOlder) return true;
  // Copies and check-outs give files new times.
  const [known] = webAssembly.Module.customSections(module, SECTION);
  return known !== undefined && hashOf(folder).equals(Buffer.from(known));
}

function hashOf(folder: URL): Buffer {
  const hash = createHash("sha256");
  for (const name of namesIn(folder)) {
    const text = readFileSync(new URL(name, folder));
    hash.update(`${name} ${text.length}\n`).update(text);
  }
  return hash.digest();
}

function namesIn(folder: URL): string[] {
  return globSync("**/*.ts", { cwd: folder }).sort();
}
