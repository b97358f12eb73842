/**
 * Runs at most `count` pieces of work at a time; others wait in the order in which they came. One that has waited for
 * `waitMs` milliseconds is not run and fails with the error of `late`.
 */
export function concurrencyLimit(count: number, waitMs: number, late: () => Error) {
  const waiting = new Set<() => void>()
  let running = 0

  async function acquire(): Promise<void> {
    if (running < count) {
      running++
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      waiting.delete(resolve)
      reject(late())
    }, waitMs)
    waiting.add(resolve)
    await promise.finally(() => clearTimeout(timer))
  }

  /** Passes the slot on to the first that waits, so that work which comes just now does not get it before. */
  function release(): void {
    const [next] = waiting
    if (next === undefined) running--
    else if (waiting.delete(next)) next()
  }

  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await acquire()
    try {
      return await work()
    } finally {
      release()
    }
  }
}
