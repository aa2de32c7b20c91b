/** Signs of the kinds of charts. */

import { html, svg, type TemplateResult } from "lit";
import type { Chart } from "#ui/services/visualise/visualisation.ts";

const PATHS = {
  line: svg`<path d="M3.5 17 9 10.5l4 3.5 7.5-8.5"/>`,
  area: svg`<path d="M3.5 19.5V15L9 9.5l4 3.5 7.5-7v13.5Z"/>`,
  bar: svg`<path d="M5 20v-7M12 20V5M19 20v-11" stroke-width="4" stroke-linecap="butt"/>`,
  pie: svg`<circle cx="12" cy="12" r="8.5"/><circle cx="12" cy="12" r="3.5"/><path d="M12 3.5v5M15 14l4 3"/>`,
  table: svg`<rect x="3.5" y="5" width="17" height="14" rx="1.5"/><path d="M3.5 10h17M3.5 14.5h17M10 5v14"/>`,
  number: svg`<path d="M6 8.5 9 6v12M13.5 8.5C14 7 15 6 16.5 6c4 0 3.6 4.5 1 7L13.5 18h6"/>`,
  heat: svg`<path d="M4 4h5v5H4ZM15 4h5v5h-5ZM9.5 9.5h5v5h-5ZM4 15h5v5H4ZM15 15h5v5h-5Z"/>`,
  map: svg`<circle cx="12" cy="12" r="8.5"/><path d="M3.5 12h17M12 3.5c5 5 5 12 0 17M12 3.5c-5 5-5 12 0 17"/>`,
} as const;

/** Returns the sign of a kind. */
export function chartIcon(chart: Chart): TemplateResult {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true">${PATHS[chart]}</svg>`;
}
