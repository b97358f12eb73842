/**
 * Runs a command and sets the exit code of the process to what it returns. An error prints its message alone, and the
 * exit code is `failed`. The command closes its connections, since open connections keep the process running.
 */
export async function runCommand(command: () => Promise<number>, failed: number): Promise<void> {
  process.exitCode = await command().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    return failed
  })
}
