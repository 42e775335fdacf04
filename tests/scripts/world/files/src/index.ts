import { clamp, mean } from './math';

// TODO: read the station list from the configuration
export function tide(heights: number[]): number {
  return clamp(mean(heights), 0, 12);
}

export class Station {
  constructor(readonly name: string) {}
  // FIXME: time zones
  next(): Date {
    return new Date(0);
  }
}
