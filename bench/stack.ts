import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { StackDescription } from '@backoffice/local/stack-file.ts'

/** A stack to measure: the running one, or a temporary one of the bench. */
export interface BenchStack {
  readonly directory: string
  readonly description: StackDescription
  /** The present description: a service has a new process id after a restart. */
  now(): StackDescription
  stop(): Promise<void>
}

/** Uses the stack that `npm start` runs in `STACK_DIR` (`.local`), else starts one in a temporary folder. */
export async function useStack(): Promise<BenchStack> {
  const running = process.env.STACK_DIR ?? '.local'
  if (existsSync(join(running, 'stack.json'))) {
    return { ...described(running), stop: async () => undefined }
  }
  console.log('no stack is running; starting one for the bench …')
  return startStack()
}

/** Starts a stack in a temporary folder; its services have these settings besides the usual ones. */
export async function startStack(environment: NodeJS.ProcessEnv = {}): Promise<BenchStack> {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-bench-'))
  // If the bench runs as root, PostgreSQL runs as another user.
  chmodSync(directory, 0o755)
  const child = spawn(process.execPath, ['infra/local/start.ts', '--headless'], {
    env: { ...process.env, ...environment, STACK_DIR: directory, PORT: '0' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const stop = async () => {
    if (child.exitCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    rmSync(directory, { recursive: true, force: true })
  }
  await untilReady(child, directory).catch(async (error) => {
    await stop()
    throw error
  })
  return { ...described(directory), stop }
}

async function untilReady(child: ChildProcess, directory: string): Promise<void> {
  while (!existsSync(join(directory, 'stack.json'))) {
    if (child.exitCode !== null) throw new Error(`the stack did not start (exit code ${child.exitCode})`)
    await pause(100)
  }
}

const described = (directory: string) => ({
  directory,
  description: read(directory),
  now: () => read(directory),
})

const read = (directory: string): StackDescription => JSON.parse(readFileSync(join(directory, 'stack.json'), 'utf8'))
