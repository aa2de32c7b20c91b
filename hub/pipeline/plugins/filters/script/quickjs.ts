/** Loads the QuickJS engine at once and without waiting, when the first script asks for it: filters are made in one go. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { QuickJSWASMModule } from "quickjs-emscripten";

/** The part of WebAssembly's interface that is used here; the types of Node don't have it. */
interface WebAssemblyInterface {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: object };
}

/** What the engine's loader fills in while it runs; `instantiateWasm` is the one member that it reads. */
interface LoaderModule {
  instantiateWasm(imports: object, receive: (instance: { readonly exports: object }) => void): object;
}

/** The engine's package and the form of it that runs here: one WebAssembly file, no asynchronous calls. */
const PACKAGE = "quickjs-emscripten";
const CORE = "quickjs-emscripten-core";
const VARIANT = "@jitl/quickjs-wasmfile-release-sync";

/** Returns a new engine with a memory of its own. */
export function loadQuickJs(): QuickJSWASMModule {
  // The parts are packages that the engine's package depends on; they are found from there.
  const inside = createRequire(createRequire(import.meta.url).resolve(PACKAGE));
  const folder = join(dirname(inside.resolve(`${VARIANT}/package.json`)), "dist");
  const { QuickJSWASMModule: Engine } = inside(CORE) as {
    QuickJSWASMModule: new (module: LoaderModule, calls: unknown) => QuickJSWASMModule;
  };
  const { QuickJSFFI: Calls } = inside(join(folder, "ffi.js")) as {
    QuickJSFFI: new (module: LoaderModule) => unknown;
  };
  const load = inside(join(folder, "emscripten-module.cjs")) as (module: LoaderModule) => Promise<unknown>;
  const module: LoaderModule = {
    instantiateWasm(imports, receive) {
      const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyInterface })
        .WebAssembly;
      const code = new Module(readFileSync(join(folder, "emscripten-module.wasm")));
      const instance = new Instance(code, imports);
      receive(instance);
      return instance.exports;
    },
  };
  // The module is complete when the call returns, as nothing in it waited; the promise says no more.
  void load(module);
  return new Engine(module, new Calls(module));
}
