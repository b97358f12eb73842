import { execFile } from 'node:child_process'
import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, type TestContext } from 'vitest'
import { PythonMissing, pythonPackage } from './testing/python-package.ts'
import { startStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

/* Among the fault tests, since it sends thousands of requests, some of which delete workspaces and operators. */

/** Its checks of what a document says. That values which fit it may be refused all the same is no fault. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'unsupported_method',
  'allow_header_conformance',
  'ignored_auth',
  'use_after_free',
]
/** It takes the schema of a stream for that of each event. */
const STREAM = '/v1/imports/{id}/progress'
/** One worker: Python 3.11 fails to read its own sources in two threads at once. */
const OPTIONS = ['--no-color', '--seed', '1', '--workers', '1', '--max-examples', '3', '--request-timeout', '30']

/** The part of the operations that gets half of the requests. */
const LARGEST = '^/v1/(orders|products)'

/** Runs schemathesis in a folder of its own. Throws with what it says when an answer is not as the document says. */
async function schemathesis(packages: string, args: readonly string[]): Promise<string> {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'backoffice-requests-'))
  const hooks = join(import.meta.dirname, 'testing/fewer-wrong-types.py')
  const env = { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1', SCHEMATHESIS_HOOKS: hooks }
  const options = { cwd: folder.path, env, maxBuffer: 2 ** 26 }
  const command = ['-m', 'schemathesis.cli', 'run', ...args]
  const { stdout } = await promisify(execFile)('python3', command, options).catch((error: { stdout?: string }) => {
    throw new Error(error.stdout?.slice(0, 10_000) || String(error))
  })
  return stdout
}

const stack = await startStack()
const { gateway, admin_token } = stack.description()
const packages = await pythonPackage('schemathesis==4.32.5', 'schemathesis').catch((error: unknown) => {
  if (error instanceof PythonMissing) return error
  throw error
})

/** Sends requests to the operations of a document, and expects the answers that it names. */
async function expectNamedAnswers(
  { skip }: TestContext,
  document: string,
  token: string,
  filter: readonly string[] = [],
): Promise<void> {
  if (packages instanceof PythonMissing) return skip(packages.message)
  const place = [join(import.meta.dirname, '../docs', document), '--url', gateway]
  const header = ['--header', `Authorization: Bearer ${token}`]
  const said = await schemathesis(packages, [...place, ...header, '--checks', CHECKS.join(), ...filter, ...OPTIONS])
  expect(Number(/(\d+) generated/.exec(said)?.[1])).toBeGreaterThan(1000)
}

it.concurrent.for([
  ['orders and products', ['--include-path-regex', LARGEST]],
  ['all others', ['--exclude-path-regex', LARGEST, '--exclude-path', STREAM]],
] as const)(
  'requests made from openapi.json for %s, right and wrong ones, get answers that it names',
  { timeout: 600_000 },
  async ([, filter], context) => {
    const { key } = await newWorkspace(stack.description())
    await expectNamedAnswers(context, 'openapi.json', key, filter)
  },
)

// After the others: it may delete their workspaces.
it('requests made from openapi-admin.json, right and wrong ones, get answers that it names', {
  timeout: 600_000,
}, async (context) => {
  await expectNamedAnswers(context, 'openapi-admin.json', admin_token)
})
