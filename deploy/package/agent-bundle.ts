/** Bundles the agent into one file that needs nothing but a Node: all sources and packages, without comments. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { build, type Metafile, type Plugin } from "esbuild";
import type { EmbeddedAddons } from "./native-addon.ts";
import { ROOT } from "./project.ts";

/** Builds of LevelDB's native part that the single file carries: key of `native-addon.ts` → file of the package. */
const ADDONS: Readonly<Record<string, string>> = {
  "x64-glibc": "linux-x64/classic-level.node",
  "x64-musl": "linux-x64/classic-level.musl.node",
  "arm64-glibc": "linux-arm64/classic-level.armv8.node",
};

/** CommonJS packages inside an ES module need these names. */
export const COMMONJS_PRELUDE = [
  'import { createRequire as createRequireOfBundle } from "node:module";',
  "const require = createRequireOfBundle(import.meta.url);",
  "const __filename = import.meta.filename, __dirname = import.meta.dirname;",
].join("\n");

/** Packages that find files of their own beside them. */
const OF_CHECKOUT = ["level", "pino"];

/** The highest quality takes seconds for two per cent. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

export interface BundleOptions {
  readonly outfile: string;
  /**
   * Where the native part and the log's formatter are: in the bundle, for all platforms; beside it; or in the packages
   * of the checkout that contains the bundle.
   */
  readonly native: "embedded" | "beside" | "packages";
  /** Text before and after the code. */
  readonly banner?: string;
  readonly footer?: string;
}

/** Writes the bundle; returns what went into it. */
export async function bundleAgent(options: BundleOptions): Promise<Metafile> {
  const { outfile, native, banner = "", footer = "" } = options;
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ["agent/main.ts"],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    // Names stay: a stack trace that a user sends must show its source.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: "none",
    metafile: true,
    logLevel: "error",
    logOverride: { "direct-eval": "silent" },
    banner: { js: banner + COMMONJS_PRELUDE },
    footer: { js: footer },
    external: native === "packages" ? OF_CHECKOUT : [],
    plugins: [
      httpModule,
      ...(native === "packages" ? [] : [jsonLog, nativePart(native === "embedded" ? packAddons() : {})]),
    ],
  });
  return metafile;
}

/** Returns the file of LevelDB's native part for `arch` under glibc. */
export function addonFile(arch: string): string {
  return addonPath(ADDONS[`${arch}-glibc`] ?? `linux-${arch}`);
}

const jsonLog: Plugin = {
  name: "json-log",
  setup(builder) {
    builder.onResolve({ filter: /^#proto\/kit\/log\.ts$/ }, ({ importer }) =>
      importer.endsWith("json-log.ts") ? undefined : { path: join(ROOT, "deploy/package/json-log.ts") },
    );
  },
};

/** LevelDB's binding looks its native part up in its package's folder; here `native-addon.ts` finds it. */
function nativePart(addons: EmbeddedAddons): Plugin {
  return {
    name: "native-part",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]classic-level[\\/]binding\.js$/ }, () => ({
        contents: `module.exports = require("./native-addon.ts").loadAddon(${JSON.stringify(addons)});`,
        resolveDir: join(ROOT, "deploy/package"),
      }));
    },
  };
}

function packAddons(): EmbeddedAddons {
  const packed = Object.entries(ADDONS).map(([key, file]) => [
    key,
    brotliCompressSync(readFileSync(addonPath(file)), BROTLI).toString("base64"),
  ]);
  return Object.fromEntries(packed) as EmbeddedAddons;
}

function addonPath(file: string): string {
  const path = join(ROOT, "node_modules/classic-level/prebuilds", file);
  if (!existsSync(path)) throw new Error(`${path} is missing; did the builds of classic-level change?`);
  return path;
}

const NAMESPACE = "built-in";

export const httpModule: Plugin = {
  name: "http-module",
  setup(builder) {
    builder.onResolve({ filter: /^(node:)?http$/ }, () => ({ path: "node:http", namespace: NAMESPACE }));
    builder.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};
