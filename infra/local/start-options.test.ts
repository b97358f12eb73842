import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startOptions, USAGE, UsageError } from './start-options.ts'

/** Runs `npm start` with arguments that keep it from starting anything. */
function start(args: string[], environment: NodeJS.ProcessEnv = {}) {
  const file = join(import.meta.dirname, 'start.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test('without arguments and variables it has the defaults', () => {
  const defaults = { port: 8080, fresh: false, headless: false, help: false }
  expect(startOptions([], {})).toMatchObject(defaults)
  expect(startOptions([], { PORT: '', STACK_DIR: '' })).toMatchObject(defaults)
})

test('flags and variables are read', () => {
  const options = startOptions(['--fresh', '--headless'], { PORT: '0', STACK_DIR: '/tmp/elsewhere' })
  expect(options).toMatchObject({ port: 0, fresh: true, headless: true, directory: '/tmp/elsewhere' })
})

test.each(['abc', '80.5', '-1', '65536', '0x50', ' '])('PORT=%j is refused', (port) => {
  expect(() => startOptions([], { PORT: port })).toThrow(UsageError)
  expect(() => startOptions([], { PORT: port })).toThrow(`PORT=${port} is not a port`)
})

test.each(['--help', '-h'])('%s prints the usage and exits 0', (flag) => {
  expect(start([flag])).toEqual({ status: 0, stdout: `${USAGE}\n`, stderr: '' })
})

test.each([
  [['--frsh'], "Unknown option '--frsh'"],
  [['fresh'], "Unexpected argument 'fresh'"],
  [['--fresh=yes'], "Option '--fresh' does not take an argument"],
])('%j prints what is wrong and the usage, and exits 2', (args, message) => {
  expect(start(args)).toEqual({ status: 2, stdout: '', stderr: `${message}\n\n${USAGE}\n` })
})

test('a variable that is wrong is named in the first line, and ends it with exit code 2', () => {
  const { status, stdout, stderr } = start([], { PORT: 'abc' })
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(/^PORT=abc is not a port: .*\n/)
})
