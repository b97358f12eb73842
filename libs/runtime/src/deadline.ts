/**
 * Calls `missed` after so many milliseconds, unless the returned function is called before. Sockets are read once more
 * before `missed`: Node runs timers first, so after a standstill of the process an answer in time would count as
 * missing.
 */
export function deadline(milliseconds: number, missed: () => void): () => void {
  let isOver = false
  const timer = setTimeout(() => setImmediate(() => isOver || missed()), milliseconds)
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
