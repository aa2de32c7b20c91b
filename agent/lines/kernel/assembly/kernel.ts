/** What the agent's kernel exports. `build.ts` compiles it. */

export { count, events, pack, place, target } from "./lines";
export {
  eventDocuments,
  lineDocuments,
  setTemplate,
  taken,
  written,
} from "./documents";
