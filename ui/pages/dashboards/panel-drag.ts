/**
 * Arranging panels by pointer: a panel is dragged by its header to another one's position, and resized by its corner.
 * All of this is possible with buttons too (WCAG 2.5.7).
 */

import type { ReactiveController, ReactiveControllerHost } from "lit";

export interface PanelDragTarget {
  /** The grid that holds the panels, in their order, each marked `data-panel`. */
  grid(): HTMLElement | null;
  /** A panel was moved to another one's position. */
  move(from: number, to: number): void;
  /** A panel's corner was pulled; px. */
  resize(
    at: number,
    size: { readonly widthPx: number; readonly heightPx: number; readonly gridPx: number },
  ): void;
}

interface Held {
  readonly kind: "move" | "resize";
  at: number;
}

export class PanelDrag implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #target: PanelDragTarget;
  #held: Held | undefined;

  constructor(host: ReactiveControllerHost, target: PanelDragTarget) {
    this.#host = host;
    this.#target = target;
    host.addController(this);
  }

  /** The panel that is dragged, or undefined. */
  get heldPanel(): number | undefined {
    return this.#held?.at;
  }

  hostDisconnected(): void {
    this.#held = undefined;
  }

  /** Starts dragging a panel by its header or its corner. Its links and buttons keep working. */
  take(kind: Held["kind"], at: number, event: PointerEvent): void {
    const grid = this.#target.grid();
    if (grid === null || event.button !== 0 || (event.target as Element).closest("a, button") !== null)
      return;
    event.preventDefault();
    // The grid doesn't move, whatever happens to its panels.
    grid.setPointerCapture(event.pointerId);
    this.#held = { kind, at };
    grid.addEventListener("pointermove", this.#onMove);
    grid.addEventListener("lostpointercapture", this.#release, { once: true });
    this.#host.requestUpdate();
  }

  readonly #onMove = (event: PointerEvent): void => {
    const held = this.#held;
    const grid = this.#target.grid();
    if (held === undefined || grid === null) return;
    const panels = [...grid.querySelectorAll<HTMLElement>("[data-panel]")];
    if (held.kind === "move") this.#moveTo(panels, held, event);
    else this.#resizeTo(panels[held.at], grid, held.at, event);
  };

  #moveTo(panels: readonly HTMLElement[], held: Held, { clientX, clientY }: PointerEvent): void {
    const to = panels.findIndex((panel) => {
      const { left, right, top, bottom } = panel.getBoundingClientRect();
      return clientX >= left && clientX < right && clientY >= top && clientY < bottom;
    });
    if (to < 0 || to === held.at) return;
    const from = held.at;
    held.at = to;
    this.#target.move(from, to);
  }

  #resizeTo(
    panel: HTMLElement | undefined,
    grid: HTMLElement,
    at: number,
    { clientX, clientY }: PointerEvent,
  ): void {
    if (panel === undefined) return;
    const { left, top } = panel.getBoundingClientRect();
    const { paddingLeft, paddingRight } = getComputedStyle(grid);
    const gridPx = grid.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
    this.#target.resize(at, { widthPx: clientX - left, heightPx: clientY - top, gridPx });
  }

  readonly #release = (event: Event): void => {
    (event.currentTarget as HTMLElement).removeEventListener("pointermove", this.#onMove);
    this.#held = undefined;
    this.#host.requestUpdate();
  };
}
