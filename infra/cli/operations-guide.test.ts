import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ERROR_STATUS } from '@backoffice/contracts/errors.ts'
import { SERVICE_NAMES, schemaOf } from '@backoffice/contracts/services.ts'
import { type TestDatabase, testDatabase } from '@backoffice/testing/database.ts'
import { expect, test } from 'vitest'
import {
  allGuideBlocks,
  guideBlocks,
  guideCommands,
  guideQueries,
  operationsGuide,
} from '../../tests/testing/operations-guide.ts'
import { runCli } from './run-cli.ts'

const ROOT = join(import.meta.dirname, '../..')
const unique = (texts: Iterable<string>) => [...new Set(texts)]

/** What `kubectl exec` runs in a pod: commands of their own. */
const inPods = guideCommands.flatMap((words) => {
  const [tool, , , verb] = words
  if (tool === 'docker') return [words.slice(words.indexOf('operator') + 1)]
  return tool === 'kubectl' && verb === 'exec' ? [words.slice(words.indexOf('--') + 1)] : []
})
const commands = [...guideCommands, ...inPods].map((words) =>
  words[0] === 'npx' || words[0] === 'env' ? words.slice(words.indexOf('backoffice')) : words,
)
const of = (tool: string) => unique(commands.flatMap((words) => (words[0] === tool ? words.slice(1).join(' ') : [])))

test.each(of('backoffice'))('docs/operations.md: backoffice %s is a command with these options', async (line) => {
  const [words = '', ...options] = line.split(/ (?=--)/)
  let [output, errors] = ['', '']
  // Without the values of positional arguments.
  const names = words.split(' ').filter((word) => /^[a-z-]+$/.test(word))
  const code = await runCli([...names, '--help'], {
    environment: {},
    print: (text) => (output += text),
    printError: (text) => (errors += text),
    readInput: async () => '',
  })
  expect([code, errors]).toEqual([0, ''])
  for (const option of options) expect(`${output} --help`).toContain(option.split(' ')[0])
})

test.each(of('npm'))('docs/operations.md: npm %s is a script', (line) => {
  const [verb, script = '', , folder = '.'] = line.split(' ')
  expect(verb).toBe('run')
  if (script.startsWith('<')) return
  const { scripts } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
  expect(scripts).toHaveProperty([script])
})

test.each(of('node'))('docs/operations.md: node %s is a program', (line) => {
  const [file = ''] = line.split(' ')
  expect(file.includes('<') || existsSync(join(ROOT, file))).toBe(true)
})

test('docs/operations.md sets what commands read', () => {
  const set = of('export').flatMap((line) => line.split(' ').map((word) => word.split('=')[0]?.replace(/_FILE$/, '')))
  const known = ['BACKOFFICE_URL', 'BACKOFFICE_API_URL', 'BACKOFFICE_TOKEN', 'BACKOFFICE_KEY']
  expect(known).toEqual(expect.arrayContaining(set))
})

/** Those of the service whose table a query reads; of any service when it reads none. */
const serviceOf = (query: string) =>
  SERVICE_NAMES.find((name) => query.includes(` from ${schemaOf(name)}.`)) ?? SERVICE_NAMES[0]
const databases = new Map<string | undefined, TestDatabase>()
for (const service of unique(guideQueries.map((query) => serviceOf(query) ?? '')))
  databases.set(service, await testDatabase(service))

test.each(guideQueries)('docs/operations.md: %s is a query that PostgreSQL plans', async (query) => {
  expect(await databases.get(serviceOf(query))?.admin.unsafe(`explain ${query}`)).toContainEqual(expect.anything())
})

