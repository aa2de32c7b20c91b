/**
 * Builds the dashboard into ui/dist: scripts split by page, names with a hash of their content, one index.html. Each
 * file is also written compressed, as `.gz` and `.br`. Fails when the first page is larger than its budgets or a file
 * names an address on another host.
 */

import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import { REFERENCE_FILE, readPluginReference } from "#ui/services/administration/plugin-reference.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const DIST = join(HERE, "dist");

/** Compressed bytes of all that Discover loads first. */
const FIRST_LOAD_LIMIT_BYTES = 100 * 1024;
/** Files that Discover loads first: browsers ask a plain HTTP server for six at a time. */
const FIRST_LOAD_LIMIT_FILES = 4;
/** Names of languages and namespaces, never requested. */
const HARMLESS_ADDRESSES = /^https?:\/\/(www\.w3\.org\/|lit\.dev\/)/;

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

/** Style sheets imported by scripts become texts; the page's own stays a file. */
const cssText: Plugin = {
  name: "css-text",
  setup(builder) {
    builder.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      if (basename(path) === "tokens.css") return undefined;
      return { contents: await readFile(path, "utf8"), loader: "text" };
    });
  },
};

const START = join(HERE, "main.ts");
const SHELL = join(HERE, "app.ts");
/** The modules that these load come before the shell. */
const BEFORE_SHELL: ReadonlySet<string> = new Set(["main.ts", "language.ts"]);

/**
 * The shell is loaded after the start, pages and large parts of them after the shell. With this declaration the build
 * doesn't load shared modules twice: start and shell are a file each, instead of one for each set of files that share
 * something.
 */
function loadedBehind(files: ReadonlySet<string>): Plugin {
  return {
    name: "loaded-behind",
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!files.has(path)) return undefined;
        const before = path === SHELL ? "main.ts" : relative(dirname(path), SHELL);
        return { contents: `${await readFile(path, "utf8")}\nimport "./${before}";\n`, loader: "ts" };
      });
    },
  };
}

/**
 * Returns the shell and the files that are loaded after it. They are looked for before the build: while it runs, a file that
 * another one imports at once may be read before its loading is seen.
 */
async function filesBehind(options: BuildOptions): Promise<Set<string>> {
  const { metafile } = await build({ ...options, write: false, minify: false, metafile: true });
  const behind = new Set([SHELL]);
  for (const [importer, { imports }] of Object.entries(metafile.inputs))
    for (const { path, kind } of imports)
      if (kind === "dynamic-import" && !BEFORE_SHELL.has(basename(importer))) behind.add(resolve(HERE, path));
  return behind;
}

export interface BuildResult {
  /** Compressed bytes of what Discover loads first. */
  readonly firstLoadBytes: number;
}

/** Builds; throws when a rule is broken. */
export async function buildDashboard(): Promise<BuildResult> {
  await rm(DIST, { recursive: true, force: true });
  const options: BuildOptions = {
    absWorkingDir: HERE,
    entryPoints: [START, join(HERE, "tokens.css")],
    outdir: DIST,
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    entryNames: "[name]-[hash]",
    chunkNames: "chunk-[hash]",
    plugins: [cssText],
  };
  const plugins = [cssText, loadedBehind(await filesBehind(options))];
  const { metafile } = await build({ ...options, plugins, metafile: true });
  const outputs = Object.entries(metafile.outputs);
  const fileOf = (source: string): string => {
    const found = outputs.find(([, { inputs }]) => Object.hasOwn(inputs, source));
    if (found === undefined) throw new Error(`the build made nothing of ${source}`);
    return basename(found[0]);
  };
  const page = await firstPage(metafile, fileOf);
  if (page.files.length > FIRST_LOAD_LIMIT_FILES)
    throw new Error(`the first page takes ${page.files.length} files, ${FIRST_LOAD_LIMIT_FILES} are allowed`);
  await writeFile(join(DIST, "index.html"), page.html);
  await writePluginReference();
  await checkAddresses();
  const firstLoadBytes = await compress(["index.html", ...page.files]);
  if (firstLoadBytes > FIRST_LOAD_LIMIT_BYTES)
    throw new Error(
      `the first page takes ${firstLoadBytes} bytes compressed, ${FIRST_LOAD_LIMIT_BYTES} are allowed`,
    );
  return { firstLoadBytes };
}

async function firstPage(
  metafile: Metafile,
  fileOf: (entry: string) => string,
): Promise<{ html: string; files: string[] }> {
  const scripts = [...withImports(metafile, [fileOf("main.ts"), fileOf("app.ts")])];
  const style = fileOf("tokens.css");
  const template = await readFile(join(HERE, "index.html"), "utf8");
  const preloads = scripts.map((file) => `<link rel="modulepreload" href="/${file}">`).join("\n    ");
  const html = template
    .replace("%STYLE%", style)
    .replace("%MAIN%", fileOf("main.ts"))
    .replace("%PRELOADS%", preloads);
  return { html, files: [...scripts, style] };
}

/** Returns the files and all that they import at once. */
function withImports(metafile: Metafile, files: readonly string[]): Set<string> {
  const byName = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const found = new Set(files);
  for (const file of found)
    for (const { path, kind } of byName.get(file)?.imports ?? [])
      if (kind === "import-statement") found.add(basename(path));
  return found;
}

/** The plugins' options, for editors of pipelines; addresses in their descriptions aren't loaded. */
async function writePluginReference(): Promise<void> {
  const text = await readFile(join(HERE, "..", "docs", "plugins.md"), "utf8");
  const reference = readPluginReference(text.replaceAll(/https?:\/\//g, ""));
  await writeFile(join(DIST, REFERENCE_FILE), JSON.stringify(reference));
}

/** Writes a `.gz` and a `.br` beside each file; returns the size of `counted` as `.gz`, which every browser takes. */
async function compress(counted: readonly string[]): Promise<number> {
  let sizeBytes = 0;
  for (const file of await readdir(DIST)) {
    const content = await readFile(join(DIST, file));
    const packed = gzipSync(content, { level: 9 });
    await writeFile(join(DIST, `${file}.gz`), packed);
    await writeFile(join(DIST, `${file}.br`), brotliCompressSync(content, BROTLI));
    if (counted.includes(file)) sizeBytes += packed.length;
  }
  return sizeBytes;
}

/** The dashboard sends requests to its hub only. */
async function checkAddresses(): Promise<void> {
  for (const file of await readdir(DIST)) {
    const text = await readFile(join(DIST, file), "utf8");
    for (const [address] of text.matchAll(/https?:\/\/[\w.-]+[^\s"'`)]*/g))
      if (!HARMLESS_ADDRESSES.test(address))
        throw new Error(`${file} names ${address}, an address on another host`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // The build is whole, whether or not somebody reads what is said of it.
  process.stdout.on("error", () => undefined);
  const { firstLoadBytes } = await buildDashboard();
  const where = relative(process.cwd(), DIST) || ".";
  process.stdout.write(`${where}: first page ${(firstLoadBytes / 1024).toFixed(1)} KiB compressed\n`);
}
