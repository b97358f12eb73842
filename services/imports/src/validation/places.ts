const MIB = 1024 * 1024

/** Files that a replica validates at the same time, a workspace one of them. They take turns (`TimeSlices`). */
export const PLACES = 8
/**
 * Of them, so many may have more bytes than this. A file keeps its place to its end, which comes late for 1 GiB: the
 * other places stay for smaller files.
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
