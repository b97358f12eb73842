/**
 * Lets `count` pieces of work run at a time; others wait in the order they came. One that has waited for `waitMs` is never
 * run and fails with what `late` makes.
 */
export function turns(count: number, waitMs: number, late: () => Error) {
  const waiting = new Set<() => void>()
  let running = 0

  async function turn(): Promise<void> {
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

  /** Hands the turn on, so that nobody who comes just now gets it before those who wait. */
  function done(): void {
    const [next] = waiting
    if (next === undefined) running--
    else if (waiting.delete(next)) next()
  }

  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await turn()
    try {
      return await work()
    } finally {
      done()
    }
  }
}
