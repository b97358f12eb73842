const MIB = 1024 * 1024

/** Files that a replica validates at the same time, a workspace one of them. They take turns (`TimeSlices`). */
export const PLACES = 8
/**
 * So many of them may have more bytes. A file keeps its place to its end, which for 1 GiB comes late: smaller files find
 * places that no larger one holds.
 */
const LARGER = [
  { bytes: 5 * MIB, places: 6 },
  { bytes: 50 * MIB, places: 3 },
]

/** The most bytes of the next file, by those of the files under way; undefined when all places are taken. */
export function mostBytesOfNext(underWay: readonly number[]): number | undefined {
  if (underWay.length >= PLACES) return undefined
  const isFull = ({ bytes, places }: (typeof LARGER)[number]) => underWay.filter((one) => one > bytes).length >= places
  return LARGER.find(isFull)?.bytes ?? Number.MAX_SAFE_INTEGER
}
