/**
 * Calls `missed` after so many milliseconds; the function that it returns prevents that. A process that stood still in between first
 * reads what has come meanwhile: timers run before sockets are read, so an answer that is there would count as missing.
 */
export function deadline(milliseconds: number, missed: () => void): () => void {
  let isOver = false
  const timer = setTimeout(() => setImmediate(() => isOver || missed()), milliseconds)
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
