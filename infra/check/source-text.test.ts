import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '@backoffice/docker/workspaces.ts'
import { expect, test } from 'vitest'

const COMMENT = /^\s*(?:\/\/|\/?\*)/
/** Names with a private meaning, each of which a term of the field has replaced. */
const FORBIDDEN =
  /#alarm\b|\b(?:bury\w*|ghosts|keepHouse|patiently|settleRecords|whileBeating|wrongs|ALONE|Stretch|ROOM_\w+|\w*(?:AT_ONCE|REST_MS|Lane|Pace))\b|\bTurns\b(?! \w)/

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

const lines = execFileSync('git', ['ls-files', '*.ts', '*.js', '*.mjs'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && file !== 'infra/check/source-text.test.ts' && existsSync(join(ROOT, file)))
  .flatMap((file) =>
    read(file)
      .split('\n')
      .map((text, index) => ({ at: `${file}:${index + 1}`, text })),
  )

test('lines of comments have at most 120 characters, as the formatter keeps lines of code', () => {
  expect(lines.filter(({ text }) => COMMENT.test(text) && text.length > 120).map(({ at }) => at)).toEqual([])
})

test('no name of the code is one that a term of the field has replaced', () => {
  const found = lines.flatMap(({ at, text }) => (FORBIDDEN.test(text) ? `${at}: ${text.match(FORBIDDEN)?.[0]}` : []))
  expect(found).toEqual([])
})

test('a test looks at the sessions and locks of its own database: files that run at once share a server', () => {
  const asking = /`[^`]*\b(?:from|join) pg_(?:stat_activity|locks)\b[^`]*`/g
  const statements = globSync('{libs,services}/**/{*.test.ts,testing/*.ts}', { cwd: ROOT }).flatMap((file) =>
    [...read(file).matchAll(asking)].map(([text]) => ({ file, text })),
  )
  expect(statements.length).toBeGreaterThan(20)
  expect(statements.filter(({ text }) => !/current_database\(\)|pg_backend_pid\(\)/.test(text))).toEqual([])
})

test('every decision that code names is there', () => {
  const decisions = globSync('*.md', { cwd: join(ROOT, 'docs/decisions') }).map((file) => file.slice(0, 3))
  const named = lines.flatMap(({ at, text }) =>
    [...text.matchAll(/\bdecision (\d{3})\b/g)].map(([, id = '']) => ({ at, id })),
  )
  expect(named.filter(({ id }) => !decisions.includes(id))).toEqual([])
})

const map = [...read('README.md').matchAll(/^\| `([^`]+)` \| .* \| (.*) \|$/gm)].map(
  ([, folder = '', start = '']) => [folder, [...start.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)] as const,
)

test.each(map)('README: %s has the files at which one starts to read', (folder, files) => {
  expect(files.filter((file) => !existsSync(join(ROOT, folder, file)))).toEqual([])
})

test('README maps every service and library', () => {
  const folders = globSync('{services,libs}/*/', { cwd: ROOT })
  expect(map.map(([folder]) => folder)).toEqual(expect.arrayContaining(folders))
})

const DOCUMENTS = globSync('{README.md,CONTRIBUTING.md,docs/**/*.md,k8s/*.md,examples/*/*.md}', { cwd: ROOT })
test.each(DOCUMENTS)('%s names files that are there', (document) => {
  const text = read(document)
  const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => join(document, '..', path))
  const named = [...text.matchAll(/`((?:bench|infra|k8s|libs|services|tests)\/[\w./-]+\.(?:ts|mjs|yml|md))`/g)]
  const files = [...links, ...named.map(([, file = '']) => file)]
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})

test.each(DOCUMENTS)('each row of a table in %s is one line', (document) => {
  const prose = read(document).replaceAll(/^```.*?^```$/gms, '')
  expect(prose.split('\n').filter((line) => line.startsWith('|') && !line.endsWith('|'))).toEqual([])
})
