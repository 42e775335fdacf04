export const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;

// TODO: handle NaN
export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
