import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { guardFolder } from '../processes/guard.ts'
import { isListening } from '../processes/ports.ts'
import { startPostgres } from './postgres.ts'
import { postgresSettings } from './postgres-settings.ts'

test('after kill -9 it starts again on the same port, whatever process has its former id', {
  timeout: 60_000,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-postgres-'))
  guardFolder(directory)
  chmodSync(directory, 0o755)
  const postgres = await startPostgres({ directory })
  onTestFinished(() => postgres.stop())
  const port = Number(new URL(postgres.url).port)
  const pidFile = join(directory, 'data', 'postmaster.pid')

  await postgres.kill()
  // Its children hold the socket for a moment longer.
  await eventually('nothing listens', async () => !(await isListening(port)))
  const [, ...rest] = readFileSync(pidFile, 'utf8').split('\n')
  writeFileSync(pidFile, [process.pid, ...rest].join('\n'))
  await postgres.start()

  expect(await isListening(port)).toBe(true)
})

test.each([
  [1, { shared_buffers: '128MB', effective_cache_size: '512MB', work_mem: '4MB', maintenance_work_mem: '64MB' }],
  [8, { shared_buffers: '1024MB', effective_cache_size: '4096MB', work_mem: '4MB', maintenance_work_mem: '128MB' }],
  [64, { shared_buffers: '2048MB', effective_cache_size: '32768MB', work_mem: '16MB', maintenance_work_mem: '512MB' }],
])('on a machine with %i GB its settings of memory are %j', (gigabytes, expected) => {
  expect(postgresSettings(gigabytes * 1024 ** 3)).toMatchObject(expected)
})