test('docs/operations.md: a role that sees every row counts the secrets of an old key, for the owner finds none', async () => {
  expect(operationsGuide).toMatch(
    /^\| `APP_SECRET_KEYS` .*`select count[^`]+` is 0 for a role that \[sees every row\]\(#see-every-row\)/m,
  )
  const query = guideQueries.find((each) => each.includes('sealed_with')) ?? ''
  await databases.get('apps')?.admin.begin(async (tx) => {
    // Without the installation that a call belongs to.
    await tx`set local session_replication_role = replica`
    const id = '01900000-0000-7000-8000-000000000000'
    await tx`
      insert into call (workspace_id, installation_id, app_id, kind, key_id, key_secret, sealed_with)
      values (${id}, ${id}, ${id}, 'uninstall', ${id}, '', '<old id>')`
    expect(await tx.unsafe(query)).toEqual([{ count: '1' }])
    await tx`set local role backoffice_migrator`
    expect(await tx.unsafe(query)).toEqual([{ count: '0' }])
  })
})

test('docs/operations.md: of refused rows of the outbox those of erased customers are deleted, and no others', async () => {
  const [statement = ''] = guideBlocks('outbox-rows-refused', 'sql')
  const { admin } = await testDatabase('orders')
  const [workspace, erased, other] = [randomUUID(), randomUUID(), randomUUID()]
  await admin`insert into customer_erasure (workspace_id, id, stage, created_at) values (${workspace}, ${erased}, 'DONE', now())`
  await admin`
    insert into outbox (event_id, topic, key, type, workspace_id, livemode, payload, traceparent, occurred_at, refused)
    select uuidv7(), 'orders.events', key, 'customer.updated', ${workspace}, true, '{}', '', now(), refused
    from unnest(${[erased, other]}::text[]) as key, unnest(array['too large', null]) as refused`
  await admin.unsafe(statement)
  const left = await admin<{ key: string; refused: string | null }[]>`
    select key, refused from outbox order by key = ${other}, refused`
  expect(left).toEqual([
    { key: erased, refused: null },
    { key: other, refused: 'too large' },
    { key: other, refused: null },
  ])
})

/** What the tests here and infra/kubernetes/operations-guide.faults.test.ts know. */
const KNOWN = ['backoffice', 'kubectl', 'npm', 'node', 'docker', 'export', 'read', 'bash']
/** Stands in a block that no test reads, with the reason; or names the test that runs it. */
const MARK = /^(?:#|;|--|\/\/) (?:no test runs this: .|run by (\S+\.ts))/m

test('every block of code in docs/operations.md is run or checked by a test, or says that none runs it', () => {
  for (const { section, language, text } of allGuideBlocks) {
    const [mark, file] = MARK.exec(text) ?? []
    if (file !== undefined)
      expect(readFileSync(join(ROOT, file), 'utf8'), section).toContain(`'${section}', '${language}'`)
    else if (language !== 'sh') expect(mark, `${section}: ${text}`).toBeDefined()
  }
  expect(unique(commands.map(([tool = '']) => tool)).filter((tool) => !KNOWN.includes(tool))).toEqual([])
})

test('docs/operations.md: the runbook of 5xx answers knows each status of the API from 500 on', () => {
  const [, runbook = ''] = operationsGuide.split('### api-availability-burn-fast\n')
  const [listed = ''] = runbook.split(/^###/m)
  const statuses = unique(
    Object.values(ERROR_STATUS)
      .filter((status) => status >= 500)
      .map(String),
  )
  for (const status of statuses) expect(listed).toMatch(new RegExp(`^- .*${status}`, 'm'))
})

test('links of docs/operations.md lead to its headings', () => {
  const headings = [...operationsGuide.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text.toLowerCase().replaceAll(' ', '-'),
  )
  const linked = [...operationsGuide.matchAll(/\]\(#([^)]*)\)/g)].map(([, anchor]) => anchor)
  expect(linked.filter((anchor) => !headings.includes(anchor ?? ''))).toEqual([])
})

test('docs/operations.md names files that are there', () => {
  const named = unique(operationsGuide.match(/(?:infra|k8s|libs|services|tests)\/[\w./-]+\.(?:ts|yml|md)/g) ?? [])
  expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})
