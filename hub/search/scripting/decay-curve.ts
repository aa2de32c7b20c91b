/** Curves by which a score falls with the distance from an origin: of `function_score` and of scripts. */

export type DecayKind = "gauss" | "exp" | "linear";

/** Returns the curve that is 1 at the distance 0 and `decay` at the distance `scale`. */
export function decayCurve(kind: DecayKind, scale: number, decay: number): (distance: number) => number {
  if (kind === "gauss") {
    const factor = Math.log(decay) / (scale * scale);
    return (distance) => Math.exp(factor * distance * distance);
  }
  if (kind === "exp") {
    const factor = Math.log(decay) / scale;
    return (distance) => Math.exp(factor * distance);
  }
  const end = scale / (1 - decay);
  return (distance) => Math.max(0, (end - distance) / end);
}
