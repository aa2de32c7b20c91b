/**
 * Compiles the kernel (assembly/) into module.ts: so the agent contains it as a checkout, a bundle and a single file.
 * Run it when the source changes; a test compares.
 */

import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SOURCES = new URL("assembly/", import.meta.url);
/** The first one exports what the others have. */
const FILES: readonly string[] = ["kernel.ts", "lines.ts", "documents.ts"];
const TARGET = new URL("module.ts", import.meta.url);
const LINE_WIDTH = 100;

/** Returns the hash of the sources, which a module contains of the sources it was made from. */
export function sourceHash(): string {
  return hash("sha256", FILES.map(readSource).join(""));
}

function readSource(name: string): string {
  return readFileSync(new URL(name, SOURCES), "utf8");
}

/** Returns the module's bytes. Throws the compiler's error. */
async function compileLineKernel(): Promise<Uint8Array> {
  const { default: asc } = await import("assemblyscript/asc");
  let wasm: Uint8Array = new Uint8Array();
  const complaints: string[] = [];
  const { error } = await asc.main(
    [
      "kernel.ts",
      "--outFile",
      "kernel.wasm",
      "--runtime",
      "stub",
      "-O3",
      "--importMemory",
      "--enable",
      "simd",
    ],
    {
      readFile: (name) => (FILES.includes(name) ? readSource(name) : null),
      writeFile: (_name, contents) => {
        wasm = contents as Uint8Array;
      },
      listFiles: () => [],
      stderr: {
        write: (text) => {
          complaints.push(String(text));
        },
      },
    },
  );
  if (error !== null)
    throw new Error(`the line kernel doesn't compile: ${error.message}\n${complaints.join("")}`);
  return wasm;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = Buffer.from(await compileLineKernel()).toString("base64");
  const lines = text.match(new RegExp(`.{1,${LINE_WIDTH}}`, "g")) ?? [];
  const body = lines.map((line) => `  "${line}"`).join(" +\n");
  const parts = [
    "/** What build.ts makes of assembly/. */",
    `export const LINE_KERNEL =\n${body};`,
    `/** SHA-256 of assembly/. */\nexport const SOURCE_HASH = "${sourceHash()}";`,
  ];
  writeFileSync(TARGET, `${parts.join("\n")}\n`);
}
