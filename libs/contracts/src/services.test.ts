import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { TOPICS } from './events.ts'
import {
  calledBy,
  SERVICE_NAMES,
  SERVICES,
  type ServiceName,
  stopGroups,
  TOPICS_FROM_OUTSIDE,
  urlSetting,
} from './services.ts'

test('a route belongs to one service and is one segment below /v1', () => {
  const routes = SERVICE_NAMES.flatMap((name) => [...SERVICES[name].routes])
  expect(new Set(routes).size).toBe(routes.length)
  for (const route of routes) expect(route).toMatch(/^\/v1\/[a-z-]+$/)
})

test('every topic has a publisher', () => {
  const published = new Set([...SERVICE_NAMES.flatMap((name) => [...SERVICES[name].publishes]), ...TOPICS_FROM_OUTSIDE])
  expect([...published].sort()).toEqual(Object.values(TOPICS).sort())
})

test('a service calls services that are there, and the gateway all that have routes', () => {
  for (const name of SERVICE_NAMES) expect(SERVICE_NAMES).toEqual(expect.arrayContaining([...calledBy(name)]))
  expect(calledBy('gateway')).toEqual(SERVICE_NAMES.filter((name) => name !== 'gateway'))
})

test('a service stops after its callers, and the gateway first', () => {
  const groups = stopGroups()
  expect(groups[0]).toEqual(['gateway'])
  expect(groups.flat().sort()).toEqual(SERVICE_NAMES.toSorted())
  const groupOf = (name: ServiceName) => groups.findIndex((group) => group.includes(name))
  for (const name of SERVICE_NAMES)
    for (const called of calledBy(name))
      if (called !== 'gateway') expect(groupOf(called), `${name} calls ${called}`).toBeGreaterThan(groupOf(name))
})

test('services that call each other in a circle stop after their other callers, and before those that they call', () => {
  const calls: Partial<Record<ServiceName, readonly ServiceName[]>> = {
    gateway: SERVICE_NAMES.filter((name) => name !== 'gateway'),
    orders: ['imports'],
    imports: ['apps', 'gateway'],
    apps: ['imports', 'catalog'],
  }
  const inCircle = ['gateway', 'imports', 'apps', 'catalog']
  expect(stopGroups((name) => calls[name] ?? [])).toEqual([
    ['gateway'],
    SERVICE_NAMES.filter((name) => !inCircle.includes(name)),
    ['imports'],
    ['apps'],
    ['catalog'],
  ])
})

test('the setting of a URL is the name of the service in capitals', () => {
  expect(urlSetting('webhook-delivery')).toBe('WEBHOOK_DELIVERY_URL')
})

/** The columns that docs/architecture.md shows of a service, besides what it owns. */
function documented(name: ServiceName): string[] {
  const listed = (items: readonly string[]) => items.map((item) => `\`${item}\``).join(', ') || '—'
  return [listed(SERVICES[name].routes), name === 'gateway' ? 'every service with routes' : listed(calledBy(name))]
}

test('the table of docs/architecture.md shows every service as it is', () => {
  const text = readFileSync(new URL('../../../docs/architecture.md', import.meta.url), 'utf8')
  const rows = text.split('\n').map((row) => row.split('|').map((cell) => cell.trim()))
  for (const name of SERVICE_NAMES) {
    const [, , , ...cells] = rows.find(([, first]) => first === name) ?? []
    expect([name, ...cells.slice(0, -1)]).toEqual([name, ...documented(name)])
  }
})
