/**
 * Shapes of events: a tree in which the names of an event's members, in their order, lead from the root to the place that
 * stands for events of that shape. Nearly all events take the way of the one before, so that each step is a comparison.
 */

import { randomInt } from "node:crypto";
import { piece } from "./json-writer.ts";

/** Places of the tree; beyond, it begins anew, and shapes that were known are new ones. Some MB. */
const MAX_PLACES = 32_768;

/** What stands beside names for the kinds of values and where they end. */
export const OBJECT = Symbol("object");
export const LIST = Symbol("list");
/** Of an object or a list. */
export const END = Symbol("end");
export const NULL = Symbol("null");
/** Any other value: said in lists only, as a name without a kind has one. */
export const SCALAR = Symbol("scalar");

/** A member's name, the kind of a value, or the shape of one that many events share. */
export type Step = string | symbol | number;

const NO_NAME = new Uint8Array();

/** Begins anywhere, so that two threads don't give the same numbers, and jsonShape gives others too. */
let nextNumber = randomInt(2 ** 47) * 32;

/** A place in the tree. */
export class ShapePlace {
  /** Tells this shape from all others; no place ever has that of another one. Below 2^53. */
  readonly number = nextNumber++;
  /** `,"name":` where a name led here. */
  readonly json: Uint8Array;
  readonly #tree: ShapeTree;
  #step: Step | undefined;
  #next: ShapePlace | undefined;
  /** By the steps that weren't taken last; most places have none. */
  #others: Map<Step, ShapePlace> | undefined;

  constructor(tree: ShapeTree, json: Uint8Array) {
    this.#tree = tree;
    this.json = json;
  }

  /** Returns the place behind a step. */
  after(step: Step): ShapePlace {
    return this.#step === step ? this.#next! : this.#turn(step);
  }

  #turn(step: Step): ShapePlace {
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

export class ShapeTree {
  #root = new ShapePlace(this, NO_NAME);
  #places = 0;

  /** Where an event begins. */
  get root(): ShapePlace {
    if (this.#places > MAX_PLACES) {
      this.#root = new ShapePlace(this, NO_NAME);
      this.#places = 0;
    }
    return this.#root;
  }

  /** Returns a new place behind `step`. */
  grow(step: Step): ShapePlace {
    this.#places++;
    return new ShapePlace(this, typeof step === "string" ? piece(`,${JSON.stringify(step)}:`) : NO_NAME);
  }
}
