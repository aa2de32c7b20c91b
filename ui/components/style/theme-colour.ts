/** Colours of the theme for what is drawn on a canvas. */

/** Returns a reader of custom properties as colours a canvas knows. */
export function colourReader(element: HTMLElement): (property: string) => string {
  return (property) => {
    element.style.color = `var(${property})`;
    const colour = getComputedStyle(element).color;
    element.style.color = "";
    return colour;
  };
}
