/** Lets a loop wait for work with a time limit. A `wake` while nobody waits ends the next wait at once. */
export function wakeSignal() {
  let isWoken = false
  let end = (): void => undefined
  return {
    wake(): void {
      isWoken = true
      end()
    },
    async wait(ms: number): Promise<void> {
      // No AbortController: each abort makes an error with its stack, and there are several wakes to a delivery.
      if (!isWoken) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        end = resolve
        await promise
        clearTimeout(timer)
      }
      isWoken = false
    },
  }
}
