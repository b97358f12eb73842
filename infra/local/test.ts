import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check } from './check.ts'
import { finished } from './foreground.ts'

/** The members of vitest's JSON report that the closing line counts. */
interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly { status: string }[] }[]
}

const checked = await check()
const directory = mkdtempSync(join(tmpdir(), 'backoffice-report-'))
const report = join(directory, 'report.json')
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs')
const args = [vitest, 'run', ...reporters, ...process.argv.slice(2)]
const code = await finished(spawn(process.execPath, args, { stdio: 'inherit' }))
const { passed, failed } = counts(report)
rmSync(directory, { recursive: true, force: true })
if (!checked) console.log('\nnpm run check failed: see above')
const failures = Math.max(failed, code === 0 ? 0 : 1) + (checked ? 0 : 1)
console.log(`\n${passed} passed, ${failures} failed`)
process.exit(failures === 0 ? 0 : 1)

/** A file that cannot be loaded has no tests that could fail, and counts as one failure. */
function counts(file: string): { passed: number; failed: number } {
  if (!existsSync(file)) return { passed: 0, failed: 1 }
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(file, 'utf8')) as Report
  const unloadable = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  return { passed: numPassedTests, failed: numFailedTests + unloadable.length }
}
