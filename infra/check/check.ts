import { spawn } from 'node:child_process'
import { finished } from '@backoffice/testing/processes/foreground.ts'

/** Runs every static check, even if one fails, and returns whether all passed. */
export async function check(): Promise<boolean> {
  const tasks = ['check:api', 'check:folders', 'check:format', 'check:types', 'check:unused']
  const flags = ['--continue', '--env-mode=loose', '--output-logs=errors-only', '--log-prefix=none']
  return (await finished(spawn('turbo', ['run', ...tasks, ...flags], { stdio: 'inherit' }))) === 0
}

if (import.meta.main) process.exit((await check()) ? 0 : 1)
