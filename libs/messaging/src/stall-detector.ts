/** What was seen of one partition: how much waits, and a number that changes whenever something moved. */
export interface Sighting {
  readonly partition: string
  readonly lag: number
  readonly mark: number
}

/**
 * Tells which partitions have lag and did not move over `limit` sightings in a row. Sightings are counted, not time, so a
 * machine that was asleep finds nothing stalled when it wakes.
 */
export function stallDetector(limit: number): (sightings: readonly Sighting[]) => string[] {
  let former = new Map<string, { mark: number; unmoved: number }>()
  return (sightings) => {
    former = new Map(
      sightings.map(({ partition, lag, mark }) => {
        const before = former.get(partition)
        const isUnmoved = lag > 0 && before?.mark === mark
        return [partition, { mark, unmoved: isUnmoved ? before.unmoved + 1 : 0 }]
      }),
    )
    return [...former].filter(([, { unmoved }]) => unmoved >= limit).map(([partition]) => partition)
  }
}
