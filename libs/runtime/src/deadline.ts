/**
 * Calls `missed` after so many milliseconds, unless the returned function is called before. Sockets are read once more
 * first: after a standstill of the process Node runs timers before them.
 */
export function deadline(milliseconds: number, missed: () => void): () => void {
  let isOver = false
  const timer = setTimeout(() => setImmediate(() => isOver || missed()), milliseconds)
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

/** Waits for an answer, for so many milliseconds at most; then gives what `late` returns or throws. */
export function answeredOr<Answer, Late>(milliseconds: number, answer: Promise<Answer>, late: () => Late) {
  const { promise: missed, resolve } = Promise.withResolvers<void>()
  return Promise.race([answer, missed.then(late)]).finally(deadline(milliseconds, resolve))
}
