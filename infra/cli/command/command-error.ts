/** What the command was asked to do failed. Its message is for the user at the terminal; the exit code is 1. */
export class CommandError extends Error {
  /** Of the API's answer, where it has refused a request. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/** The command line is wrong: the exit code is 2. */
export class UsageError extends Error {}
