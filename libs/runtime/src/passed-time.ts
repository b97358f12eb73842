/** A time by both clocks: monotonic time stands still while the host is suspended, and its clock may be set back. */
export type Instant = ReturnType<typeof present>

export const present = () => ({ monotonic: performance.now(), host: Date.now() })

/** The milliseconds since a time, by the clock by which more have passed. */
export function passedSince(time: Instant): number {
  const { monotonic, host } = present()
  return Math.max(monotonic - time.monotonic, host - time.host)
}
