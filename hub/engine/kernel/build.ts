/**
 * Compiles the kernel (assembly/) to kernel.wasm. Refuses a result that would break its rules: no static data, since
 * each instantiation writes it again over shared memory, and no allocator.
 */

import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ignoreClosedOutput } from "#proto/kit/process/standard-output.ts";
import { withSources } from "./source-hash.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const SOURCES = join(HERE, "assembly");
const TARGET = join(HERE, "kernel.wasm");

/** Bytes 0..1023 stay unused, so that address 0 means none. */
const MEMORY_BASE = 1024;
/** Pages of 64 KiB: what the host starts with at least, and all that 32 bits can address. */
const INITIAL_PAGES = 16;
const MAXIMUM_PAGES = 65_536;

/** What must not be in the kernel's text, with why. */
const FORBIDDEN: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^\s*\(data /m, "static data"],
  [/\$~lib\/rt\//, "the allocator of AssemblyScript's runtime"],
  [/memory\.grow/, "memory.grow, which is the host's"],
];

/** Compiles; throws where the compiler complains or a rule is broken. */
async function buildKernel(): Promise<{ readonly sizeBytes: number }> {
  // Loaded here, since the compiler is a tool of development that an installed hub lacks.
  const { default: asc } = await import("assemblyscript/asc");
  const files = new Map<string, string | Uint8Array>();
  const complaints: string[] = [];
  const { error } = await asc.main(
    [
      ["kernel.ts", "--outFile", "kernel.wasm", "--textFile", "kernel.wat", "--runtime", "stub", "-O3"],
      ["--importMemory", "--sharedMemory", "--memoryBase", String(MEMORY_BASE)],
      ["--initialMemory", String(INITIAL_PAGES), "--maximumMemory", String(MAXIMUM_PAGES)],
      ["--enable", "simd", "--enable", "threads"],
    ].flat(),
    {
      readFile: (name) => readSource(name),
      writeFile: (name, contents) => {
        files.set(name, contents);
      },
      listFiles: () => [],
      stderr: {
        write: (text) => {
          complaints.push(String(text));
        },
      },
    },
  );
  if (error !== null) throw new Error(`the kernel doesn't compile: ${error.message}\n${complaints.join("")}`);
  const text = String(files.get("kernel.wat"));
  for (const [pattern, why] of FORBIDDEN)
    if (pattern.test(text))
      throw new Error(`the kernel has ${why}; see the rules in hub/engine/kernel/README.md`);
  const wasm = withSources(files.get("kernel.wasm") as Uint8Array, pathToFileURL(`${SOURCES}/`));
  // Tests may build at the same time: a file that is there is whole.
  const temporary = `${TARGET}.${process.pid}`;
  writeFileSync(temporary, wasm);
  renameSync(temporary, TARGET);
  return { sizeBytes: wasm.length };
}

/** Compiles where the result is missing or older than its sources. */
export async function ensureKernel(): Promise<void> {
  const builtMs = existsSync(TARGET) ? statSync(TARGET).mtimeMs : 0;
  const sources = [
    ...globSync("**/*.ts", { cwd: SOURCES }).map((name) => join(SOURCES, name)),
    join(HERE, "build.ts"),
  ];
  if (sources.some((path) => statSync(path).mtimeMs > builtMs)) await buildKernel();
}

function readSource(name: string): string | null {
  const path = join(SOURCES, name);
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  ignoreClosedOutput();
  rmSync(TARGET, { force: true });
  const { sizeBytes } = await buildKernel();
  process.stdout.write(`hub/engine/kernel/kernel.wasm: ${(sizeBytes / 1024).toFixed(1)} KiB\n`);
}
