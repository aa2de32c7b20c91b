/** The appearance of the pages: theme and density, chosen by the user, set on the root element for the style sheet. */

import { readPreference, writePreference } from "./preferences.ts";

/** `contrast`: the strongest colours, light or dark as the system is. */
export type Theme = "system" | "light" | "dark" | "contrast";

export const THEMES: readonly Theme[] = ["system", "light", "dark", "contrast"];

export type Density = "compact" | "normal" | "comfortable";

export const DENSITIES: readonly Density[] = ["compact", "normal", "comfortable"];

/** Heights of a row of lines, px. `normal` is the style sheet's own. */
const ROW_HEIGHTS: Readonly<Record<Density, number>> = { compact: 18, normal: 22, comfortable: 30 };

/** Fired on window when colours have changed: canvases must be drawn again. */
export const THEME_EVENT = "tailrace-theme";

/** Returns the chosen theme. */
export function currentTheme(): Theme {
  return THEMES.find((theme) => theme === readPreference("theme")) ?? "system";
}

/** Chooses a theme and remembers it. */
export function chooseTheme(theme: Theme): void {
  writePreference("theme", theme === "system" ? undefined : theme);
  applyLooks();
}

/** Returns the chosen density. */
export function currentDensity(): Density {
  return DENSITIES.find((density) => density === readPreference("density")) ?? "normal";
}

/** Chooses a density and remembers it. */
export function chooseDensity(density: Density): void {
  writePreference("density", density === "normal" ? undefined : density);
  applyLooks();
}

let rowHeight = ROW_HEIGHTS.normal;

/** Returns the height of a row of lines, px; called for each frame. */
export function rowHeightPx(): number {
  return rowHeight;
}

/** Applies the chosen theme to the page, and follows changes of the system's colours. */
export function startTheme(): void {
  applyLooks();
  for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"])
    matchMedia(query).addEventListener("change", () => dispatchEvent(new Event(THEME_EVENT)));
}

/** Sets the chosen values on the root element. */
export function applyLooks(): void {
  const { dataset } = document.documentElement;
  dataset["theme"] = currentTheme();
  dataset["density"] = currentDensity();
  rowHeight = ROW_HEIGHTS[currentDensity()];
  dispatchEvent(new Event(THEME_EVENT));
}

/** Returns a reader of custom properties as colours that a canvas accepts. */
export function colourReader(element: HTMLElement | SVGElement): (property: string) => string {
  return (property) => {
    element.style.color = `var(${property})`;
    const colour = getComputedStyle(element).color;
    element.style.color = "";
    return colour;
  };
}
