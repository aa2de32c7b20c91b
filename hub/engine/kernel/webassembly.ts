/** The part of WebAssembly's interface that is used here; the types of Node have its names only. */

/** A growing run of pages of 64 KiB. */
export interface WasmMemory {
  /** A longer one after each `grow`. */
  readonly buffer: SharedArrayBuffer;
  /** Adds pages; throws RangeError beyond the maximum. */
  grow(pages: number): number;
}

interface MemoryDescriptor {
  readonly initial: number;
  readonly maximum: number;
  readonly shared: boolean;
}

/** Compiled code. */
export type WasmModule = object;

interface ModuleConstructor {
  new (bytes: Uint8Array): WasmModule;
  /** Returns the contents of all custom sections of a name. */
  customSections(module: WasmModule, name: string): ArrayBuffer[];
}

interface WebAssemblyInterface {
  readonly Memory: new (descriptor: MemoryDescriptor) => WasmMemory;
  readonly Module: ModuleConstructor;
  readonly Instance: new (module: WasmModule, imports: object) => { readonly exports: unknown };
}

/** The constructors. */
export const webAssembly = (globalThis as unknown as { WebAssembly: WebAssemblyInterface }).WebAssembly;
