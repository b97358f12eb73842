/** An error that the user at the terminal can correct. Its message is one line that says how. */
export class StackError extends Error {
  override name = 'StackError'
}
