import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { processIdentity } from './process-identity.ts'

/** Runs a parent that guards a child and folders, and returns the ids of both processes. */
async function parentWithChild(directories: readonly string[]): Promise<{ parent: number; child: number }> {
  const script = `
    import { startChild } from ${JSON.stringify(join(import.meta.dirname, 'child.ts'))}
    import { guardFolder } from ${JSON.stringify(join(import.meta.dirname, 'guard.ts'))}
    ${JSON.stringify(directories)}.forEach(guardFolder)
    const child = await startChild({ name: 'child', file: 'sleep', args: ['60'], output: () => {} })
    console.log(child.pid)
    setInterval(() => {}, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: parent.stdout })) {
    return { parent: parent.pid as number, child: Number(line) }
  }
  throw new Error('the parent ended before it had a child')
}

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
  'after %s a process leaves no child and no folder',
  async (signal) => {
    const directories = ['one', 'another'].map((name) => mkdtempSync(join(tmpdir(), `backoffice guard ${name}-`)))
    const { parent, child } = await parentWithChild(directories)
    expect(processIdentity(child)).toContain('sleep')

    process.kill(parent, signal)

    const left = () => [processIdentity(child), ...directories.filter((path) => existsSync(path))]
    await expect.poll(left).toEqual([undefined])
  },
)
