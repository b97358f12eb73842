import { RoundRobin } from '@backoffice/runtime/round-robin.ts'

/**
 * What waits in memory to be written, by workspace, `most` in all. A workspace may have all of it while no other needs
 * room. When it is full, one with less than an equal share takes the place of the oldest of the one that has the most
 * (decision 027).
 */
export function waitingRequests<Request extends object>(most: number) {
  const waiting = new RoundRobin<Request>()
  let size = 0

  /** Reads how much each workspace has, so it is called for those alone that have little. */
  function dropOfLargest(): void {
    let largest: { workspace: string; oldest: Request; count: number } | undefined
    for (const [workspace, oldest] of waiting) {
      const count = waiting.of(workspace).size
      if (count > (largest?.count ?? 0)) largest = { workspace, oldest, count }
    }
    if (largest === undefined) return
    waiting.remove(largest.workspace, largest.oldest)
    size--
  }

  return {
    get isEmpty(): boolean {
      return waiting.isEmpty
    },
    /** Adds a request. Returns whether one had no room: this one, or an older one of another workspace. */
    add(workspace: string, request: Request): boolean {
      const isFull = size === most
      if (isFull && waiting.of(workspace).size >= most / waiting.owners) return true
      if (isFull) dropOfLargest()
      waiting.add(workspace, request)
      size++
      return isFull
    },
    /** Takes up to `count` requests out: the oldest of each workspace in turn. */
    take(count: number): Request[] {
      const taken: Request[] = []
      // A workspace that is served goes to the end, so the loop meets it again.
      for (const [workspace, request] of waiting) {
        waiting.serve(workspace, request)
        if (taken.push(request) === count) break
      }
      size -= taken.length
      return taken
    },
  }
}
