import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from '@backoffice/testing/processes/foreground.ts'
import { guardFolder, guardGroup } from '@backoffice/testing/processes/guard.ts'
import { check } from './check.ts'
import type { Counts } from './test-report.ts'

const options = process.argv.slice(2)
// `npm run test:faults` comes after `npm test`, which runs the static checks.
const checked = options.includes('--project=faults') || (await check())
const { passed, failed } = await runVitest(options)
if (!checked) console.log('\nFailed: npm run check, see above')
const failures = failed + (checked ? 0 : 1)
console.log(`\n${passed} passed, ${failures} failed`)
process.exit(failures === 0 ? 0 : 1)

/** Runs vitest with these options. A run without a passed test, or with an error outside of tests, has a failure. */
async function runVitest(options: readonly string[]): Promise<Counts> {
  const file = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs')
  const reporters = [`--reporter=${join(import.meta.dirname, 'test-report.ts')}`]
  if (!options.some((option) => option.startsWith('--reporter'))) reporters.unshift('--reporter=default')
  // Open to PostgreSQL, which may run as another user.
  const folder = mkdtempSync(join(tmpdir(), 'backoffice-tests-'))
  chmodSync(folder, 0o755)
  guardFolder(folder)
  const vitest = spawn(process.execPath, [file, 'run', ...reporters, ...options], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, TMPDIR: folder },
    detached: true,
  })
  // All processes and files of tests are in this process group and in that folder.
  guardGroup(vitest, 'SIGTERM')
  let counts: Counts = { passed: 0, failed: 0 }
  vitest.on('message', (sent: Counts) => {
    counts = sent
  })
  const [code] = await Promise.all([finished(vitest), once(vitest, 'disconnect')])
  const isClean = code === 0 && counts.passed > 0
  return { ...counts, failed: Math.max(counts.failed, isClean ? 0 : 1) }
}
