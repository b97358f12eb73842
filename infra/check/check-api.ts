import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { GENERATED } from '@backoffice/generate/generate.ts'
import { clientProblems } from './client-problems.ts'

const DOCUMENT = 'docs/openapi.json'

/**
 * `npm run check:api [-- <commit>]`: lints the OpenAPI documents of the operations by the rules of redocly.yaml, of
 * which each is an error. Of that of `/v1` it names what would harm the users of generated clients, and its changes
 * since a commit, HEAD unless given. Fails when one breaks clients.
 */
function main(commit = 'HEAD'): number {
  const documents = Object.fromEntries([...GENERATED.api()].filter(([path]) => path.endsWith('.json')))
  const document = documents[DOCUMENT] ?? ''
  using folder = folderOf(documents)
  const config = join(import.meta.dirname, 'redocly.yaml')
  const lint = redocly(folder.path, 'lint', '--config', config, ...Object.keys(documents))
  if (lint.status !== 0) console.log(`${lint.stdout}${lint.stderr}`)
  const problems = clientProblems(JSON.parse(document))
  for (const problem of problems) console.log(problem)
  const committed = spawnSync('git', ['show', `${commit}:${DOCUMENT}`], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  const changes = committed.status === 0 ? apiChanges(commit, committed.stdout, document) : undefined
  if (changes === undefined) console.log(`${commit} has no ${DOCUMENT} to compare with`)
  if (changes?.breaks)
    console.log(`${changes.report}\nClients break. Where that is meant, commit ${DOCUMENT} with the reason.`)
  return lint.status === 0 && problems.length === 0 && !changes?.breaks ? 0 : 1
}

/**
 * What a document changes of that of a commit. `breaks` says whether what a client sends or reads today may fail;
 * `report` names each change by operation, with its place in both documents.
 */
export function apiChanges(commit: string, committed: string, document: string) {
  const before = join(commit, DOCUMENT)
  using folder = folderOf({ [before]: committed, [DOCUMENT]: document })
  const { status, stdout, stderr } = redocly(folder.path, 'diff', before, DOCUMENT)
  // It exits 1 for a document that it cannot read too.
  if (!/\d+ major/.test(stdout)) throw new Error(`redocly diff failed: ${stdout}${stderr}`)
  return { breaks: status !== 0, report: stdout }
}

/** A new folder with these files. */
function folderOf(files: Readonly<Record<string, string>>) {
  const folder = mkdtempDisposableSync(join(tmpdir(), 'backoffice-openapi-'))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, file)), { recursive: true })
    writeFileSync(join(folder.path, file), text)
  }
  return folder
}

/** Runs the linter, which else would ask its maker's server for a newer version and send statistics there. */
function redocly(cwd: string, ...args: readonly string[]) {
  const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' }
  return spawnSync('redocly', args, { cwd, env, encoding: 'utf8' })
}

if (import.meta.main) process.exitCode = main(process.argv[2])
