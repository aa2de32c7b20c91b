/**
 * Runs users' JavaScript isolated from the hub: in a separate engine, without access to files, network or the hub's
 * objects, bounded in time and memory. A script accesses the current event through a few calls.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { QuickJSContext, QuickJSHandle, QuickJSWASMModule } from "quickjs-emscripten";
import { decimal, isRawJson, parseEventJson } from "#proto/codec/json.ts";
import { Event, isHash, Timestamp } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat } from "#proto/format.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";
import { PRELUDE } from "./prelude.ts";

/** Deepest nesting of calls, bytes of the engine's stack. */
const STACK_BYTES = 256 * 1024;

export interface SandboxOptions {
  readonly memoryBytes: number;
  /** Longest that one call may take. */
  readonly timeoutMs: number;
}

/** A script failed: it threw, took too long or too much memory. The message is for its author. */
export class ScriptFault extends Error {}

/** Code that was compiled; called with the event, and with what else its parameters name. */
export interface Script {
  /** Returns false if the script returned false. Throws ScriptFault. `emit` gets the events it added. */
  call(event: Event, emit: (event: Event) => void, ...values: readonly ScriptValue[]): boolean;
}

/** A value for a script: JSON, or the map of a task by its key. */
export type ScriptValue = { readonly json: unknown } | { readonly map: string };

