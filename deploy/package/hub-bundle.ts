/**
 * Bundles the hub: a start and an entry for each of its threads, with what they share and what is loaded later in
 * chunks beside them. Loading two thousand modules takes most of a second.
 */

import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, posix, relative } from "node:path";
import { build, type Metafile, type Plugin, transformSync } from "esbuild";
import { unicodeEscape } from "#proto/kit/printable.ts";
import { COMMONJS_PRELUDE, httpModule } from "./agent-bundle.ts";
import { ROOT } from "./project.ts";

/** Path of the bundle, in a checkout and in a package. */
export const HUB_BUNDLE = "hub/dist";

const START = "hub/main.ts";

/**
 * Threads that load all their modules when they start. Each is one file: in chunks that it shares with others the shards'
 * thread would be sixty, and Node needs about half a millisecond to find, read and link each of them.
 */
const WHOLE = [
  "hub/cluster/writes/body-thread.ts",
  "hub/host/shard-host-thread.ts",
  "hub/pipeline/ingest/ingest-work.ts",
];

/** Size from which Node keeps a source with one character beyond ASCII as two bytes for each. */
const ASCII_BYTES = 1_000_000;
const BEYOND_ASCII = /[\u0080-\uffff]/g;
/** A character beyond ASCII with an odd number of backslashes before it. */
const BEHIND_BACKSLASH = /(?<!\\)(?:\\\\)*\\[\u0080-\uffff]/;
/** What an error shows before and after the offset that it is about, characters. */
const SHOWN = 40;

/**
 * Packages that are loaded from their folders: native parts, threads and WebAssembly of their own are found beside
 * their code, oidc-provider keeps its records by the names of its classes, which are not unique in a bundle, and stemmers are
 * large and loaded by the hubs that need them alone.
 */
export const UNBUNDLED = [
  "@platformatic/kafka",
  "level",
  "oidc-provider",
  "pino",
  "pino-pretty",
  "quickjs-emscripten",
  "snowball-stemmers",
];

/** The URL of a file that is started as a thread. */
const THREAD = /\bnew URL\(\s*"([^"\n]+\.ts)",\s*import\.meta\.url,?\s*\)/g;
const OWN_URL = /\bimport\.meta\.url\b/g;
const OWN_FOLDER = /\bimport\.meta\.dirname\b/g;

/** Writes the bundle into `folder`, which it empties first; returns what went into it. Its program is written last. */
export async function bundleHub(folder: string): Promise<Metafile> {
  rmSync(folder, { recursive: true, force: true });
  const inChunks = [START, ...threads().filter((path) => !WHOLE.includes(path))];
  const all: Metafile = { inputs: {}, outputs: {} };
  const files: BundleFile[] = [];
  for (const entries of [inChunks, ...WHOLE.map((path) => [path])]) {
    const { metafile, outputFiles } = await bundleEntries(folder, entries);
    Object.assign(all.inputs, metafile.inputs);
    Object.assign(all.outputs, metafile.outputs);
    for (const { path, text, contents } of outputFiles)
      files.push({ path, text: contents.length < ASCII_BYTES ? text : toAscii(text, path) });
  }
  writeBundle(files);
  return all;
}

/** A file of the bundle, not yet written. */
export interface BundleFile {
  readonly path: string;
  readonly text: string;
}

/** Writes the files, the program last: a bundle whose writing was interrupted must not look complete. */
export function writeBundle(files: readonly BundleFile[]): void {
  const isProgram = ({ path }: BundleFile): boolean => basename(path) === `${entryName(START)}.mjs`;
  const inOrder = files.toSorted((left, right) => Number(isProgram(left)) - Number(isProgram(right)));
  for (const { path, text } of inOrder) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

async function bundleEntries(folder: string, entries: readonly string[]) {
  return await build({
    absWorkingDir: ROOT,
    entryPoints: entries.map((path) => ({ in: path, out: entryName(path) })),
    outdir: folder,
    write: false,
    outExtension: { ".js": ".mjs" },
    chunkNames: "chunk-[hash]",
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node24",
    // Names stay: a stack trace that a user sends must show its source.
    // So does the syntax: minified syntax drops names of classes that only their instances show.
    minifyWhitespace: true,
    legalComments: "none",
    metafile: true,
    logLevel: "error",
    logOverride: { "direct-eval": "silent" },
    banner: { js: COMMONJS_PRELUDE },
    external: UNBUNDLED,
    plugins: [httpModule, placesOfSources],
  });
}

/**
 * Escapes the characters beyond ASCII that esbuild leaves in regular expressions. Throws where an escape would mean
 * something else: after a backslash, and in a tagged template, which is to have the character as ${"\u00b5"}.
 */
export function toAscii(text: string, path: string): string {
  const plain = escaped(text);
  if (plain === text) return text;
  const behind = BEHIND_BACKSLASH.exec(text);
  if (behind !== null) throw notAscii(path, text, behind.index);
  // Without templates, raw texts are strings: those of `text` with the characters, those of `plain` with backslashes.
  const [wanted, found] = [escaped(withoutTemplates(text)), withoutTemplates(plain)];
  if (wanted === found) return plain;
  let at = 0;
  while (found[at] === wanted[at]) at++;
  throw notAscii(path, found, at);
}

function escaped(text: string): string {
  return text.replace(BEYOND_ASCII, unicodeEscape);
}

function withoutTemplates(text: string): string {
  return transformSync(text, { supported: { "template-literal": false }, logLevel: "silent" }).code;
}

function notAscii(path: string, text: string, at: number): Error {
  const place = text.slice(Math.max(0, at - SHOWN), at + SHOWN);
  return new Error(`${path} must be ASCII because of its size; a character can't be escaped at: ${place}`);
}

/** Returns the sources that are started as threads, sorted. */
function threads(): string[] {
  const found = new Set<string>();
  for (const path of globSync("{hub,proto}/**/*.ts", { cwd: ROOT, exclude: ["hub/dist/**"] })) {
    if (path.endsWith(".test.ts")) continue;
    for (const [, file] of readFileSync(join(ROOT, path), "utf8").matchAll(THREAD))
      found.add(posix.join(posix.dirname(path), file!));
  }
  return [...found].sort();
}

/** "hub/pipeline/runtime/worker.ts" → "pipeline-runtime-worker", "hub/main.ts" → "main". */
function entryName(path: string): string {
  return path
    .replace(/^hub\//, "")
    .replace(/\.ts$/, "")
    .replaceAll("/", "-");
}

/** Files beside a source are resolved there, although its code runs from the bundle; threads start from the bundle. */
const placesOfSources: Plugin = {
  name: "places-of-sources",
  setup(builder) {
    builder.onLoad({ filter: /[\\/](hub|proto)[\\/].*\.ts$/ }, ({ path }) => {
      const source = relative(ROOT, path);
      const text = readFileSync(path, "utf8");
      if (source.startsWith("..") || !text.includes("import.meta.")) return undefined;
      const place = posix.relative(HUB_BUNDLE, source);
      const contents = text
        .replaceAll(THREAD, (_, file: string) => {
          const thread = entryName(posix.join(dirname(source), file));
          return `new URL("./${thread}.mjs", import.meta["url"])`;
        })
        .replaceAll(OWN_URL, `new URL(${JSON.stringify(place)}, import.meta["url"]).href`)
        .replaceAll(OWN_FOLDER, `(import.meta["dirname"] + ${JSON.stringify(`/${dirname(place)}`)})`);
      return { contents, loader: "ts" };
    });
  },
};
