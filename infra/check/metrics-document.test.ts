import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const TYPES: Readonly<Record<string, string>> = {
  counter: 'counter',
  createObservableCounter: 'counter',
  upDownCounter: 'gauge',
  gauge: 'gauge',
  createObservableGauge: 'gauge',
  observed: 'gauge',
  durations: 'histogram',
}
const CREATED = new RegExp(`\\b(${Object.keys(TYPES).join('|')})\\(\\s*'([a-z_]+)'`, 'g')

/** The metrics that the code creates, as Prometheus shows them. */
function createdMetrics(): string[] {
  const files = globSync('{libs,services}/*/src/**/*.ts', { cwd: root, exclude: ['**/testing/**', '**/*.test.ts'] })
  return files.flatMap((file) => {
    const text = readFileSync(`${root}${file}`, 'utf8')
    return [...text.matchAll(CREATED)].map(([, kind = '', name]) => {
      const type = TYPES[kind]
      return `${type === 'counter' ? `${name}_total` : name} ${type}`
    })
  })
}

it('docs/metrics.md has every metric of the code with its type, and no other', () => {
  const document = readFileSync(`${root}docs/metrics.md`, 'utf8')
  const documented = [...document.matchAll(/^\| `([a-z_]+)` \| (\w+) \|/gm)].map(([, name, type]) => `${name} ${type}`)
  expect(documented.toSorted()).toEqual(createdMetrics().toSorted())
})
