/** Writes events as JSON bytes, and determines the shape of each. */

import { randomInt } from "node:crypto";
import { isoText } from "#proto/codec/iso-text.ts";
import { isRawJson } from "#proto/codec/json.ts";
import { Timestamp } from "#proto/event.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { JsonWriter, piece } from "./json-writer.ts";

/** Most nodes of the tree, some MB. Beyond, the tree is reset, and known shapes get new numbers. */
const MAX_PLACES = 32_768;

/** Steps beside names: the kinds of values, and their end. */
const OBJECT = Symbol("object");
const LIST = Symbol("list");
/** Of an object or a list. */
const END = Symbol("end");
const NULL = Symbol("null");
/** Any other value: a step in lists only, as a name without a kind implies it. */
const SCALAR = Symbol("scalar");

/** A member's name, the kind of a value, or the shape of one that many events share. */
type Step = string | symbol | number;

const NO_NAME = new Uint8Array();

/** A random start, so that numbers of two threads, and those of jsonShape, differ. */
let nextNumber = randomInt(2 ** 47) * 32;

/** A node of the tree. */
class ShapeNode {
  /** Unique number of this shape, never reused. Below 2^53. */
  readonly number = nextNumber++;
  /** `,"name":` where a name led here. */
  readonly json: Uint8Array;
  readonly #tree: ShapeTree;
  #step: Step | undefined;
  #next: ShapeNode | undefined;
  /** By the steps that weren't taken last; most nodes have none. */
  #others: Map<Step, ShapeNode> | undefined;

  constructor(tree: ShapeTree, json: Uint8Array) {
    this.#tree = tree;
    this.json = json;
  }

  /** Returns the node after a step. */
  after(step: Step): ShapeNode {
    return this.#step === step ? this.#next! : this.#turn(step);
  }

  #turn(step: Step): ShapeNode {
    const next = this.#others?.get(step) ?? this.#tree.grow(step);
    if (this.#step !== undefined) {
      this.#others ??= new Map();
      this.#others.set(this.#step, this.#next!);
      this.#others.delete(step);
    }
    this.#step = step;
    this.#next = next;
    return next;
  }
}

class ShapeTree {
  #root = new ShapeNode(this, NO_NAME);
  #places = 0;

  /** Where an event begins. */
  get root(): ShapeNode {
    if (this.#places > MAX_PLACES) {
      this.#root = new ShapeNode(this, NO_NAME);
      this.#places = 0;
    }
    return this.#root;
  }

  /** Returns a new node after `step`. */
  grow(step: Step): ShapeNode {
    this.#places++;
    return new ShapeNode(this, typeof step === "string" ? piece(`,${JSON.stringify(step)}:`) : NO_NAME);
  }
}

/** Of an integer below 2^53. */
const MAX_DIGITS = 16;

const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const COMMA = 0x2c;

/** One for the thread: what its events look like. */
const TREE = new ShapeTree();

/** Up to this length comparing a text with the line costs more than writing it. */
const SHORT_TEXT = 24;

/** A member that many events have. */
interface SharedMember {
  readonly json: Uint8Array;
  readonly shape: number;
}

/** The shared members that an event begins with. */
interface Beginning {
  /** With the brace before them. */
  readonly json: Uint8Array;
  /** Where they lead to from `root`. */
  readonly place: ShapeNode;
  readonly root: ShapeNode;
}

/** The bytes that a text was read from, UTF-8: nearly every event still has its line unchanged. */
export interface Line {
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** Writes events into `json`. */
export class EventJson {
  /** What events are looked through for: its bytes needn't be made once more. */
  line: Line | undefined;
  readonly #json: JsonWriter;
  readonly #shared: Readonly<JsonObject>;
  readonly #sharedNames: readonly string[];
  readonly #sharedMembers = new Map<string, SharedMember>();
  /** By the number of members. */
  readonly #beginnings: Beginning[] = [];
  #place: ShapeNode = TREE.root;

  /** `shared`: objects that many events have as members; they must not be changed. */
  constructor(json: JsonWriter, shared: Readonly<JsonObject> = {}) {
    this.#json = json;
    this.#shared = shared;
    this.#sharedNames = Object.keys(shared);
  }

  /**
   * Writes `fields` as JSON.stringify does and returns their shape, a number below 2^53 that no other shape
   * has: equal for equal names in equal order with values of the same kinds (object, array, null, other); a list of plain
   * values has one shape however many there are.
   */
  write(fields: Readonly<JsonObject>): number {
    this.#place = TREE.root;
    const shared = this.#sharedAtBeginning(fields);
    if (shared > 0) this.#begin(shared);
    else this.#json.byte(OPENING_BRACE);
    this.#members(fields, shared);
    return this.#place.number;
  }

