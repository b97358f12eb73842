import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
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
  // What is logged while lines before it are being written may come before them when the process exits.
  const lines = logged.map((line) => JSON.parse(line)).toSorted((one, other) => one.line - other.line)
  expect(lines.map(({ line }) => line)).toEqual(Array.from({ length: LINES }, (_, index) => index + 1))
  // A busy machine takes longer, so that fewer lines are together.
  const elapsedMs = Date.parse(lines.at(-1).time) - Date.parse(lines[0].time)
  expect(writes.length).toBeLessThanOrEqual(elapsedMs / 50 + 2)
})

/** Logs 10 MB, says so on standard error, and waits. */
const MUCH = `
  import { createLogger } from ${MODULE}
  const logger = createLogger('sample', 'info')
  for (let line = 0; line < 10_000; line++) logger.info({ text: 'x'.repeat(1024) }, 'logged')
  process.stderr.write('logged')
  setTimeout(() => undefined, 20_000)`

test('while nobody reads, a few megabytes of lines wait; then a line says how many were lost', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', MUCH], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  await once(child.stderr, 'data')
  let [written, lost] = [0, 0]
  for await (const line of createInterface(child.stdout)) {
    const { msg, lines } = JSON.parse(line)
    if (msg === 'logged') written++
    else {
      lost = lines
      break
    }
  }
  child.kill()
  expect([written + lost, lost > 5000]).toEqual([10_000, true])
})
