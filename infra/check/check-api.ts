import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { GENERATED } from '@backoffice/generate/generate.ts'
import { breakingChanges, operationsOf } from './breaking-changes.ts'
import { clientProblems } from './client-problems.ts'
import type { ApiDocument } from './openapi-document.ts'

const DOCUMENT = 'docs/openapi.json'
const CHANGELOG = 'docs/changelog.md'

/**
 * `npm run check:api [-- <commit>]`: lints the OpenAPI documents of the operations by the rules of redocly.yaml, of
 * which each is an error. Of that of `/v1` it names what would harm the users of generated clients, and what breaks
 * clients of the last release, or of a commit. Fails when there is any.
 */
function main(commit?: string): number {
  const documents = new Map([...GENERATED.api()].filter(([path]) => path.endsWith('.json')))
  const document: ApiDocument = JSON.parse(documents.get(DOCUMENT) ?? '')
  const { status, said } = lint(documents)
  if (status !== 0) console.log(said)
  const released = commit === undefined ? releasedDocument(document) : documentOf(commit)
  if (released === undefined) console.log(`there is no ${DOCUMENT} to compare with`)
  const changes = released ? changeProblems(released, document, readFileSync(CHANGELOG, 'utf8')) : []
  const problems = [...clientProblems(document as never), ...changes]
  for (const problem of problems) console.log(problem)
  return status === 0 && problems.length === 0 ? 0 : 1
}

/**
 * What a document lacks as the successor of a released one (OP-262): it breaks no client, unless the changelog says so
 * in the section of its version, which names each operation that comes or goes as well.
 */
export function changeProblems(released: ApiDocument, document: ApiDocument, changelog: string): string[] {
  const [, newest = ''] = changelog.split(/^## /m)
  const version = document.info?.version
  const dated = newest.startsWith(`${version}\n`) ? [] : [`${CHANGELOG}: its first section is not ${version}`]
  const breaks = breakingChanges(released, document).filter((change) => !newest.includes(change))
  const [before, after] = [operationsOf(released), operationsOf(document)]
  const unnamed = after.filter((name) => !before.includes(name) && !newest.includes(`\`${name}\``))
  return [
    ...dated,
    ...breaks.map((change) => `${change}. Clients break. Where that is meant, ${CHANGELOG} says it in these words`),
    ...unnamed.map((name) => `${name}: is new. Name it in the first section of ${CHANGELOG}`),
  ]
}

/** The document of the last release: as it was when the version of this one began. */
export function releasedDocument({ info }: ApiDocument, folder = '.'): ApiDocument | undefined {
  const version = `-S"version": "${info?.version}"`
  const began = git(folder, 'log', '-1', '--format=%H', version, '--', DOCUMENT).trim()
  return documentOf(began ? `${began}^` : 'HEAD', folder)
}

function documentOf(commit: string, folder = '.'): ApiDocument | undefined {
  const text = git(folder, 'show', `${commit}:${DOCUMENT}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** What git prints; nothing when it fails. */
function git(folder: string, ...args: readonly string[]): string {
  const { status, stdout } = spawnSync('git', ['-C', folder, ...args], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  return status === 0 ? stdout : ''
}

/** Runs the linter, which else would ask its maker's server for a newer version and send statistics there. */
function lint(documents: ReadonlyMap<string, string>) {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'backoffice-openapi-'))
  for (const [file, text] of documents) {
    mkdirSync(dirname(join(folder.path, file)), { recursive: true })
    writeFileSync(join(folder.path, file), text)
  }
  const env = { ...process.env, REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', REDOCLY_TELEMETRY: 'off' }
  const args = ['lint', '--config', join(import.meta.dirname, 'redocly.yaml'), ...documents.keys()]
  const { status, stdout, stderr } = spawnSync('redocly', args, { cwd: folder.path, env, encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}` }
}

if (import.meta.main) process.exitCode = main(process.argv[2])