  /** Returns how many members `fields` begins with that are the shared ones, in their order. */
  #sharedAtBeginning(fields: Readonly<JsonObject>): number {
    const names = this.#sharedNames;
    let count = 0;
    for (const name in fields) {
      if (count === names.length || name !== names[count] || fields[name] !== this.#shared[name]) break;
      count++;
    }
    return count;
  }

  /** Writes the first `count` shared members, as written for an earlier event. */
  #begin(count: number): void {
    const json = this.#json;
    const known = this.#beginnings[count];
    if (known?.root === this.#place) {
      json.reserve(known.json.length);
      json.raw(known.json);
      this.#place = known.place;
      return;
    }
    const root = this.#place;
    const start = json.at;
    json.byte(OPENING_BRACE);
    const members = this.#sharedNames.slice(0, count).map((name) => [name, this.#shared[name]] as const);
    this.#members(Object.fromEntries(members), 0, false);
    // A copy: the writer's bytes are overwritten by the next message.
    const written = new Uint8Array(json.bytes.subarray(start, json.at));
    this.#beginnings[count] = { json: written, place: this.#place, root };
  }

  /** Writes the members after the first `done` ones; the opening brace is already written. */
  #members(object: Readonly<JsonObject>, done = 0, closes = true): void {
    const json = this.#json;
    // The first name is written without its comma.
    let from = done === 0 ? 1 : 0;
    let passed = 0;
    for (const name in object) {
      if (passed++ < done) continue;
      const value = object[name];
      // JSON leaves them out.
      if (value === undefined || typeof value === "function" || typeof value === "symbol") continue;
      this.#place = this.#place.after(name);
      const key = this.#place.json;
      json.reserve(key.length);
      json.copy(key, from, key.length);
      from = 0;
      if (typeof value === "string") this.#text(value);
      else if (typeof value === "object" && value !== null && value === this.#shared[name])
        this.#sharedMember(name, value);
      else this.#value(value, SCALAR);
    }
    if (closes) json.byte(CLOSING_BRACE);
  }

  #text(text: string): void {
    const { line } = this;
    if (text.length <= SHORT_TEXT || line === undefined || text !== line.text) this.#json.string(text);
    else this.#json.quoted(line.bytes, line.start, line.end);
  }

  /** Writes a value and returns its kind; `before`: kind of the item before it in a list. */
  #value(value: unknown, before: Step | undefined): Step {
    if (value !== null && typeof value === "object") return this.#object(value, before);
    if (typeof value === "string") this.#json.string(value);
    else if (typeof value === "number" && Number.isFinite(value)) this.#number(value);
    else if (typeof value === "boolean") this.#json.text(value ? "true" : "false");
    else {
      this.#json.text(typeof value === "bigint" ? JSON.stringify(value) : "null");
      return this.#step(NULL);
    }
    return before === SCALAR ? SCALAR : this.#step(SCALAR);
  }

  #sharedMember(name: string, value: object): void {
    let member = this.#sharedMembers.get(name);
    if (member === undefined) {
      const json = new JsonWriter(256);
      const alone = new EventJson(json);
      alone.#value(value, undefined);
      member = { json: json.bytes.subarray(0, json.at), shape: alone.#place.number };
      this.#sharedMembers.set(name, member);
    }
    this.#json.reserve(member.json.length);
    this.#json.raw(member.json);
    this.#step(member.shape);
  }

  #number(value: number): void {
    if (value >= 0 && Number.isSafeInteger(value)) {
      this.#json.reserve(MAX_DIGITS);
      this.#json.integer(value);
    } else this.#json.text(String(value));
  }

  #object(value: object, before: Step | undefined): Step {
    if (Array.isArray(value)) return this.#list(value);
    if (value instanceof Timestamp) return this.#value(isoText(value.ms), before);
    const isPlain = Object.getPrototypeOf(value) === Object.prototype;
    if (!isPlain && (isRawJson(value) || "toJSON" in value)) {
      this.#json.text(JSON.stringify(value));
      return before === SCALAR ? SCALAR : this.#step(SCALAR);
    }
    this.#step(OBJECT);
    this.#json.byte(OPENING_BRACE);
    // Of objects that aren't plain, only the own properties are written.
    this.#members((isPlain ? value : { ...value }) as JsonObject);
    this.#step(END);
    return OBJECT;
  }

  #list(list: readonly unknown[]): Step {
    const json = this.#json;
    this.#step(LIST);
    json.byte(OPENING_BRACKET);
    let last: Step | undefined;
    for (let place = 0; place < list.length; place++) {
      if (place > 0) json.byte(COMMA);
      last = this.#value(list[place], last);
    }
    json.byte(CLOSING_BRACKET);
    this.#step(END);
    return LIST;
  }

  #step(step: Step): Step {
    this.#place = this.#place.after(step);
    return step;
  }
}
