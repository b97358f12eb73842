/** Something the person at the terminal can put right: its message is one line that says what to do. */
export class StackError extends Error {
  override name = 'StackError'
}