export class Sandbox {
  readonly #options: SandboxOptions;
  /** What was defined and compiled, in its order: done again where the engine has to be made again. */
  readonly #history: (() => void)[] = [];
  #context!: QuickJSContext;
  #prelude!: QuickJSHandle;
  /**
   * A call is in progress; found true by the next one it was torn off from outside, and the engine can't be trusted.
   */
  #busy = false;
  #deadlineMs = 0;
  /** Processor time of the thread when the first half of the call's time was over, ms. */
  #workedMs: number | undefined;
  /** How often the engine was made again. */
  #starts = 0;
  /** Events that the current call knows, by their number. */
  #events: Event[] = [];
  #emit: (event: Event) => void = () => undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#start();
  }

  /** Runs code once, for what it defines. Throws ScriptFault. */
  define(code: string, file: string): void {
    this.#lasting(() => this.#context.unwrapResult(this.#context.evalCode(code, file)).dispose());
  }

  /** Compiles the body of a function of `event` and `parameters`. Throws ScriptFault for a fault of its syntax. */
  compile(body: string, parameters: readonly string[]): Script {
    return this.#script(`(function (${["event", ...parameters].join(", ")}) {\n${body}\n})`);
  }

  /** Compiles an expression that is a function, e.g. the name of one that was defined. */
  reference(expression: string): Script {
    return this.#script(`(${expression})`);
  }

  /** Grows when the engine is recreated: maps that were opened before are gone then. */
  get generation(): number {
    return this.#busy ? this.#starts + 1 : this.#starts;
  }

  /** Begins the map of a task with these members. */
  openMap(key: string, members: JsonObject): void {
    this.#invoke("openMap", [key, JSON.stringify(members)]);
  }

  /** Ends the map of a task and returns its members. */
  closeMap(key: string): JsonObject {
    const json = this.#invoke("closeMap", [key]);
    return typeof json === "string" ? membersOf(json) : {};
  }

  #script(source: string): Script {
    let code: QuickJSHandle | undefined;
    this.#lasting(() => {
      const handle = this.#context.unwrapResult(this.#context.evalCode(source, "code"));
      if (this.#context.typeof(handle) !== "function")
        throw new ScriptFault("the script defines no such function");
      code = handle;
    });
    return { call: (event, emit, ...values) => this.#call(() => code!, event, emit, values) };
  }

  #lasting(work: () => void): void {
    this.#limited(work);
    this.#history.push(work);
  }

  #call(
    code: () => QuickJSHandle,
    event: Event,
    emit: (event: Event) => void,
    values: readonly ScriptValue[],
  ): boolean {
    const handles: QuickJSHandle[] = [];
    const hold = (handle: QuickJSHandle): QuickJSHandle => {
      handles.push(handle);
      return handle;
    };
    try {
      return this.#limited(() => {
        const context = this.#context;
        this.#events = [event];
        this.#emit = emit;
        const first = hold(this.#prelude1("event", hold(context.newNumber(0))));
        const others = values.map((value) => hold(this.#value(value)));
        const result = hold(
          context.unwrapResult(context.callFunction(code(), context.undefined, first, ...others)),
        );
        if (context.typeof(result) !== "object") return context.dump(result) !== false;
        return context.dump(hold(this.#prelude1("results", result, first))) !== false;
      });
    } finally {
      for (const handle of handles) handle.dispose();
      this.#events = [];
      this.#emit = () => undefined;
    }
  }

  #value(value: ScriptValue): QuickJSHandle {
    const context = this.#context;
    if ("map" in value) {
      const key = context.newString(value.map);
      const map = this.#prelude1("map", key);
      key.dispose();
      return map;
    }
    return context.unwrapResult(context.evalCode(`(${JSON.stringify(value.json ?? null)})`));
  }

  /** Calls a function of the prelude. */
  #prelude1(name: string, ...args: readonly QuickJSHandle[]): QuickJSHandle {
    const context = this.#context;
    const called = context.getProp(this.#prelude, name);
    const result = context.callFunction(called, context.undefined, ...args);
    called.dispose();
    return context.unwrapResult(result);
  }

  #invoke(name: string, texts: readonly string[]): unknown {
    return this.#limited(() => {
      const args = texts.map((text) => this.#context.newString(text));
      const result = this.#prelude1(name, ...args);
      const value: unknown = this.#context.dump(result);
      for (const handle of [result, ...args]) handle.dispose();
      return value;
    });
  }

  #limited<T>(work: () => T): T {
    if (this.#busy) this.#restart();
    this.#begin();
    this.#busy = true;
    try {
      const result = work();
      this.#busy = false;
      return result;
    } catch (error) {
      // A trap of the engine leaves it half-way, as does what tears a call off.
      this.#busy = (error as Error).name === "RuntimeError";
      if (error instanceof ScriptFault) throw error;
      throw new ScriptFault(this.#messageOf(error as Error), { cause: error });
    }
  }

  #messageOf(error: Error): string {
    if (/interrupted/.test(error.message))
      return `the script was stopped after ${this.#options.timeoutMs} ms`;
    if (/out of memory|out of bounds/.test(error.message))
      return `the script took more than ${this.#options.memoryBytes} bytes`;
    return error.name === "Error" ? error.message : `${error.name}: ${error.message}`;
  }

  #restart(): void {
    this.#busy = false;
    this.#starts++;
    this.#start();
    this.#begin();
    for (const work of this.#history) work();
  }

  /** Starts the clock of a call. */
  #begin(): void {
    this.#deadlineMs = performance.now() + this.#options.timeoutMs / 2;
    this.#workedMs = undefined;
  }

  /**
   * Returns whether the current call took its time: half of it by the clock, then half of it by the processor, so that a
   * thread that has to wait for one isn't to blame.
   */
  #isOver(): boolean {
    const nowMs = performance.now();
    if (nowMs <= this.#deadlineMs) return false;
    const workedMs = threadCpuMs();
    this.#workedMs ??= workedMs;
    this.#deadlineMs = nowMs + 1;
    return workedMs - this.#workedMs >= this.#options.timeoutMs / 2;
  }

  #start(): void {
    const runtime = loadQuickJs().newRuntime();
    runtime.setMemoryLimit(this.#options.memoryBytes);
    runtime.setMaxStackSize(STACK_BYTES);
    // The engine asks once in some 10,000 steps; one step is at most one call of its library.
    runtime.setInterruptHandler(() => this.#isOver());
    const context = runtime.newContext();
    this.#context = context;
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    const host = this.#host(context);
    const prelude = context.unwrapResult(context.evalCode(PRELUDE, "prelude"));
    this.#prelude = context.unwrapResult(context.callFunction(prelude, context.undefined, host));
    prelude.dispose();
    host.dispose();
  }

  /** Functions that the prelude calls. Texts are exact; an event is identified by its number. */
  #host(context: QuickJSContext): QuickJSHandle {
    const host = context.newObject();
    const offer = (name: string, work: (event: Event, args: readonly unknown[]) => unknown): void => {
      const handle = context.newFunction(name, (number, ...rest) => {
        const event = this.#events[context.getNumber(number)];
        if (event === undefined) throw new Error("the event is of an earlier call");
        return handleOf(
          context,
          work(
            event,
            rest.map((each): unknown => context.dump(each)),
          ),
        );
      });
      context.setProp(host, name, handle);
      handle.dispose();
    };
    offer("get", (event, [field]) => jsonOf(event.get(fieldReference(String(field)))));
    offer("set", (event, [field, json]) => {
      const reference = fieldReference(String(field));
      event.set(reference, keepDecimals(fieldValue(json), event.get(reference)));
    });
    offer("setTime", (event, [field, ms]) => event.set(fieldReference(String(field)), timeOf(Number(ms))));
    offer("remove", (event, [field]) => jsonOf(event.remove(fieldReference(String(field)))));
    offer("tag", (event, [name]) => event.tag(String(name)));
    offer("cancel", (event) => event.cancel());
    offer("uncancel", (event) => {
      event.cancelled = false;
    });
    offer("cancelled", (event) => event.cancelled);
    offer("clone", (event) => this.#events.push(event.clone()) - 1);
    offer("format", (event, [format]) => compileFormat(String(format))(event));
    offer("all", (event) => event.toJson());
    offer("emit", (event) => this.#emit(event));
    const create = context.newFunction("create", (json) => {
      const [first] = this.#events;
      const members = keepDecimals(membersOf(context.getString(json)), first?.fields) as JsonObject;
      const event = new Event(members, first?.timeMs ?? 0);
      return context.newNumber(this.#events.push(event) - 1);
    });
    context.setProp(host, "create", create);
    create.dispose();
    return host;
  }
}

/**
 * Returns the value that a script gave for a field, in which whole numbers are decimals where those of `before` are: the
 * language has one kind of numbers, for which 30.0 is 30.
 */
function keepDecimals(value: unknown, before: unknown): unknown {
  if (typeof value === "number") return isDecimal(before) ? decimal(value) : value;
  if (Array.isArray(value) && Array.isArray(before))
    return value.map((item, at) => keepDecimals(item, before[at]));
  if (isHash(value) && isHash(before))
    for (const key of Object.keys(value))
      if (Object.hasOwn(before, key)) value[key] = keepDecimals(value[key], before[key]);
  return value;
}

function isDecimal(value: unknown): boolean {
  return isRawJson(value)
    ? /[.eE]/.test(value.rawJSON)
    : typeof value === "number" && !Number.isInteger(value);
}

/** Returns the value that a script gave; what nests too deep for an event is its text. */
function fieldValue(json: unknown): unknown {
  return typeof json === "string" ? (parseEventJson(json) ?? json) : null;
}

/** Returns the members that a script gave; as text where they nest too deep. */
function membersOf(json: string): JsonObject {
  const members = parseEventJson(json);
  if (members === undefined) return { message: json, tags: ["_jsonparsefailure"] };
  return isHash(members) ? members : {};
}

function jsonOf(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

function timeOf(ms: number): Timestamp | null {
  return Number.isNaN(ms) ? null : new Timestamp(ms);
}

function handleOf(context: QuickJSContext, value: unknown): QuickJSHandle {
  if (typeof value === "string") return context.newString(value);
  if (typeof value === "number") return context.newNumber(value);
  if (typeof value === "boolean") return value ? context.true : context.false;
  return context.undefined;
}

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
function loadQuickJs(): QuickJSWASMModule {
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
