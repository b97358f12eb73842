/**
 * Sets the exit code to what a command returns; an error prints its message alone, and exits with `failed`. The command
 * closes its connections: open ones keep the process running.
 */
export async function runCommand(command: () => Promise<number>, failed: number): Promise<void> {
  process.exitCode = await command().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    return failed
  })
}
