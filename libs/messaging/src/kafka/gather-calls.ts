/**
 * Calls that wait for others: `soon` leads to a run of `work` within so many milliseconds, which all calls until then
 * share. `now` runs it at once, after a run that is under way, and resolves when it has ended. A run that fails is
 * repeated later until one succeeds or `now` has been called; its errors are ignored.
 */
export function gatherCalls(work: () => Promise<unknown>, withinMs: number, afterFailureMs: number) {
  let timer: NodeJS.Timeout | undefined
  let last: Promise<void> = Promise.resolve()
  const runIn = (ms: number) => {
    timer ??= setTimeout(() => {
      timer = undefined
      last = last.then(work).then(ignore, () => runIn(afterFailureMs))
    }, ms)
  }
  return {
    soon: () => runIn(withinMs),
    now(): Promise<void> {
      clearTimeout(timer)
      timer = undefined
      last = last.then(work).then(ignore, ignore)
      return last
    },
  }
}

const ignore = () => undefined
