import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'

const LINES = 20
const MODULE = JSON.stringify(new URL('logger.ts', import.meta.url))

/** Logs a line every five milliseconds in another process, which then exits. */
const PROGRAM = `
  import { setTimeout as pause } from 'node:timers/promises'
  import { createLogger } from ${MODULE}
  const logger = createLogger('sample', 'info')
  for (let line = 1; line <= ${LINES}; line++) {
    logger.info({ line }, 'logged')
    if (line < ${LINES}) await pause(5)
  }
  process.exit(1)`

test('lines that follow each other closely are written together, and all of them before the process exits', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const writes: string[] = []
  for await (const written of child.stdout) writes.push(String(written))
  const logged = writes.join('').trimEnd().split('\n')
  expect(logged.map((line) => JSON.parse(line).line)).toEqual(Array.from({ length: LINES }, (_, index) => index + 1))
  expect(writes.length).toBeLessThan(LINES / 2)
})
