import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Runs `npx backoffice …` on the stack in a folder, with this environment. Rejects with its output when it fails. */
export async function backofficeIn(directory: string, ...args: string[]): Promise<string> {
  const run = promisify(execFile)(process.execPath, ['infra/cli/main.ts', ...args], {
    env: { ...process.env, STACK_DIR: directory },
  })
  const { stdout } = await run.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`backoffice ${args.join(' ')}: ${error.stdout}${error.stderr}`)
  })
  return stdout
}
