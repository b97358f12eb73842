/** What a command has from its process. */
export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv
  print(text: string): void
  /** Writes to standard error: progress, and why a command fails. */
  printError(text: string): void
  /** Everything that comes on standard input. */
  readInput(): Promise<string>
}
