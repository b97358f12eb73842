import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { startStack } from './stack.ts'

type Entry = Record<string, unknown> & { 'x-open-point'?: string | string[]; 'x-extension'?: boolean }

const document = (name: string) => readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8')
const stack = await startStack()
const response = await fetch(`${stack.description().gateway}/openapi.json`)
const { paths } = (await response.json()) as { paths: Record<string, Record<string, Entry>> }
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, entry]) => ({ name: `${method.toUpperCase()} ${path}`, entry })),
)

it('lists the operations of every service', () => {
  expect(operations.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['POST /v1/products', 'GET /v1/products/{id}', 'POST /v1/webhooks']),
  )
})

it('names only open points that docs/open-points.md decides', () => {
  const decided = new Set([...document('open-points.md').matchAll(/^\| (OP-\d+) \|/gm)].map(([, id]) => id))
  const named = operations.flatMap(({ entry }) => [entry['x-open-point'] ?? []].flat())
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((id) => !decided.has(id))).toEqual([])
})

it('marks as extensions exactly the operations that the specification does not describe', () => {
  const rows = document('api-specification.md').matchAll(/^\| (GET|POST|PUT|DELETE) \| (\/v1\/\S+) \|/gm)
  const described = new Set([...rows].map(([, method, path]) => `${method} ${path}`))
  for (const { name, entry } of operations) {
    expect([name, entry['x-extension'] ?? false]).toEqual([name, !described.has(name)])
  }
})
