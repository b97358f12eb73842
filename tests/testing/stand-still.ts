import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { TestStack } from './stack.ts'

/** Lets processes stand still. Returns what lets them go on, which the end of the test does in any case. */
function standStill(pids: readonly number[]): () => void {
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  let areStill = true
  const goOn = () => {
    if (areStill) for (const pid of pids) process.kill(pid, 'SIGCONT')
    areStill = false
  }
  onTestFinished(goOn)
  return goOn
}

/** Lets a service of the stack stand still. Returns what lets it go on. */
export function serviceStandsStill(stack: TestStack, name: string): () => void {
  const pid = stack.description().services[name]?.pid
  if (pid === undefined) throw new Error(`the stack runs no ${name}`)
  return standStill([pid])
}

/** Lets the stack's PostgreSQL stand still, with the processes of its connections. Returns what lets it go on. */
export async function postgresStandsStill({ sql }: TestStack): Promise<() => void> {
  const [{ folder }] = await sql<[{ folder: string }]>`select current_setting('data_directory') as folder`
  const own = await sql<{ pid: number }[]>`select pid from pg_stat_activity`
  const [postmaster] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
  return standStill([Number(postmaster), ...own.map(({ pid }) => pid)])
}
