import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Runs `npx backoffice …` on the stack in a folder, with this environment. Rejects with its output when it fails. */
export const backofficeIn = (directory: string, ...args: string[]): Promise<string> =>
  backofficeOf('.', directory, ...args)

/** The same, with the command line of the version in a folder. */
export async function backofficeOf(version: string, directory: string, ...args: string[]): Promise<string> {
  const run = promisify(execFile)(process.execPath, [join(version, 'infra/cli/main.ts'), ...args], {
    // A version before OP-299 asks the stack's own broker, not the one that all tests share.
    env: { ...process.env, STACK_DIR: directory, KAFKA_BROKERS: '' },
  })
  const { stdout } = await run.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`backoffice ${args.join(' ')}: ${error.stdout}${error.stderr}`)
  })
  return stdout
}
