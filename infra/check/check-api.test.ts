import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { breakingChanges } from './breaking-changes.ts'
import { changeProblems, releasedDocument } from './check-api.ts'
import type { ApiDocument } from './openapi-document.ts'

type Json = Record<string, unknown>

interface Changed {
  readonly sent?: Json
  readonly read?: Json
  readonly entry?: Json
  readonly paths?: Json
  readonly version?: string
}

/** A document of one operation that takes and answers a shirt, and of a second operation. */
function document({ sent, read, entry, paths, version = '2026-01-01' }: Changed = {}): ApiDocument {
  const content = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } })
  const properties = {
    name: { type: 'string', maxLength: 255 },
    size: { anyOf: [{ type: 'string', enum: ['M', 'L'] }, { type: 'null' }] },
    price: { type: 'integer', minimum: 0 },
  }
  const shape = { type: 'object', required: ['name'], properties }
  const known = { ...properties, size: { type: 'string', 'x-known-values': ['M', 'L'] } }
  return {
    info: { version },
    paths: {
      '/shirts': {
        post: {
          operationId: 'createShirt',
          parameters: [{ name: 'dry', in: 'query', schema: { type: 'boolean' } }],
          requestBody: { required: true, content: content('ShirtInput') },
          responses: { 201: { content: content('Shirt') } },
          ...entry,
        },
        ...(paths ?? { delete: { operationId: 'deleteShirts', responses: {} } }),
      },
    },
    components: {
      schemas: {
        ShirtInput: { ...shape, properties: { ...properties, ...sent } },
        Shirt: { ...shape, properties: { ...known, ...read } },
      },
    },
  } as never
}

it.each<[string, Changed, string]>([
  ['a removed operation', { paths: {} }, 'DELETE /shirts: is removed'],
  ['a removed member of a request', { sent: { price: undefined } }, 'ShirtInput.price: is removed'],
  ['a removed member of an answer', { read: { price: undefined } }, 'Shirt.price: is removed'],
  ['a removed value', { sent: { size: { type: ['string', 'null'], enum: ['M'] } } }, 'ShirtInput.size: has no L'],
  ['a removed known value', { read: { size: { type: 'string', 'x-known-values': ['M'] } } }, 'Shirt.size: has no L'],
  [
    'a narrower limit',
    { sent: { name: { type: 'string', maxLength: 100 } } },
    'ShirtInput.name: maxLength is 100, and was 255',
  ],
  [
    'a new limit',
    { sent: { price: { type: 'integer', minimum: 0, maximum: 9 } } },
    'ShirtInput.price: maximum is 9, and was none',
  ],
  ['a member that is null no more', { sent: { size: { type: 'string' } } }, 'ShirtInput.size: sent as null'],
  ['a member that may be null', { read: { price: { type: ['integer', 'null'] } } }, 'Shirt.price: read as null'],
  ['another type', { read: { price: { type: 'string' } } }, 'Shirt.price: read as string'],
  ['a removed parameter', { entry: { parameters: [] } }, 'POST /shirts query dry: is removed'],
  ['another operationId', { entry: { operationId: 'addShirt' } }, 'POST /shirts: its operationId was createShirt'],
  ['another success status', { entry: { responses: {} } }, 'POST /shirts: answers no 201'],
])('%s breaks clients, and is named', (_case, changed, name) => {
  expect(breakingChanges(document(), document(changed))).toContain(name)
})

it('a member that becomes required breaks those who leave it out', () => {
  const after = document() as unknown as { components: { schemas: Record<string, { required: string[] }> } }
  const { ShirtInput, Shirt } = after.components.schemas
  Object.assign(ShirtInput ?? {}, { required: ['name', 'size'] })
  Object.assign(Shirt ?? {}, { required: [] })
  expect(breakingChanges(document(), after as never)).toEqual([
    'ShirtInput.size: is required',
    'Shirt.name: is no longer required',
  ])
})

it.each<[string, Changed]>([
  [
    'a new operation',
    {
      paths: {
        get: { operationId: 'listShirts', responses: {} },
        delete: { operationId: 'deleteShirts', responses: {} },
      },
    },
  ],
  ['a new optional member', { sent: { colour: { type: 'string' } }, read: { colour: { type: 'string' } } }],
  ['a new value', { read: { size: { type: 'string', 'x-known-values': ['M', 'L', 'XL'] } } }],
  ['a wider limit', { sent: { name: { type: 'string', maxLength: 1000 } } }],
  ['what a request may say with null', { sent: { price: { type: ['integer', 'null'], minimum: 0 } } }],
  ['a description', { sent: { price: { type: 'integer', minimum: 0, description: 'The price.' } } }],
])('%s breaks nothing', (_case, changed) => {
  expect(breakingChanges(document(), document(changed))).toEqual([])
})

it('a break passes where the changelog says it, in the section of the version', () => {
  const after = document({ paths: { get: { operationId: 'listShirts', responses: {} } }, version: '2026-02-01' })
  const problems = (changelog: string) => changeProblems(document(), after, changelog)
  expect(problems('# Changes\n\n## 2026-01-01\n')).toEqual([
    expect.stringContaining('its first section is not 2026-02-01'),
    expect.stringContaining('DELETE /shirts: is removed'),
    expect.stringContaining('GET /shirts: is new'),
  ])
  const said = '## 2026-02-01\n\n- `GET /shirts`.\n- DELETE /shirts: is removed.\n'
  expect(problems(`# Changes\n\n${said}`)).toEqual([])
})

it('compares with the document as it was before the version began, however many commits ago', () => {
  using temporary = mkdtempDisposableSync(join(tmpdir(), 'backoffice-release-'))
  const folder = temporary.path
  const git = (...args: string[]) => {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com']
    expect(spawnSync('git', ['-C', folder, ...identity, ...args]).status).toBe(0)
  }
  const commit = (one: ApiDocument) => {
    writeFileSync(join(folder, 'docs/openapi.json'), JSON.stringify(one, undefined, 2))
    git('add', '.')
    git('commit', '-qm', 'Change it')
  }
  git('init', '-q')
  mkdirSync(join(folder, 'docs'))
  const released = document({ read: { colour: { type: 'string' } } })
  const next = document({ version: '2026-02-01' })
  commit(document())
  commit(released)
  expect(releasedDocument(next, folder)).toEqual(released)
  commit(document({ version: '2026-02-01', read: { colour: { type: 'string' }, fit: { type: 'string' } } }))
  commit(next)
  expect(releasedDocument(next, folder)).toEqual(JSON.parse(JSON.stringify(released)))
})

it('the API breaks no client of the last release, and its changelog names what is new', () => {
  const root = join(import.meta.dirname, '../..')
  const read = (file: string) => readFileSync(join(root, 'docs', file), 'utf8')
  const now: ApiDocument = JSON.parse(read('openapi.json'))
  const released = releasedDocument(now, root)
  if (released === undefined) expect.fail('git has no document of the last release')
  expect(changeProblems(released, now, read('changelog.md'))).toEqual([])
})
